// Parses any bytes as a configuration of envoyproxy/ratelimit: what is accepted conforms to the format and compiles.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policy/load.h"
#include "policy/read/rls_reader.h"

namespace {

using namespace weir::policy;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const std::vector<DescriptorSpec>& descriptors) {
  std::set<std::pair<std::string, std::optional<std::string>>> seen;
  for (const DescriptorSpec& descriptor : descriptors) {
    require(!descriptor.key.empty() && descriptor.value != "");
    require(seen.emplace(descriptor.key, descriptor.value).second);
    if (descriptor.share_threshold) require(descriptor.value && descriptor.value->find('*') != std::string::npos);
    if (descriptor.rate_limit) {
      const auto& [limit, window] = descriptor.rate_limit->value;
      require(!descriptor.unlimited && (limit == 0 || weir::Limit::fixed_window({limit, window}).has_value()));
    }
    for (const std::string& name : descriptor.replaces) require(!name.empty() && name != descriptor.name);
    check(descriptor.descriptors);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  Problems problems("fuzz");
  const auto root = weir::text::parse_yaml(input, problems);
  if (!root) return 0;
  const auto domain = rls::read(*root, problems);
  require(domain.has_value() != problems.any_error());
  if (!domain) return 0;
  require(!domain->name.value.empty());
  check(domain->descriptors);
  require(load_text(input, "fuzz").ruleset != nullptr);
  return 0;
}
