// Which of two sets of numbers is the stricter one, exactly: in integers, for any pair of algorithms.
#pragma once

#include <optional>

#include "weir/limit.h"

namespace weir::policy {

// Whether every course of requests that `a` admits whole is admitted whole by `b` too; then, where both judge the
// same requests together, `b` never denies what `a` admits. A yes is certain. A no may also mean that it is not
// known: between a sliding window counter and most others, where only a simulation could tell.
[[nodiscard]] bool at_least_as_strict(const Limit& a, const Limit& b) noexcept;

// None is unlimited.
[[nodiscard]] bool at_least_as_strict(const std::optional<Limit>& a, const std::optional<Limit>& b) noexcept;

}  // namespace weir::policy
