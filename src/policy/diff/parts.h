// The parts of diff.h, by what they compare. Only diff.cpp calls them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policy/diff.h"
#include "policy/ruleset.h"

namespace weir::policy::diff_parts {

using Changes = std::vector<Change>;

// From whether each side is at least as strict as the other.
[[nodiscard]] Direction direction_of(bool after_is_as_strict, bool before_is_as_strict) noexcept;

// Of a number of which more is stricter.
template <class Number>
[[nodiscard]] Direction direction_of_more(const Number& before, const Number& after) noexcept {
  return direction_of(after >= before, before >= after);
}

// Of two changes together.
[[nodiscard]] Direction together(Direction a, Direction b) noexcept;

// One limit in its ruleset.
struct Side {
  const Ruleset& ruleset;
  const CompiledLimit& limit;
};

// numbers.cpp
void compare_numbers(const Side& before, const Side& after, Changes& changes);
void compare_candidates(const Side& before, const Side& after, Changes& changes);
[[nodiscard]] std::vector<std::string> all_tiers(const Ruleset& before, const Ruleset& after);

// Of Tiers::names; a tier that is not known is the default tier.
[[nodiscard]] std::size_t index_of(const std::string& tier, const Tiers& tiers) noexcept;

// scope.cpp: which requests, counted as whose.
void compare_scope(const Side& before, const Side& after, Changes& changes);

// cost.cpp
void compare_cost(const Side& before, const Side& after, Changes& changes);

// response.cpp: what a denial does, and what happens when the store is away.
void compare_response(const Side& before, const Side& after, Changes& changes);

// identity.cpp
void compare_identity(const Ruleset& before, const Ruleset& after, Changes& changes);
void compare_tiers(const Ruleset& before, const Ruleset& after, Changes& changes);

// descriptors.cpp
void compare_domains(const Ruleset& before, const Ruleset& after, Changes& changes);

}  // namespace weir::policy::diff_parts
