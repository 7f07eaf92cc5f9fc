// Seconds are differences of totals; the history has the last of them.
#include "observe/seconds.h"
#include "base/histogram.h"

#include <gtest/gtest.h>

#include "observe/history.h"

namespace weir::observe {
namespace {

using namespace std::chrono_literals;

constexpr Instant began{1'700'000'000s};

SecondMeter::Totals so_far(std::uint64_t api, std::uint64_t denied, std::uint64_t other = 0) {
  SecondMeter::Totals totals;
  totals.traffic = {.requests = api + other, .by_limit = {{"api", {api, denied, 0}}, {"other", {other, 0, other}}}};
  return totals;
}

TEST(SecondMeter, TellsWhatCameSinceTheLastSecond) {
  SecondMeter meter(began);
  (void)meter.measure(began + 1s, so_far(10, 2), {});
  const MeasuredSecond measured = meter.measure(began + 2100ms, so_far(15, 6, 40), {.connections = 3});
  EXPECT_EQ(measured.second.at, began + 2100ms);
  EXPECT_EQ(measured.second.span, 1100ms);
  EXPECT_EQ(measured.second.requests, 45U);
  EXPECT_EQ(measured.second.counts, (TrafficCounts{45, 4, 40}));
  EXPECT_EQ(measured.second.gauges.connections, 3U);
  ASSERT_EQ(measured.limits.size(), 2U);
  EXPECT_EQ(measured.limits[0].limit, "other");
  EXPECT_EQ(measured.limits[1].counts, (TrafficCounts{5, 4, 0}));
}

TEST(SecondMeter, LeavesOutLimitsThatDecidedNothing) {
  SecondMeter meter(began);
  (void)meter.measure(began + 1s, so_far(10, 2, 5), {});
  const MeasuredSecond measured = meter.measure(began + 2s, so_far(11, 2, 5), {});
  ASSERT_EQ(measured.limits.size(), 1U);
  EXPECT_EQ(measured.limits[0].limit, "api");
  EXPECT_TRUE(meter.measure(began + 3s, so_far(11, 2, 5), {}).limits.empty());
}

TEST(SecondMeter, ClockThatStepsBackMakesNoNegativeSpan) {
  SecondMeter meter(began);
  EXPECT_EQ(meter.measure(began - 1h, {}, {}).second.span, 0s);
  EXPECT_EQ(meter.measure(began - 1h + 1s, {}, {}).second.span, 1s);
}

TEST(SecondMeter, DecisionTimeIsThatOfTheSecondAlone) {
  SecondMeter meter(began);
  SecondMeter::Totals totals;
  totals.durations.counts[0] = 1'000;  // at most 100 ns
  const Second first = meter.measure(began + 1s, totals, {}).second;
  EXPECT_DOUBLE_EQ(first.p50.value(), 50e-9);
  EXPECT_DOUBLE_EQ(first.p99.value(), 99e-9);
  totals.durations.counts[3] = 10;  // from 500 to 1,000 ns
  EXPECT_DOUBLE_EQ(meter.measure(began + 2s, totals, {}).second.p50.value(), 750e-9);
  EXPECT_FALSE(meter.measure(began + 3s, totals, {}).second.p50);
}

TEST(Quantile, OfABucketIsInProportionAndBeyondAllBoundsTheLast) {
  constexpr base::Scale<2> scale{3, {10, 20}};
  struct Row {
    std::array<std::uint64_t, 3> counts;
    double share;
    std::optional<double> expected;
  };
  for (const Row& row : std::vector<Row>{{{0, 0, 0}, 0.5, {}},
                                         {{10, 0, 0}, 0.5, 0.005},
                                         {{0, 10, 0}, 0.5, 0.015},
                                         {{5, 5, 0}, 0.5, 0.010},
                                         {{5, 5, 0}, 1.0, 0.020},
                                         {{0, 0, 4}, 0.5, 0.020},
                                         {{1, 0, 99}, 0.99, 0.020}}) {
    const base::HistogramTotals<2> totals{.counts = row.counts};
    const auto found = quantile(scale, totals, row.share);
    ASSERT_EQ(found.has_value(), row.expected.has_value());
    if (found) {
      EXPECT_DOUBLE_EQ(*found, *row.expected);
    }
  }
}

MeasuredSecond second_with(std::uint64_t number, std::vector<LimitTraffic> limits) {
  MeasuredSecond measured{.second = {.at = began + std::chrono::seconds(number)}, .limits = std::move(limits)};
  measured.second.requests = number;
  return measured;
}

TEST(History, KeepsTenMinutesTheOldestFirst) {
  History history;
  EXPECT_TRUE(history.seconds().empty());
  for (std::uint64_t i = 1; i <= 700; ++i) history.add(second_with(i, {}));
  const auto seconds = history.seconds();
  ASSERT_EQ(seconds.size(), 600U);
  EXPECT_EQ(seconds.front().requests, 101U);
  EXPECT_EQ(seconds.back().requests, 700U);
}

TEST(History, OfALimitIsAsLongAsThatOfAll) {
  History history;
  history.add(second_with(1, {}));
  history.add(second_with(2, {{"api", {7, 3, 1}}}));
  history.add(second_with(3, {}));
  EXPECT_EQ(history.of("api"), (std::vector<TrafficCounts>{{}, {7, 3, 1}, {}}));
  EXPECT_EQ(history.of("api", 2), (std::vector<TrafficCounts>{{7, 3, 1}, {}}));
  EXPECT_EQ(history.of("idle"), std::vector<TrafficCounts>(3));
}

TEST(History, CountsOfAPlaceThatIsUsedAgainAreNotThoseBefore) {
  History history;
  for (std::uint64_t i = 0; i < 600; ++i) history.add(second_with(i, {{"api", {9, 0, 0}}}));
  for (std::uint64_t i = 0; i < 10; ++i) history.add(second_with(600 + i, {}));
  const auto counts = history.of("api").value();
  EXPECT_EQ(counts[589].decisions, 9U);
  EXPECT_EQ(counts[590].decisions, 0U);
}

TEST(History, BeyondItsBoundIsNotKnownUntilThereIsRoom) {
  History history;
  std::vector<LimitTraffic> limits;
  for (std::size_t i = 0; i <= History::max_limits; ++i) limits.push_back({"l" + std::to_string(i), {1, 0, 0}});
  history.add(second_with(1, limits));
  EXPECT_TRUE(history.of("l0"));
  EXPECT_FALSE(history.of("l" + std::to_string(History::max_limits)));
  for (std::uint64_t i = 0; i < History::length; ++i) history.add(second_with(i, {}));
  history.add(second_with(2, {{"late", {5, 0, 0}}}));
  EXPECT_EQ(history.of("late", 1), (std::vector<TrafficCounts>{{5, 0, 0}}));
}

}  // namespace
}  // namespace weir::observe
