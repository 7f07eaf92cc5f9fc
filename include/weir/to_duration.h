// SPDX-License-Identifier: Apache-2.0
// Conversions to Duration, for acquire() with any std::chrono duration or a deadline of any clock.
#pragma once

#include <chrono>

#include "weir/time.h"

namespace weir {

// Converts to whole microseconds, rounded down; out-of-range values are clamped.
template <class Rep, class Period>
[[nodiscard]] constexpr Duration to_duration(std::chrono::duration<Rep, Period> length) noexcept {
  using Wide = std::chrono::duration<long double, std::micro>;
  const Wide wide = length;
  if (!(wide > Wide(Duration::min()))) return Duration::min();  // also for NaN: do not wait
  if (!(wide < Wide(Duration::max()))) return Duration::max();
  return std::chrono::floor<Duration>(length);
}

// Returns the time until `deadline` by its own clock; zero if it has passed.
template <class AnyClock, class Length>
[[nodiscard]] Duration duration_until(std::chrono::time_point<AnyClock, Length> deadline) {
  const Duration now = to_duration(AnyClock::now().time_since_epoch());
  const Duration then = to_duration(deadline.time_since_epoch());
  if (then <= now) return Duration::zero();
  return now < Duration::zero() && then > Duration::max() + now ? Duration::max() : then - now;
}

}  // namespace weir
