#include "policy/lint.h"

#include <algorithm>
#include <cstddef>

#include "policy/lint/rules.h"

namespace weir::policy {
namespace {

using lint_rules::Subject;

// A ban counts nobody, so that it does not matter by what.
bool counts(const CompiledLimit& limit) {
  return std::any_of(limit.live.by_tier.begin(), limit.live.by_tier.end(),
                     [](const auto& numbers) { return numbers.has_value(); });
}

void lint_counting(const Subject& subject, Problems& problems) {
  lint_rules::ip_alone(subject, problems);
  lint_rules::chosen_key(subject, problems);
  lint_rules::penalty_on_chosen_key(subject, problems);
  lint_rules::raw_path(subject, problems);
  lint_rules::fixed_window_on_writes(subject, problems);
  lint_rules::odd_burst(subject, problems);
  lint_rules::cannot_lease(subject, problems);
  lint_rules::without_effect_in_shadow(subject, problems);
}

void lint_limit(const Subject& subject, Problems& problems) {
  if (counts(subject.limit)) lint_counting(subject, problems);
  lint_rules::unread_tiers(subject, problems);
  lint_rules::uncovered(subject, problems);
  lint_rules::unreachable(subject, problems);
}

}  // namespace

void lint(const PolicySpec& spec, const Ruleset& ruleset, Problems& problems) {
  // Both are in file order; descriptors have limits of their own in between.
  const lint_rules::RouteIndex index(ruleset);
  auto compiled = ruleset.limits.begin();
  for (const LimitSpec& written : spec.limits) {
    compiled =
        std::find_if(compiled, ruleset.limits.end(), [](const CompiledLimit& limit) { return !limit.by_descriptor(); });
    if (compiled == ruleset.limits.end()) break;
    lint_limit({.policy = spec, .ruleset = ruleset, .index = index, .written = written, .limit = *compiled++},
               problems);
  }
  for (const DomainSpec& domain : spec.domains) {
    for (const DescriptorSpec& descriptor : domain.descriptors) {
      lint_rules::raw_path(descriptor, problems);
      lint_rules::unlabelled(descriptor, problems);
    }
  }
}

}  // namespace weir::policy
