// Envoys with any demand, on streams that break, never admit more than the limit in any period.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <random>

#include "tests/frontend_rls/quota_simulation.h"

namespace weir::frontend::quota_properties {
namespace {

using namespace std::chrono_literals;
using Numbers = QuotaAssigner::Numbers;

constexpr Duration step = 10ms;
constexpr Duration max_delay = 1s;
constexpr Instant halfway{1h + 1min};

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool once_in(std::uint64_t count) { return below(count) == 0; }
  Duration delay() { return Duration(static_cast<Duration::rep>(below(max_delay / 1us + 1))); }

 private:
  std::mt19937 random_;
};

Numbers any_numbers(Chance& chance) {
  return {1 + chance.below(300), {1 + chance.below(200), chance.once_in(3) ? Duration(1min) : Duration(1s)}};
}

// A limit, the cost of each request, and a check of the bound.
struct Checked {
  std::shared_ptr<QuotaAssigner> assigner;
  Cost cost;
  BoundCheck check;
  std::optional<Numbers> later{};  // from the second minute on
};

// The longest stall of Weir, plus the longest time to live here, plus the delivery time.
constexpr Duration until_changed = 8s;

// True if the limit was kept, or has just changed.
bool admit(Checked& limit, Instant now) {
  const bool is_settled = !limit.later || now < halfway || now >= halfway + until_changed;
  return limit.check.admit(limit.cost.units(), now) || !is_settled;
}

// Simulates several Envoys for two minutes: demand changes every three seconds, streams break and reconnect, and Weir
// stalls for up to three seconds. Returns false if a limit was exceeded.
bool stays_within(std::vector<Checked>& limits, Chance& chance, Filling filling, const QuotaTimes& times = {}) {
  Instant now{1h};
  std::vector<QuotaBucket::Part> parts;
  for (const Checked& limit : limits) parts.push_back({limit.assigner, limit.cost});
  std::vector<Connected> envoys;
  const std::size_t count = 1 + chance.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    envoys.emplace_back(parts, (1 + static_cast<int>(chance.below(8))) * Duration(500ms), filling, times);
  }
  std::vector<std::uint64_t> demand(count);
  Instant stalled_until = now;
  for (int steps = 0; steps < 12'000; ++steps, now += step) {
    for (Checked& limit : limits) {
      if (limit.later && now == halfway) limit.assigner->change(*limit.later, now);
      if (limit.later && now == halfway + until_changed) limit.check = BoundCheck(*limit.later);
    }
    if (chance.once_in(1'000)) stalled_until = now + 3 * chance.delay();
    for (std::size_t i = 0; i < count; ++i) {
      Connected& envoy = envoys[i];
      if (steps % 300 == 0) demand[i] = chance.once_in(3) ? 1'000 : chance.below(10);
      if (!envoy.connected() && chance.once_in(200)) envoy.connect(now);
      if (envoy.connected() && chance.once_in(1'500)) envoy.disconnect();
      if (now >= stalled_until) envoy.serve(now, chance.delay());
      envoy.receive(now);
      for (std::uint64_t request = 0; request < demand[i] && envoy.admits(now); ++request) {
        for (Checked& limit : limits) {
          if (!admit(limit, now)) return false;
        }
      }
    }
  }
  return true;
}

Checked checked(const Numbers& numbers, Cost cost = Cost{1}) {
  return {std::make_shared<QuotaAssigner>(numbers, Instant{1h}), cost, BoundCheck(numbers)};
}

RC_GTEST_PROP(QuotaProperties, AllEnvoysTogetherStayWithinTheLimitInEveryStretch, (std::uint32_t seed)) {
  Chance chance(seed);
  std::vector limits{checked(any_numbers(chance))};
  RC_ASSERT(stays_within(limits, chance, Filling::steady));
}

RC_GTEST_PROP(QuotaProperties, BucketsUnderTwoLimitsStayWithinBoth, (std::uint32_t seed)) {
  Chance chance(seed);
  std::vector limits{checked(any_numbers(chance), Cost{1 + chance.below(5)}),
                     checked(any_numbers(chance), Cost{1 + chance.below(5)})};
  RC_ASSERT(stays_within(limits, chance, Filling::steady));
}

RC_GTEST_PROP(QuotaProperties, OtherNumbersHoldWhenTheOldAssignmentsAreOver, (std::uint32_t seed)) {
  Chance chance(seed);
  std::vector limits{checked(any_numbers(chance))};
  limits[0].later = any_numbers(chance);
  RC_ASSERT(stays_within(limits, chance, Filling::steady));
}

// Envoy does not do this, but the protocol allows it.
RC_GTEST_PROP(QuotaProperties, WhoFillsInWholeIntervalsIsAtMostOneFillAhead, (std::uint32_t seed)) {
  Chance chance(seed);
  const Numbers numbers = any_numbers(chance);
  std::vector limits{checked(numbers)};
  const std::uint64_t in_a_fill = limits[0].assigner->per_fill();
  limits[0].check = BoundCheck({numbers.burst + in_a_fill, numbers.rate});
  RC_ASSERT(stays_within(limits, chance, Filling::in_whole_intervals));
}

// Proves that the simulation detects assignments that are counted for too short a time.
TEST(QuotaSimulation, FindsThatAnswersAreLaterThanIsAllowedForThem) {
  const QuotaTimes hasty{.delivery = Duration::zero()};
  int found = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Chance chance(seed);
    std::vector limits{checked(any_numbers(chance))};
    if (!stays_within(limits, chance, Filling::steady, hasty)) ++found;
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace weir::frontend::quota_properties
