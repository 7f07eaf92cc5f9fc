// The rules of lint.h, by what they look at. Only lint.cpp calls them.
#pragma once

#include "policy/lint/route_index.h"
#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy::lint_rules {

// One limit, as written and as compiled, among all others.
struct Subject {
  const PolicySpec& policy;
  const Ruleset& ruleset;
  const RouteIndex& index;
  const LimitSpec& written;
  const CompiledLimit& limit;
};

// keys.cpp: whom a limit counts.
void ip_alone(const Subject& subject, Problems& problems);
void chosen_key(const Subject& subject, Problems& problems);
void penalty_on_chosen_key(const Subject& subject, Problems& problems);
void raw_path(const Subject& subject, Problems& problems);
void raw_path(const DescriptorSpec& descriptor, Problems& problems);
void unlabelled(const DescriptorSpec& descriptor, Problems& problems);

// numbers.cpp: how it counts.
void fixed_window_on_writes(const Subject& subject, Problems& problems);
void unread_tiers(const Subject& subject, Problems& problems);
void odd_burst(const Subject& subject, Problems& problems);
void cannot_lease(const Subject& subject, Problems& problems);
void without_effect_in_shadow(const Subject& subject, Problems& problems);

// reach.cpp: what it has to decide.
void uncovered(const Subject& subject, Problems& problems);
void unreachable(const Subject& subject, Problems& problems);

// Where the key was written, or the limit.
[[nodiscard]] Mark place_of_key(const LimitSpec& written);

}  // namespace weir::policy::lint_rules
