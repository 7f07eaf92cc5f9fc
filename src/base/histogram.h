// A histogram with fixed buckets. One thread adds, any thread reads.
//
// Values are whole numbers of a small unit; a Scale defines the unit and the bucket bounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/counter.h"

namespace weir::base {

template <std::size_t Bounds>
struct Scale {
  unsigned places;                           // the unit is 10^-places of what is reported
  std::array<std::uint64_t, Bounds> bounds;  // ascending, inclusive upper bounds
};

template <std::size_t Bounds>
struct HistogramTotals {
  std::array<std::uint64_t, Bounds + 1> counts{};  // per bucket, not cumulative; the last is above all bounds
  std::uint64_t sum = 0;

  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) all += count;
    return all;
  }
};

template <const auto& scale>
class Histogram {
 public:
  static constexpr std::size_t bounds = scale.bounds.size();
  using Totals = HistogramTotals<bounds>;

  void add(std::uint64_t value) noexcept { add_shared(value, 1); }

  // Adds `parts` values of which only the sum is known.
  void add_shared(std::uint64_t sum, std::uint64_t parts) noexcept {
    const std::uint64_t value = sum / parts;
    std::size_t bucket = 0;
    while (bucket < bounds && value > scale.bounds[bucket]) ++bucket;
    counts_[bucket].raise(parts);
    sum_.raise(sum);
  }

  void add_to(Totals& totals) const noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) totals.counts[i] += counts_[i].value();
    totals.sum += sum_.value();
  }

 private:
  std::array<Counter, bounds + 1> counts_;
  Counter sum_;
};

}  // namespace weir::base
