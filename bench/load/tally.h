// The results of a load: admitted and denied requests, and latencies.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench::load {

using SteadyTime = std::chrono::steady_clock::time_point;

// A response that violates the protocol or the load's expectations. It ends the load.
class WrongAnswer : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A histogram of times with a resolution of 1/32.
class Latencies {
 public:
  void add(std::chrono::nanoseconds time) noexcept { ++counts_[place_of(static_cast<std::uint64_t>(time.count()))]; }

  // The percentile.
  [[nodiscard]] std::chrono::nanoseconds percentile(double percent) const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts_) all += count;
    const auto wanted = static_cast<std::uint64_t>(static_cast<double>(all) * percent / 100);
    std::uint64_t seen = 0;
    for (std::size_t place = 0; place < counts_.size(); ++place) {
      seen += counts_[place];
      if (seen > wanted) return std::chrono::nanoseconds(end_of(place));
    }
    return {};
  }

 private:
  static constexpr unsigned digits = 5;  // bits after the highest one
  static constexpr std::size_t parts = std::size_t{1} << digits;

  // Numbers below twice `parts` have their own bins; above, each power of two has `parts` bins.
  static std::size_t place_of(std::uint64_t number) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(number));
    if (width <= digits + 1) return number;
    const unsigned shift = width - digits - 1;
    return shift * parts + (number >> shift);
  }
  static std::uint64_t end_of(std::size_t place) noexcept {
    if (place < 2 * parts) return place;
    const std::size_t shift = place / parts - 1;
    return ((place % parts + parts + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (64 - digits + 1) * parts> counts_{};
};

struct Tally {
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  Latencies latencies;

  [[nodiscard]] std::uint64_t answered() const noexcept { return admitted + denied; }
};

}  // namespace bench::load
