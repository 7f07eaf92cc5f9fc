// Traffic of one limit, a count for each second: the same for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace weir::bench {

enum class Pattern : std::uint8_t {
  steady,  // requests that know nothing of each other
  daily,   // by the hour: at night a fifth of the rate, in the evening nearly twice
  bursty,  // a burst about every minute, of one to ten seconds, mostly two to seven times the rate
  hourly,  // a job that comes every hour, within half a minute, with twenty times the rate for twenty seconds
};

[[nodiscard]] std::string_view name_of(Pattern pattern) noexcept;

class Traffic {
 public:
  // So many a second, outside of bursts.
  Traffic(Pattern pattern, double rate, std::uint64_t seed) : pattern_(pattern), rate_(rate), random_(seed) {}

  // What the next second brings if there is `factor` times as much as usual.
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
