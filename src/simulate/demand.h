// The demand of consumers on a limit: the smallest number with which the limit would have admitted all requests of a
// consumer.
//
//   buckets           the burst, exactly: the deepest backlog of a bucket that drains at the limit's rate, and at twice
//                     and four times that rate, because no burst is enough for sustained use above the rate
//   fixed window      the limit, exactly: the maximum in any window
//   sliding counter   the limit, exactly: the maximum of the algorithm's own estimate
//   sliding log       an upper bound of the limit: the maximum in any nine consecutive eighths of a window
//   concurrency       not measured: it depends on the durations of requests
//
// Times must not decrease. Each class is a state for ConsumerSample: small, and empty when default-constructed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/ruleset.h"
#include "policy/words.h"
#include "simulate/consumer_sample.h"
#include "simulate/report.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::simulate {

inline constexpr std::array<std::uint64_t, 3> rate_multiples{1, 2, 4};

// The number needed for each multiple of the rate. Windows set only the first.
using Needs = std::array<std::uint64_t, rate_multiples.size()>;

class BucketDemand {
 public:
  // Levels are stored in tokens times the rate's period, so that every step is an integer.
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

// The demand on one limit, by tier. Not thread-safe.
class LimitDemand {
 public:
  // Samples at most `max_consumers` per tier. `limits` must outlive this object.
  LimitDemand(const policy::TieredLimit& limits, std::size_t max_consumers);

  // Returns the memory that add() reads first, for prefetching; may be null.
  [[nodiscard]] const void* home_of(std::uint32_t tier, std::uint64_t consumer) const noexcept {
    const auto& of = tiers_[tier];
    return of ? std::visit([&](const auto& sample) { return sample.home_of(consumer); }, of->sample) : nullptr;
  }

  // Adds a request that the limit covers, admitted or not. A consumer is counted separately in each tier.
  void add(std::uint32_t tier, std::uint64_t consumer, Cost cost, Instant now) {
    if (auto& of = tiers_[tier]) of->add(consumer, cost, now);
  }

  // One element per tier with consumers.
  [[nodiscard]] std::vector<Demand> report(const std::vector<std::string>& tier_names) const;

 private:
  struct OfTier {
    policy::Spelled numbers;
    std::variant<ConsumerSample<BucketDemand>, ConsumerSample<FixedWindowDemand>, ConsumerSample<SlidingCounterDemand>,
                 ConsumerSample<SlidingLogDemand>>
        sample;

    void add(std::uint64_t consumer, Cost cost, Instant now);
  };

  static OfTier track(const policy::Spelled& numbers, std::size_t max_consumers);
  static Demand report_of(const OfTier& tier);

  std::vector<std::optional<OfTier>> tiers_;  // unset for unlimited and banned tiers and for concurrency limits
};

// Returns the smallest value that at least `share` of the values do not exceed. `sorted` must not be empty.
[[nodiscard]] std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, double share) noexcept;

// Returns the empty bars of a logarithmic histogram, two per octave ([0], [1], [2], [3], [4, 5], [6, 7], [8, 11], ...),
// from the bar of `lowest` to the bar of `highest`.
[[nodiscard]] std::vector<Demand::Bar> bars_between(std::uint64_t lowest, std::uint64_t highest);

// Returns these bars, filled with the values. `sorted` must not be empty.
[[nodiscard]] std::vector<Demand::Bar> bars_of(const std::vector<std::uint64_t>& sorted);

}  // namespace weir::simulate
