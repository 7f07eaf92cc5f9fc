// How steady time follows the wall clock: never backward, forward at once, and at half speed while it is ahead. Pure
// arithmetic in microseconds; the readings are passed in.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::limiter {

// The readings of both clocks, taken together.
struct ClockReading {
  std::int64_t steady = 0;
  std::int64_t wall = 0;
};

struct ClockCourse {
  std::int64_t steady = 0;      // start of the course in steady time
  std::int64_t time = 0;        // start of the course in our time
  std::int64_t slow_until = 0;  // in steady time: half speed until then

  [[nodiscard]] static constexpr ClockCourse beginning(ClockReading reading) noexcept {
    return {reading.steady, reading.wall, reading.steady};
  }

  // Our time at steady time `now`.
  [[nodiscard]] constexpr std::int64_t at(std::int64_t now) const noexcept {
    const std::int64_t elapsed = std::max<std::int64_t>(0, now - steady);
    const std::int64_t slow = std::clamp<std::int64_t>(slow_until - steady, 0, elapsed);
    return time + elapsed - slow / 2;
  }

  // Returns the course after a reading. At half speed, time loses one microsecond in two.
  [[nodiscard]] constexpr ClockCourse corrected(ClockReading reading) const noexcept {
    const std::int64_t ours = at(reading.steady);
    const std::int64_t ahead = std::max<std::int64_t>(0, ours - reading.wall);
    return {reading.steady, std::max(ours, reading.wall), reading.steady + 2 * ahead};
  }
};

}  // namespace weir::limiter
