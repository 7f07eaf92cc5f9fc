// The false positives of the spike detector (src/observe/spikes.h), and its delay for a fivefold step, on counts per
// second like those of the server.
//
//   spikes [--quick]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/spikes.h"
#include "spikes/traffic.h"

namespace {

using weir::bench::Pattern;
using weir::bench::Traffic;
using weir::observe::SpikeTest;

constexpr std::uint32_t day = 86'400;

struct Size {
  std::uint64_t limits;  // for each pattern and rate
  std::uint32_t days;
  std::uint64_t steps;
};

struct Alarms {
  double per_day = 0;          // of a limit
  std::uint32_t on_worst = 0;  // of all days of all limits
};

Alarms false_alarms(Pattern pattern, double rate, const Size& size) {
  Alarms alarms;
  std::uint64_t all = 0;
  for (std::uint64_t seed = 0; seed < size.limits; ++seed) {
    Traffic traffic(pattern, rate, seed);
    SpikeTest test;
    for (std::uint32_t of = 0; of < size.days; ++of) {
      std::uint32_t detected = 0;
      for (std::uint32_t second = 0; second < day; ++second) {
        detected += test.add(traffic.next()) == SpikeTest::State::begins ? 1U : 0U;
      }
      alarms.on_worst = std::max(alarms.on_worst, detected);
      all += detected;
    }
  }
  alarms.per_day = static_cast<double>(all) / static_cast<double>(size.limits * size.days);
  return alarms;
}

struct Detection {
  double within_five = 0;  // seconds; these are shares of the steps
  double within_minute = 0;
  double within_five_minutes = 0;
  std::uint32_t median = 0;
  std::uint32_t worst = 0;  // seconds; of the steps detected within 15 minutes
};

// The second in which a step after `before` seconds of usual traffic is detected; 0 if not within 15 minutes.
std::uint32_t seconds_until_detected(Traffic traffic, std::uint32_t before) {
  constexpr std::uint32_t length = 900;
  SpikeTest test;
  for (std::uint32_t second = 0; second < before; ++second) (void)test.add(traffic.next());
  for (std::uint32_t second = 1; second <= length; ++second) {
    if (test.add(traffic.next(5)) == SpikeTest::State::begins) return second;
  }
  return 0;
}

Detection detection_of(std::vector<std::uint32_t> delays, std::uint64_t steps) {
  std::erase(delays, 0U);
  if (delays.empty()) return {};
  std::ranges::sort(delays);
  const auto share = [&](std::uint32_t seconds) {
    return static_cast<double>(std::ranges::upper_bound(delays, seconds) - delays.begin()) / static_cast<double>(steps);
  };
  return {share(5), share(60), share(300), delays[delays.size() / 2], delays.back()};
}

// Steps after some hours of the day, each at another time.
Detection fivefold_steps(Pattern pattern, double rate, const Size& size) {
  std::vector<std::uint32_t> delays;
  for (std::uint64_t seed = 0; seed < size.steps; ++seed) {
    const auto at = static_cast<std::uint32_t>(7'200 + seed * 7'919 % 64'800);
    delays.push_back(seconds_until_detected(Traffic(pattern, rate, 1'000 + seed), at));
  }
  return detection_of(std::move(delays), size.steps);
}

// From the second to the fifth minute after the start, on traffic that has no night.
Detection early_steps(Pattern pattern, double rate, const Size& size) {
  std::vector<std::uint32_t> delays;
  for (std::uint64_t seed = 0; seed < size.steps; ++seed) {
    delays.push_back(
        seconds_until_detected(Traffic(pattern, rate, 5'000 + seed), static_cast<std::uint32_t>(61 + seed % 239)));
  }
  return detection_of(std::move(delays), size.steps);
}

// The share of starts with one in their first five minutes.
double early_alarms(Pattern pattern, double rate, const Size& size) {
  std::uint64_t detected = 0;
  for (std::uint64_t seed = 0; seed < size.steps; ++seed) {
    Traffic traffic(pattern, rate, 9'000 + seed);
    SpikeTest test;
    for (std::uint32_t second = 0; second < SpikeTest::first_seconds; ++second) {
      detected += test.add(traffic.next()) == SpikeTest::State::begins ? 1U : 0U;
    }
  }
  return static_cast<double>(detected) / static_cast<double>(size.steps);
}

void print(Pattern pattern, double rate, const Size& size) {
  const Alarms alarms = false_alarms(pattern, rate, size);
  const Detection detected = fivefold_steps(pattern, rate, size);
  std::printf(
      "spikes: %s, %.0f/s: %.3f false alarms a day, %u on the worst; fivefold step within 5 s %.1f %%, a minute %.1f "
      "%%, five minutes %.1f %%, median %u s, worst %u s\n",
      std::string(name_of(pattern)).c_str(), rate, alarms.per_day, alarms.on_worst, 100 * detected.within_five,
      100 * detected.within_minute, 100 * detected.within_five_minutes, detected.median, detected.worst);
}

void print_early(Pattern pattern, double rate, const Size& size) {
  const Detection detected = early_steps(pattern, rate, size);
  std::printf(
      "spikes: first five minutes, %s, %.0f/s: %.3f false alarms a start; fivefold step within 5 s %.1f %%, five "
      "minutes %.1f %%\n",
      std::string(name_of(pattern)).c_str(), rate, early_alarms(pattern, rate, size), 100 * detected.within_five,
      100 * detected.within_five_minutes);
}

}  // namespace

int main(int count, char** arguments) {
  const std::span<char*> all(arguments, static_cast<std::size_t>(count));
  const bool is_quick = count > 1 && std::string_view(all[1]) == "--quick";
  const Size size = is_quick ? Size{1, 1, 4} : Size{20, 5, 200};
  for (const Pattern pattern : {Pattern::steady, Pattern::daily, Pattern::bursty, Pattern::hourly}) {
    for (const double rate : {3.0, 10.0, 100.0, 1'000.0}) print(pattern, rate, size);
  }
  for (const Pattern pattern : {Pattern::steady, Pattern::bursty}) {
    for (const double rate : {3.0, 10.0, 100.0, 1'000.0}) print_early(pattern, rate, size);
  }
  return 0;
}
