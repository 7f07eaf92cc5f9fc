// What consumers needed of a limit. Of one consumer, at its worst, as if nothing had been denied: the smallest
// number with which the limit would have admitted it all.
//
//   buckets           the burst, exactly: the deepest backlog of a bucket that drains at the limit's rate; also at
//                     twice and at four times that rate, since a consumer that uses more than the rate on the
//                     whole needs a higher rate, and no burst in the world
//   fixed window      the limit, exactly: the most in any one window
//   sliding counter   the limit, exactly: by the algorithm's own estimate
//   sliding log       an upper bound: the most in any stretch of nine eighths of the window, by eighths
//   concurrency       nothing is said: it depends on how long requests take
//
// Times do not run backwards. Each is a state for ConsumerSample: small, and worth nothing when default-constructed.
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

// What the consumers of one limit needed, by tier. One thread.
class LimitDemand {
 public:
  // At most `max_consumers` are looked at in each tier. The limits outlive this.
  LimitDemand(const policy::TieredLimit& limits, std::size_t max_consumers);

  // What add() will read first; may be null.
  [[nodiscard]] const void* home_of(std::uint32_t tier, std::uint64_t consumer) const noexcept {
    const auto& of = tiers_[tier];
    return of ? std::visit([&](const auto& sample) { return sample.home_of(consumer); }, of->sample) : nullptr;
  }

  // A request that the limit covers, admitted or not. A consumer that changes its tier is another one there.
  void add(std::uint32_t tier, std::uint64_t consumer, Cost cost, Instant now) {
    if (auto& of = tiers_[tier]) of->add(consumer, cost, now);
  }

  // Of the tiers that had consumers.
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

  std::vector<std::optional<OfTier>> tiers_;  // empty: unlimited, banned, or a limit on what is held at once
};

// The smallest of `sorted`, which is not empty, that at least `share` of them do not exceed.
[[nodiscard]] std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, double share) noexcept;

// The bars of a histogram on a logarithmic scale, two to the octave: [0], [1], [2], [3], [4, 5], [6, 7], [8, 11], ...
// From the one that holds `lowest` to the one that holds `highest`, all empty.
[[nodiscard]] std::vector<Demand::Bar> bars_between(std::uint64_t lowest, std::uint64_t highest);

// These bars with the values in them; `sorted` is not empty.
[[nodiscard]] std::vector<Demand::Bar> bars_of(const std::vector<std::uint64_t>& sorted);

}  // namespace weir::simulate
