// The traffic of one limit as counts per second, deterministic for a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace weir::bench {

enum class Pattern : std::uint8_t {
  steady,  // independent requests
  daily,   // a daily cycle: a fifth of the rate at night, nearly twice in the evening
  bursty,  // a burst about every minute, of one to ten seconds, mostly two to seven times the rate
  hourly,  // a job every hour, give or take half a minute, with twenty times the rate for twenty seconds
};

[[nodiscard]] std::string_view name_of(Pattern pattern) noexcept;

class Traffic {
 public:
  // The rate per second outside of bursts.
  Traffic(Pattern pattern, double rate, std::uint64_t seed) : pattern_(pattern), rate_(rate), random_(seed) {}

  // The count of the next second at `factor` times the usual rate.
  [[nodiscard]] std::uint32_t next(double factor = 1);

 private:
  [[nodiscard]] double daily_factor() const noexcept;
  [[nodiscard]] double burst_factor();
  [[nodiscard]] double hourly_factor();
  [[nodiscard]] std::uint32_t draw(double expected);

  const Pattern pattern_;
  const double rate_;
  std::mt19937_64 random_;
  std::uint64_t second_ = 0;
  std::uint64_t burst_begins_ = 0;  // or has begun; of an hourly job, too
  std::uint64_t burst_ends_ = 0;
  double burst_ = 1;
};

}  // namespace weir::bench
