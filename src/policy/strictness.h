// Which of two sets of numbers is the stricter one, exactly: in integers, for any pair of algorithms.
#pragma once

#include <cstddef>
#include <optional>

#include "policy/ruleset.h"
#include "weir/limit.h"

namespace weir::policy {

// Whether every course of requests that `a` admits whole is admitted whole by `b` too; then, where both judge the
// same requests together, `b` never denies what `a` admits. A yes is certain. A no may also mean that it is not
// known: between a sliding window counter and most others, where only a simulation could tell.
[[nodiscard]] bool at_least_as_strict(const Limit& a, const Limit& b) noexcept;

// What a tier gets: as much as its numbers say, nothing (banned), or without numbers everything.
struct Terms {
  std::optional<Limit> numbers;
  bool banned = false;

  friend bool operator==(const Terms&, const Terms&) = default;
};

[[nodiscard]] Terms terms_of(const TieredLimit& limits, std::size_t tier);

[[nodiscard]] bool at_least_as_strict(const Terms& a, const Terms& b) noexcept;

}  // namespace weir::policy
