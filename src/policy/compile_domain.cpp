#include "policy/compile_domain.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "policy/scalar.h"

namespace weir::policy {
namespace {

constexpr std::size_t most_descriptor_limits = 100'000;

class DomainCompiler {
 public:
  DomainCompiler(Ruleset& ruleset, Problems& problems) : ruleset_(ruleset), problems_(problems) {
    for (const CompiledLimit& limit : ruleset.limits) taken_.insert(limit.name);
  }

  // A name that only one limit has is that limit's; all others are called by their place.
  void count_names(const std::vector<DescriptorSpec>& descriptors) {
    for (const DescriptorSpec& spec : descriptors) {
      if (spec.rate_limit && !spec.name.empty()) ++named_[spec.name];
      count_names(spec.descriptors);
    }
  }

  Domain compile(const DomainSpec& spec) {
    domain_ = spec.name.value;
    return {domain_, compile(spec.descriptors, domain_)};
  }

 private:
  std::vector<Descriptor> compile(const std::vector<DescriptorSpec>& specs, const std::string& path) {
    std::vector<Descriptor> compiled;
    for (const DescriptorSpec& spec : specs) {
      std::string below = path + "/" + spec.key;
      if (spec.value) below += "_" + *spec.value;
      compiled.push_back(compile(spec, below));
    }
    return compiled;
  }

  Descriptor compile(const DescriptorSpec& spec, const std::string& path) {
    Descriptor descriptor;
    descriptor.key = spec.key;
    if (spec.value) {
      const bool wildcard = spec.value->find('*') != std::string::npos;
      descriptor.kind = wildcard ? Descriptor::Value::wildcard : Descriptor::Value::exact;
      descriptor.value = *spec.value;
    }
    descriptor.unlimited = spec.unlimited;
    descriptor.shadow_mode = spec.shadow_mode;
    descriptor.share_threshold = spec.share_threshold;
    descriptor.quota_mode = spec.quota_mode;
    descriptor.metadata = spec.metadata;
    if (bans(spec)) descriptor.banned_per = spec.rate_limit->value.window;
    descriptor.name = spec.name;
    descriptor.replaces = spec.replaces;
    if (spec.rate_limit) descriptor.limit = add_limit(spec, path);
    descriptor.children = compile(spec.descriptors, path);
    return descriptor;
  }

  static bool bans(const DescriptorSpec& spec) noexcept { return spec.rate_limit && spec.rate_limit->value.limit == 0; }

  // Nothing at all, or so many per unit; the same for all tiers, which descriptors do not have.
  bool put_numbers(const DescriptorSpec& spec, TieredLimit& live) {
    const std::size_t tiers = ruleset_.tiers.names.size();
    if (bans(spec)) {
      live.by_tier.resize(tiers);
      live.banned.assign(tiers, true);
      return true;
    }
    const auto numbers = Limit::fixed_window(spec.rate_limit->value);
    if (numbers) {
      live.by_tier.assign(tiers, *numbers);
    } else {
      problems_.error(spec.rate_limit->at, fmt::format("rate_limit: {}", numbers.error().what));
    }
    return numbers.has_value();
  }

  std::string name_for(const DescriptorSpec& spec, const std::string& path) {
    const bool own = !spec.name.empty() && named_[spec.name] == 1 && !taken_.contains(spec.name);
    std::string name = own ? spec.name : path;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}#{}", path, i);
    return name;
  }

  std::optional<std::uint32_t> add_limit(const DescriptorSpec& spec, const std::string& path) {
    CompiledLimit limit;
    if (!put_numbers(spec, limit.live)) return {};
    if (ruleset_.limits.size() >= most_descriptor_limits) {
      problems_.error(spec.at, fmt::format("too many limits: at most {}", most_descriptor_limits));
      return {};
    }
    limit.at = spec.at;
    limit.name = name_for(spec, path);
    limit.algorithm = PolicyAlgorithm::fixed_window;
    limit.mode = spec.shadow_mode ? Mode::shadow : Mode::enforce;
    limit.domain = domain_;
    ruleset_.limits.push_back(std::move(limit));
    return static_cast<std::uint32_t>(ruleset_.limits.size() - 1);
  }

  Ruleset& ruleset_;
  Problems& problems_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> named_;
  std::string domain_;
};

}  // namespace

void compile_domains(const std::vector<DomainSpec>& domains, Ruleset& ruleset, Problems& problems) {
  DomainCompiler compiler(ruleset, problems);
  for (const DomainSpec& spec : domains) compiler.count_names(spec.descriptors);
  std::unordered_set<std::string> seen;
  for (const DomainSpec& spec : domains) {
    if (!seen.insert(spec.name.value).second) {
      problems.error(spec.name.at, fmt::format("the domain {} is there twice", quoted(spec.name.value)));
    }
    ruleset.domains.push_back(compiler.compile(spec));
  }
}

}  // namespace weir::policy
