// Retry-After (RFC 9110, 10.2.3): whole seconds, or an HTTP-date.
// Pure; callable from anywhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "weir/time.h"

namespace weir::wire {

// A longer field is refused: it is neither a date nor a number that anyone means.
inline constexpr std::size_t max_retry_after_length = 128;

// How long to wait from `now` on: never negative (a date that has passed is zero), at most longest_wait.
// Empty when the field cannot be read.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view field, Instant now) noexcept;

}  // namespace weir::wire
