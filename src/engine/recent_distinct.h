// How many different consumers there were lately: in this hour or in the one before, whichever saw more.
// Callable from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "engine/distinct_estimate.h"
#include "weir/time.h"

namespace weir::engine {

class RecentDistinct {
 public:
  void add(std::uint64_t hash, Instant now) noexcept {
    const std::int64_t hour = hour_of(now);
    if (hour_.load(std::memory_order_acquire) < hour) turn_to(hour);
    hours_[static_cast<std::size_t>(hour & 1)].add(hash);
  }

  [[nodiscard]] std::uint64_t estimate(Instant now) const noexcept {
    const std::int64_t passed = hour_of(now) - hour_.load(std::memory_order_acquire);
    if (passed > 1) return 0;
    return std::max(hours_[0].estimate(), hours_[1].estimate());
  }

 private:
  static std::int64_t hour_of(Instant now) noexcept {
    return std::chrono::floor<std::chrono::hours>(now.time_since_epoch()).count();
  }

  // One thread clears the hour that begins. What others add to it meanwhile may be lost: it is an estimate.
  void turn_to(std::int64_t hour) noexcept {
    std::int64_t before = hour_.load(std::memory_order_relaxed);
    while (before < hour && !hour_.compare_exchange_weak(before, hour, std::memory_order_acq_rel)) {
    }
    if (before >= hour) return;
    hours_[static_cast<std::size_t>(hour & 1)].clear();
    if (hour - before > 1) hours_[static_cast<std::size_t>(~hour & 1)].clear();
  }

  std::array<DistinctEstimate, 2> hours_;
  std::atomic<std::int64_t> hour_{0};
};

}  // namespace weir::engine
