#include "engine/descriptor_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/consumer_key.h"

namespace weir::engine {
namespace {

// Of what there is, as much as a message holds.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most_listed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_listed) list += " and " + std::to_string(names.size() - most_listed) + " more";
  return list;
}

std::string text_of(const policy::Descriptor& descriptor) {
  return descriptor.kind == policy::Descriptor::Value::any ? descriptor.key : descriptor.key + "=" + descriptor.value;
}

tl::unexpected<Error> unknown_domain(const policy::Ruleset& ruleset, std::string_view domain) {
  std::vector<std::string> names;
  for (const policy::Domain& each : ruleset.domains) names.push_back(each.name);
  return failure("domain '" + std::string(domain) + "'",
                 "is not in the policy; " + (names.empty() ? "it has none" : "there is " + listed(names)));
}

// What there is a limit for below `level`, as it would be written.
void add_configured(const std::vector<policy::Descriptor>& level, const std::string& above,
                    std::vector<std::string>& found) {
  for (const policy::Descriptor& each : level) {
    const std::string path = (above.empty() ? "" : above + std::string(between_parts)) + text_of(each);
    if (each.limit || each.unlimited) found.push_back("'" + path + "'");
    add_configured(each.children, path, found);
  }
}

tl::unexpected<Error> unconfigured(const policy::Domain& domain, std::span<const DescriptorEntry> entries) {
  std::vector<std::string> configured;
  add_configured(domain.descriptors, "", configured);
  return failure("descriptor '" + describe_descriptor(entries) + "'",
                 "has no limit in domain '" + domain.name + "'; there are limits for " + listed(configured));
}

}  // namespace

Result<const policy::Descriptor*> find_descriptor(const policy::Ruleset& ruleset, const DescriptorName& name,
                                                  std::string& key) {
  const auto domain = std::ranges::find(ruleset.domains, name.domain, &policy::Domain::name);
  if (domain == ruleset.domains.end()) return unknown_domain(ruleset, name.domain);
  const policy::Descriptor* const found = match_descriptor(*domain, name.entries, key);
  if (found == nullptr) return unconfigured(*domain, name.entries);
  return found;
}

std::string describe_descriptor(std::span<const DescriptorEntry> entries) {
  std::string text;
  for (const DescriptorEntry& entry : entries) {
    if (!text.empty()) text += between_parts;
    text.append(entry.key).append("=").append(entry.value);
  }
  return text;
}

}  // namespace weir::engine
