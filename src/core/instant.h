// Instants and windows as microsecond counts, far enough from the ends of int64 that sums of a few of them cannot
// overflow: an Instant is clamped to 73,000 years around 1970 before any arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weir/limit.h"
#include "weir/time.h"

namespace weir::core {

inline constexpr std::int64_t farthest_instant = std::int64_t{1} << 61;

// The time of a state that was never used: before every instant.
inline constexpr std::int64_t never = -2 * farthest_instant;

constexpr std::int64_t micros(Instant instant) noexcept {
  return std::clamp<std::int64_t>(instant.time_since_epoch().count(), -farthest_instant, farthest_instant);
}

constexpr Instant instant_at(std::int64_t micros) noexcept {
  return Instant{Duration{micros}};
}

// Identifies a charge so that it can be given back: its time, and when its bucket would have been full again right
// after it. A window needs only the first, a bucket only the second.
struct Charged {
  Instant at{};
  Instant full_at{};
};

// The numbers of every window algorithm.
struct WindowLimit {
  std::uint64_t limit = 0;
  std::int64_t window = 0;  // microseconds

  WindowLimit() = default;
  explicit WindowLimit(const Limit& checked) noexcept : limit(checked.capacity()), window(checked.rate().per.count()) {}
};

// The start of the window of length `window` that `now` is in. Windows are aligned to the epoch.
constexpr std::int64_t window_start(std::int64_t now, std::int64_t window) noexcept {
  const std::int64_t into = now % window;
  return now - (into < 0 ? into + window : into);
}

}  // namespace weir::core
