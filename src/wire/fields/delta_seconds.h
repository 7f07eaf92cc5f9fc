// Seconds in header fields. Numbers above 2^31 seconds (68 years) are read as 2^31, as RFC 9111 specifies for
// delta-seconds, so that no arithmetic on a wait can overflow. Seconds are written rounded up, so that a client does
// not retry too early.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weir/time.h"

namespace weir::wire {

inline constexpr std::uint64_t max_delta_seconds = std::uint64_t{1} << 31;
inline constexpr Duration max_wait = std::chrono::seconds{max_delta_seconds};

constexpr Duration delta_seconds(std::uint64_t seconds) noexcept {
  return std::chrono::seconds{std::min(seconds, max_delta_seconds)};
}

constexpr std::uint64_t seconds_up(Duration duration) noexcept {
  if (duration <= Duration::zero()) return 0;
  return static_cast<std::uint64_t>((duration.count() - 1) / 1'000'000 + 1);
}

// Returns `now + after`, clamped to Instant::max().
constexpr Instant later(Instant now, Duration after) noexcept {
  if (after <= Duration::zero()) return now;
  return now > Instant::max() - after ? Instant::max() : now + after;
}

}  // namespace weir::wire
