// Estimates the number of distinct consumers within a few percent, in 2 KiB (HyperLogLog). Thread-safe.
//
// The input is keyed hashes, so clients cannot target registers.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "weir/time.h"

namespace weir::engine {

class DistinctEstimate {
 public:
  // The standard error is 1.04 / sqrt(registers): 2.3 %.
  static constexpr unsigned index_bits = 11;
  static constexpr std::size_t registers = std::size_t{1} << index_bits;

  void add(std::uint64_t hash) noexcept {
    // The table indexes by the upper bits, so the hash is mixed again.
    const std::uint64_t mixed = (hash ^ hash >> 32) * 0x9e37'79b9'7f4a'7c15;
    const std::uint64_t run = mixed << index_bits | std::uint64_t{1} << (index_bits - 1);
    const auto rank = static_cast<std::uint8_t>(std::countl_zero(run) + 1);
    auto& highest = registers_[mixed >> (64 - index_bits)];
    std::uint8_t seen = highest.load(std::memory_order_relaxed);
    while (seen < rank && !highest.compare_exchange_weak(seen, rank, std::memory_order_relaxed)) {
    }
  }

  void clear() noexcept {
    for (auto& highest : registers_) highest.store(0, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t estimate() const noexcept {
    double sum = 0;
    std::size_t untouched = 0;
    for (const auto& highest : registers_) {
      const int rank = highest.load(std::memory_order_relaxed);
      sum += std::ldexp(1.0, -rank);
      untouched += rank == 0 ? 1U : 0U;
    }
    constexpr double count = registers;
    const double raw = 0.7213 / (1 + 1.079 / count) * count * count / sum;
    // Linear counting is more accurate while many registers are untouched.
    const bool few = raw <= 2.5 * count && untouched > 0;
    return static_cast<std::uint64_t>(
        std::llround(few ? count * std::log(count / static_cast<double>(untouched)) : raw));
  }

 private:
  std::array<std::atomic<std::uint8_t>, registers> registers_{};
};

// Counts distinct consumers in the current hour or in the previous one, whichever had more.
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

  // One thread clears the new hour. Additions by other threads may be lost until then, which an estimate tolerates.
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
