#include "policy/compile.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "policy/compile_domain.h"
#include "policy/compile_limit.h"
#include "policy/digest.h"
#include "policy/scalar.h"

namespace weir::policy {
namespace {

// So that a stranger's file cannot ask for the product of both.
constexpr std::size_t most_limits = 100'000;
constexpr std::size_t most_tiers = 1'000;
constexpr std::size_t most_numbers = 1'000'000;

// In the order of their first mention, where `tiers.names` does not say which there are.
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

// The default first, then the others as listed.
std::vector<std::string> listed_tiers(const TiersSpec& spec, Problems& problems) {
  std::vector<std::string> names{spec.fallback.value};
  std::unordered_map<std::string, Mark> seen;
  for (const auto& name : *spec.names) {
    const auto [before, is_new] = seen.try_emplace(name.value, name.at);
    if (!is_new) {
      problems.error(name.at, fmt::format("tier {} is in the list twice: the first is in line {}", quoted(name.value),
                                          before->second.line));
    } else if (name.value != spec.fallback.value) {
      names.push_back(name.value);
    }
  }
  if (!seen.contains(spec.fallback.value)) {
    problems.error(spec.fallback.at, fmt::format("the default tier {} is not in names", quoted(spec.fallback.value)));
  }
  return names;
}

Tiers compile_tier_names(const PolicySpec& spec, Problems& problems) {
  Tiers tiers;
  if (spec.tiers.from_header) tiers.from_header = spec.tiers.from_header->value;
  tiers.names = spec.tiers.names ? listed_tiers(spec.tiers, problems) : mentioned_tiers(spec);
  if (tiers.names.size() > most_tiers) {
    problems.error(spec.tiers.fallback.at, fmt::format("{} tiers: at most {}", tiers.names.size(), most_tiers));
    tiers.names.resize(1);
  }
  return tiers;
}

bool within_bounds(const PolicySpec& spec, const Tiers& tiers, Problems& problems) {
  const std::size_t limits = spec.limits.size();
  if (limits <= most_limits && limits * tiers.names.size() <= most_numbers) return true;
  problems.error({}, fmt::format("{} limits for {} tiers: at most {} limits, and {} limits times tiers", limits,
                                 tiers.names.size(), most_limits, most_numbers));
  return false;
}

void check_names(const PolicySpec& spec, Problems& problems) {
  std::unordered_map<std::string, Mark> seen;
  for (const LimitSpec& limit : spec.limits) {
    const auto [before, is_new] = seen.try_emplace(limit.name.value, limit.name.at);
    if (is_new) continue;
    problems.error(limit.name.at, fmt::format("the name {} is taken: the limit in line {} has it",
                                              quoted(limit.name.value), before->second.line));
  }
}

}  // namespace

std::shared_ptr<const Ruleset> compile(const PolicySpec& spec, Problems& problems) {
  auto ruleset = std::make_shared<Ruleset>();
  ruleset->identity = spec.identity;
  ruleset->labels = spec.labels;
  ruleset->tiers = compile_tier_names(spec, problems);
  check_names(spec, problems);
  if (!within_bounds(spec, ruleset->tiers, problems)) return nullptr;
  for (const LimitSpec& limit : spec.limits) {
    if (auto compiled = compile_limit(limit, ruleset->tiers, spec.names, problems)) {
      ruleset->limits.push_back(*std::move(compiled));
    }
  }
  compile_domains(spec.domains, *ruleset, problems);
  if (problems.any_error()) return nullptr;
  ruleset->digest = digest(*ruleset);
  return ruleset;
}

}  // namespace weir::policy
