// What one consumer asked of a limit at its worst, as if nothing had been denied: the smallest number with which the
// limit would have admitted it all.
//
//   buckets           the burst, exactly: the deepest backlog of a bucket that drains at the limit's rate; also at
//                     twice and at four times that rate, since a consumer who asks for more than the rate on the
//                     whole needs a higher rate, and no burst in the world
//   fixed window      the limit, exactly: the most in any one window
//   sliding counter   the limit, exactly: by the algorithm's own estimate
//   sliding log       an upper bound: the most in any stretch of nine eighths of the window, by eighths
//
// Times do not run backwards. Each is a state for ConsumerSample: small, and worth nothing when default-constructed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::simulate {

inline constexpr std::array<std::uint64_t, 3> rate_multiples{1, 2, 4};

// Needs, by multiple of the rate. Windows fill the first place only.
using Needs = std::array<std::uint64_t, rate_multiples.size()>;

class BucketDemand {
 public:
  // A level is kept in tokens x the rate's period, in which every step is a whole number.
  void add(const Limit& limit, Cost cost, Instant now) noexcept;
  [[nodiscard]] Needs needs() const noexcept;

 private:
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
  std::array<std::uint64_t, rate_multiples.size()> levels_{};
  std::array<std::uint32_t, rate_multiples.size()> peaks_{};  // in tokens
};

class FixedWindowDemand {
 public:
  void add(const Limit& limit, Cost cost, Instant now) noexcept;
  [[nodiscard]] Needs needs() const noexcept { return {peak_, 0, 0}; }

 private:
  std::int64_t window_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t count_ = 0;
  std::uint64_t peak_ = 0;
};

class SlidingCounterDemand {
 public:
  void add(const Limit& limit, Cost cost, Instant now) noexcept;
  [[nodiscard]] Needs needs() const noexcept { return {peak_, 0, 0}; }

 private:
  std::int64_t window_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t previous_ = 0;
  std::uint64_t current_ = 0;
  std::uint64_t peak_ = 0;
};

class SlidingLogDemand {
 public:
  void add(const Limit& limit, Cost cost, Instant now) noexcept;
  [[nodiscard]] Needs needs() const noexcept { return {peak_, 0, 0}; }

 private:
  static constexpr std::int64_t parts = 8;

  std::int64_t part_ = std::numeric_limits<std::int64_t>::min();
  std::array<std::uint32_t, parts + 1> counts_{};
  std::uint32_t peak_ = 0;
};

}  // namespace weir::simulate
