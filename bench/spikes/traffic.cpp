#include "spikes/traffic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace weir::bench {

std::string_view name_of(Pattern pattern) noexcept {
  constexpr std::array<std::string_view, 4> names{"steady", "daily", "bursty", "hourly"};
  return names[static_cast<std::size_t>(pattern)];
}

std::uint32_t Traffic::next(double factor) {
  switch (pattern_) {
    case Pattern::steady:
      break;
    case Pattern::daily:
      factor *= daily_factor();
      break;
    case Pattern::bursty:
      factor *= burst_factor();
      break;
    case Pattern::hourly:
      factor *= hourly_factor();
      break;
  }
  ++second_;
  return draw(rate_ * factor);
}

double Traffic::daily_factor() const noexcept {
  constexpr double day = 86'400;
  const double hour = 2 * std::numbers::pi * std::fmod(static_cast<double>(second_), day) / day;
  return 1 - 0.7 * std::cos(hour) - 0.15 * std::sin(2 * hour);
}

double Traffic::burst_factor() {
  if (second_ >= burst_ends_) {
    burst_begins_ = second_ + static_cast<std::uint64_t>(std::exponential_distribution<>(1.0 / 60)(random_));
    burst_ends_ = burst_begins_ + std::uniform_int_distribution<std::uint64_t>(1, 10)(random_);
    burst_ = 1 + std::lognormal_distribution<>(std::log(3.0), 0.5)(random_);
  }
  return second_ >= burst_begins_ ? burst_ : 1;
}

double Traffic::hourly_factor() {
  constexpr std::uint64_t hour = 3'600;
  if (second_ % hour == 0) {
    burst_begins_ = second_ + std::uniform_int_distribution<std::uint64_t>(0, 30)(random_);
    burst_ends_ = burst_begins_ + 20;
  }
  return second_ >= burst_begins_ && second_ < burst_ends_ ? 20 : 1;
}

// Uses the normal distribution where it is accurate enough.
std::uint32_t Traffic::draw(double expected) {
  if (expected < 30) return std::poisson_distribution<std::uint32_t>(expected)(random_);
  const double drawn = std::round(std::normal_distribution<>(expected, std::sqrt(expected))(random_));
  return static_cast<std::uint32_t>(std::max(drawn, 0.0));
}

}  // namespace weir::bench
