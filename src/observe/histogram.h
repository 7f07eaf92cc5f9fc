// How often values fell below which bound. One thread adds, any thread reads.
//
// Values are whole numbers of a small unit; a Scale says of which, and where the buckets end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/counter.h"

namespace weir::observe {

template <std::size_t Bounds>
struct Scale {
  unsigned places;                           // the unit is 10^-places of what is told
  std::array<std::uint64_t, Bounds> bounds;  // rising; a value on a bound belongs to it
};

template <std::size_t Bounds>
struct HistogramTotals {
  std::array<std::uint64_t, Bounds + 1> counts{};  // of each bucket alone; the last is beyond all bounds
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

  // `parts` values, of which only the sum is known.
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
  std::array<base::Counter, bounds + 1> counts_;
  base::Counter sum_;
};

// What is measured, and how finely.

// The time of one decision, in nanoseconds: from 100 ns to 100 ms.
inline constexpr Scale<19> duration_scale{
    9,
    {100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000,
     5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000}};

// What is left of a limit after a decision, relative to its size, in millionths.
inline constexpr Scale<8> headroom_scale{6, {0, 10'000, 50'000, 100'000, 250'000, 500'000, 750'000, 1'000'000}};

// How many queries were decided together.
inline constexpr Scale<11> batch_scale{0, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}};

using DurationHistogram = Histogram<duration_scale>;
using HeadroomHistogram = Histogram<headroom_scale>;
using BatchHistogram = Histogram<batch_scale>;

}  // namespace weir::observe
