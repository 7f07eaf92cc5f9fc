// What the consumers of one limit asked of it, by tier. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/ruleset.h"
#include "policy/words.h"
#include "simulate/consumer_sample.h"
#include "simulate/demand.h"
#include "simulate/report.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::simulate {

class LimitDemand {
 public:
  // At most `most_consumers` are looked at in each tier. The limits outlive this.
  LimitDemand(const policy::TieredLimit& limits, std::size_t most_consumers);

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

  static OfTier track(const policy::Spelled& numbers, std::size_t most_consumers);
  static Demand report_of(const OfTier& tier);

  std::vector<std::optional<OfTier>> tiers_;  // empty: unlimited, or banned
};

// The smallest of `sorted`, which is not empty, that at least `share` of them do not exceed.
[[nodiscard]] std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, double share) noexcept;

// The bars of a histogram on a logarithmic scale, two to the octave: [0], [1], [2], [3], [4, 5], [6, 7], [8, 11], ...
// From the one that holds `lowest` to the one that holds `highest`, all empty.
[[nodiscard]] std::vector<Demand::Bar> bars_between(std::uint64_t lowest, std::uint64_t highest);

// These bars with the values in them; `sorted` is not empty.
[[nodiscard]] std::vector<Demand::Bar> bars_of(const std::vector<std::uint64_t>& sorted);

}  // namespace weir::simulate
