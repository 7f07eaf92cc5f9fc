// Any length of time as a Duration: what acquire() does with the 5s, or the deadline of another clock, that it is
// given.
#pragma once

#include <chrono>

#include "weir/time.h"

namespace weir {

// In whole microseconds, rounded down; what is out of range is the nearest that is not.
template <class Rep, class Period>
[[nodiscard]] constexpr Duration to_duration(std::chrono::duration<Rep, Period> length) noexcept {
  using Wide = std::chrono::duration<long double, std::micro>;
  const Wide wide = length;
  if (!(wide > Wide(Duration::min()))) return Duration::min();  // what is not a number too: nobody waits for it
  if (!(wide < Wide(Duration::max()))) return Duration::max();
  return std::chrono::floor<Duration>(length);
}

// How far away a point in time is by its own clock; nothing if it has passed.
template <class AnyClock, class Length>
[[nodiscard]] Duration duration_until(std::chrono::time_point<AnyClock, Length> deadline) {
  const Duration now = to_duration(AnyClock::now().time_since_epoch());
  const Duration then = to_duration(deadline.time_since_epoch());
  if (then <= now) return Duration::zero();
  return now < Duration::zero() && then > Duration::max() + now ? Duration::max() : then - now;
}

}  // namespace weir
