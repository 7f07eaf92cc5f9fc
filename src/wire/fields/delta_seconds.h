// Seconds as fields state them. Read, a number too large to keep is read as 2^31 seconds (68 years), as
// RFC 9111 has it for delta-seconds, so that no arithmetic on a wait can overflow. Written, seconds are
// rounded up: a client that comes back when it was told to is not too early.
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

// `now + after`, held within what an Instant can say.
constexpr Instant later(Instant now, Duration after) noexcept {
  if (after <= Duration::zero()) return now;
  return now > Instant::max() - after ? Instant::max() : now + after;
}

}  // namespace weir::wire
