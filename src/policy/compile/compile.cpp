#include "policy/compile/compile.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "text/yaml/scalar.h"

namespace weir::policy {
namespace {

// max_numbers bounds the product of limits and tiers.
constexpr std::size_t max_limits = 100'000;
constexpr std::size_t max_tiers = 1'000;
constexpr std::size_t max_numbers = 1'000'000;

// The tiers in the order of their first mention, used if there is no `tiers.names`.
std::vector<std::string> mentioned_tiers(const PolicySpec& spec) {
  std::vector<std::string> names{spec.tiers.fallback.value};
  std::unordered_set<std::string> seen{spec.tiers.fallback.value};
  const auto mention = [&](const std::vector<TierOverrideSpec>& overrides) {
    for (const TierOverrideSpec& own : overrides) {
      if (seen.insert(own.tier.value).second) names.push_back(own.tier.value);
    }
  };
  for (const LimitSpec& limit : spec.limits) {
    mention(limit.tier_overrides);
    if (limit.candidate) mention(limit.candidate->tier_overrides);
  }
  return names;
}

// Lists the default first, then the others as written.
std::vector<std::string> listed_tiers(const TiersSpec& spec, Problems& problems) {
  std::vector<std::string> names{spec.fallback.value};
  std::unordered_map<std::string, Mark> seen;
  for (const auto& name : *spec.names) {
    const auto [before, is_new] = seen.try_emplace(name.value, name.at);
    if (!is_new) {
      problems.error(name.at, "duplicate tier {}: first listed in line {}", in_quotes(name.value), before->second.line);
    } else if (name.value != spec.fallback.value) {
      names.push_back(name.value);
    }
  }
  if (!seen.contains(spec.fallback.value)) {
    problems.error(spec.fallback.at, "default tier {} is not in names", in_quotes(spec.fallback.value));
  }
  return names;
}

Tiers compile_tier_names(const PolicySpec& spec, Problems& problems) {
  Tiers tiers;
  if (spec.tiers.from_header) tiers.from_header = spec.tiers.from_header->value;
  tiers.names = spec.tiers.names ? listed_tiers(spec.tiers, problems) : mentioned_tiers(spec);
  if (tiers.names.size() > max_tiers) {
    problems.error(spec.tiers.fallback.at, "too many tiers: {}, at most {}", tiers.names.size(), max_tiers);
    tiers.names.erase(tiers.names.begin() + 1, tiers.names.end());
  }
  return tiers;
}

bool within_bounds(const PolicySpec& spec, const Tiers& tiers, Problems& problems) {
  const std::size_t limits = spec.limits.size();
  if (limits <= max_limits && limits * tiers.names.size() <= max_numbers) return true;
  problems.error({}, "too many limits: {} for {} tiers, at most {} limits and {} limits times tiers", limits,
                 tiers.names.size(), max_limits, max_numbers);
  return false;
}

void check_names(const PolicySpec& spec, Problems& problems) {
  std::unordered_map<std::string, Mark> seen;
  for (const LimitSpec& limit : spec.limits) {
    const auto [before, is_new] = seen.try_emplace(limit.name.value, limit.name.at);
    if (is_new) continue;
    problems.error(limit.name.at, "duplicate limit name {}: first used in line {}", in_quotes(limit.name.value),
                   before->second.line);
  }
}

constexpr std::size_t max_descriptor_limits = 100'000;

// Compiles domains of envoyproxy/ratelimit to trees of descriptors and their limits.
class DomainCompiler {
 public:
  DomainCompiler(Ruleset& ruleset, Problems& problems) : ruleset_(ruleset), problems_(problems) {
    for (const CompiledLimit& limit : ruleset.limits) taken_.insert(limit.name);
  }

  // A limit keeps its name if no other limit has it. All others are named by their path.
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
    static_cast<DescriptorFields&>(descriptor) = spec;
    if (spec.value) {
      const bool wildcard = spec.value->find('*') != std::string::npos;
      descriptor.kind = wildcard ? Descriptor::Value::wildcard : Descriptor::Value::exact;
      descriptor.value = *spec.value;
    }
    if (bans(spec)) descriptor.banned_per = spec.rate_limit->value.window;
    if (spec.rate_limit) descriptor.limit = add_limit(spec, path);
    descriptor.children = compile(spec.descriptors, path);
    return descriptor;
  }

  static bool bans(const DescriptorSpec& spec) noexcept { return spec.rate_limit && spec.rate_limit->value.limit == 0; }

  // Descriptors have no tiers: the numbers, or the ban, are the same for all requests.
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
      problems_.error(spec.rate_limit->at, "rate_limit: {}", numbers.error().what);
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
    if (ruleset_.limits.size() >= max_descriptor_limits) {
      problems_.error(spec.at, "too many limits: at most {}", max_descriptor_limits);
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

// Adds to the domains and limits of `ruleset`, whose tiers must be set.
void compile_domains(const PolicySpec& policy, Ruleset& ruleset, Problems& problems) {
  DomainCompiler compiler(ruleset, problems);
  for (const DomainSpec& spec : policy.domains) compiler.count_names(spec.descriptors);
  std::unordered_set<std::string> seen;
  for (const DomainSpec& spec : policy.domains) {
    const std::string& name = spec.name.value;
    if (!seen.insert(name).second) problems.error(spec.name.at, "duplicate domain {}", in_quotes(name));
    Domain& domain = ruleset.domains.emplace_back(compiler.compile(spec));
    domain.charges_denied = std::ranges::find(policy.charge_all, name) != policy.charge_all.end();
  }
}

}  // namespace

std::shared_ptr<const Ruleset> compile(const PolicySpec& spec, Problems& problems, LimitFields fields) {
  auto ruleset = std::make_shared<Ruleset>();
  ruleset->identity = spec.identity;
  ruleset->exemptions = spec.exemptions;
  ruleset->labels = spec.labels;
  ruleset->tiers = compile_tier_names(spec, problems);
  check_names(spec, problems);
  if (!within_bounds(spec, ruleset->tiers, problems)) return nullptr;
  for (const LimitSpec& limit : spec.limits) {
    if (auto compiled = compile_limit(limit, spec, ruleset->tiers, fields, problems)) {
      ruleset->limits.push_back(*std::move(compiled));
    }
  }
  compile_domains(spec, *ruleset, problems);
  if (problems.any_error()) return nullptr;
  ruleset->digest = digest(*ruleset, fields);
  return ruleset;
}

}  // namespace weir::policy
