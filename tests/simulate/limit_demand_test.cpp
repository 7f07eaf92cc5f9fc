#include "simulate/demand.h"

#include <gtest/gtest.h>

#include <random>

#include "policy/calendar.h"

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;
using Sorted = std::vector<std::uint64_t>;

TEST(Quantile, IsTheSmallestValueThatTheShareDoesNotExceed) {
  Sorted thousand(1000);
  for (std::size_t i = 0; i < 1000; ++i) thousand[i] = i + 1;
  EXPECT_EQ(quantile(thousand, 0.5), 500U);
  EXPECT_EQ(quantile(thousand, 0.99), 990U);
  EXPECT_EQ(quantile(thousand, 0.999), 999U);
  EXPECT_EQ(quantile({7}, 0.99), 7U);
  EXPECT_EQ(quantile({1, 9}, 0.99), 9U);
}

TEST(Bars, AreTwoPerOctave) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  for (const auto& bar : bars_between(0, 17)) edges.emplace_back(bar.from, bar.to);
  EXPECT_EQ(edges, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                       {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 5}, {6, 7}, {8, 11}, {12, 15}, {16, 23}}));
  EXPECT_FALSE(bars_between(0, ~std::uint64_t{0}).empty());
}

TEST(Bars, ContainEveryValueOnce) {
  const auto bars = bars_of({1, 1, 1, 5, 100});
  EXPECT_EQ(bars.front().from, 1U);
  EXPECT_EQ(bars.front().consumers, 3U);
  EXPECT_EQ(bars.back().from, 96U);
  EXPECT_EQ(bars.back().to, 127U);
  std::uint64_t sum = 0;
  for (const auto& bar : bars) sum += bar.consumers;
  EXPECT_EQ(sum, 5U);
}

policy::TieredLimit two_tiers() {
  return {{Limit::token_bucket({{60, 1min}, 10}).value(), std::nullopt,
           Limit::leaky_bucket(QueueNumbers{{1, 1s}, 4}).value()},
          {},
          {}};
}

TEST(LimitDemand, TiersAreReportedSeparatelyAndUnlimitedOnesAreOmitted) {
  const policy::TieredLimit limits = two_tiers();
  LimitDemand demand(limits, 100);
  for (int i = 0; i < 12; ++i) demand.add(0, 1, Cost{1}, Instant{1s});
  demand.add(0, 2, Cost{1}, Instant{1s});
  demand.add(1, 1, Cost{1}, Instant{1s});
  for (int i = 0; i < 3; ++i) demand.add(2, 3, Cost{1}, Instant{1s});
  const auto report = demand.report({"free", "internal", "queued"});
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report[0].tier, "free");
  EXPECT_EQ(report[0].word, "burst");
  EXPECT_EQ(report[0].present, 10U);
  EXPECT_EQ(report[0].consumers, 2U);
  EXPECT_EQ(report[0].satisfied, 1U);
  ASSERT_EQ(report[0].rates.size(), 3U);
  EXPECT_EQ(report[0].rates[0].number.all, 12U);
  EXPECT_EQ(report[1].tier, "queued");
  EXPECT_EQ(report[1].word, "queue");
  EXPECT_EQ(report[1].present, 4U);
  EXPECT_EQ(report[1].rates[0].number.all, 2U);  // one passes, two wait
}

// Three days in UTC, two in Kathmandu.
TEST(LimitDemand, CalendarWindowsFollowTheTimeZone) {
  const core::Calendar& days = *policy::find_calendar(core::CalendarUnit::day, "Asia/Kathmandu").value();
  const policy::TieredLimit limits{{Limit::fixed_window(10, days).value()}, {}, {}};
  LimitDemand demand(limits, 100);
  const Instant begin{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 18h + 15min};  // midnight there
  for (const Duration later : {Duration{0}, Duration{24h - 1us}, Duration{24h}})
    demand.add(0, 7, Cost{1}, begin + later);
  const auto report = demand.report({"default"});
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report[0].rates[0].number.all, 2U);
  EXPECT_EQ(report[0].numbers, "10/day in Asia/Kathmandu");
}

// 50,000 consumers, of which one in 20 needs more, and a sample of 2,000.
TEST(LimitDemand, QuantilesOfASampleEstimateThoseOfAll) {
  const policy::TieredLimit limits{{Limit::fixed_window({10, 1min}).value()}, {}, {}};
  LimitDemand demand(limits, 2'000);
  std::mt19937_64 random(4);
  for (int consumer = 0; consumer < 50'000; ++consumer) {
    const std::uint64_t hash = random();
    demand.add(0, hash, Cost{consumer % 20 == 0 ? 200U + static_cast<unsigned>(consumer % 100) : 5U}, Instant{1s});
  }
  const auto report = demand.report({"default"});
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report[0].one_in, 32U);
  EXPECT_NEAR(static_cast<double>(report[0].satisfied) / static_cast<double>(report[0].consumers), 0.95, 0.02);
  EXPECT_EQ(report[0].rates[0].number.half, 5U);
  EXPECT_GE(report[0].rates[0].number.p99, 200U);
}

}  // namespace
}  // namespace weir::simulate
