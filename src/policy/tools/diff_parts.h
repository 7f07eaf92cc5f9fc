// The parts of diff(), grouped by what they compare. Only diff.cpp and limit_fields.cpp call them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policy/limit_fields.h"
#include "policy/ruleset.h"
#include "policy/tools/diff.h"
#include "policy/tools/strictness.h"

namespace weir::policy::diff_parts {

using Changes = std::vector<Change>;

constexpr Direction direction_of(bool after_is_as_strict, bool before_is_as_strict) noexcept {
  if (after_is_as_strict) return before_is_as_strict ? Direction::neutral : Direction::tighter;
  return before_is_as_strict ? Direction::looser : Direction::different;
}

inline Direction direction_between(const Terms& before, const Terms& after) noexcept {
  return direction_of(at_least_as_strict(after, before), at_least_as_strict(before, after));
}

// The direction of a change to a number that is stricter when it is larger.
template <class Number>
[[nodiscard]] Direction direction_of_more(const Number& before, const Number& after) noexcept {
  return direction_of(after >= before, before >= after);
}

// One limit in its ruleset.
struct Side {
  const Ruleset& ruleset;
  const CompiledLimit& limit;
};

// Two versions of one limit, and the changes found between them.
struct LimitComparison {
  const Side& before;
  const Side& after;
  Changes& changes;

  void report(std::string sentence, Direction direction) const {
    changes.push_back({after.limit.name, std::move(sentence), direction});
  }
};

// Defined in diff_limit.cpp. Compares two limits as if both were enforced.
void compare_limit(const Side& before, const Side& after, LimitFields fields, Changes& changes);

// Defined in diff_limit.cpp, for fields with more than one kind of change. limit_fields.cpp compares the others.
void compare_routes(const LimitComparison& limits);
void compare_except(const LimitComparison& limits);
void compare_missing(const LimitComparison& limits);
void compare_cost(const LimitComparison& limits);

// Defined in diff_domains.cpp.
void compare_identity(const Ruleset& before, const Ruleset& after, Changes& changes);
void compare_exempt(const Ruleset& before, const Ruleset& after, Changes& changes);
void compare_tiers(const Ruleset& before, const Ruleset& after, Changes& changes);
void compare_domains(const Ruleset& before, const Ruleset& after, Changes& changes);

}  // namespace weir::policy::diff_parts
