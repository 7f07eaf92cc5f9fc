// The decisions of the last minute, computed from totals since the start.
#include "observe/recent_traffic.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace weir::observe {
namespace {

using namespace std::chrono_literals;
using engine::Event;

constexpr Instant start{1'700'000'000s};

TrafficTotals totals(std::uint64_t decisions, std::uint64_t denied = 0) {
  return {.requests = 2 * decisions, .by_limit = {{"api", {decisions, denied, 0}}}};
}

// Adds five decisions every five seconds.
RecentTraffic steady(Duration length) {
  RecentTraffic traffic(start);
  for (Duration at = 5s; at <= length; at += 5s) {
    EXPECT_TRUE(traffic.is_due(start + at));
    traffic.add(start + at, totals(static_cast<std::uint64_t>(at / 1s)));
  }
  return traffic;
}

TEST(RecentTraffic, IsSinceTheStartInTheFirstMinute) {
  const auto summary = RecentTraffic(start).summary(start + 7s, totals(3, 1));
  EXPECT_EQ(summary.span, 7s);
  EXPECT_EQ(summary.requests, 6U);
  ASSERT_EQ(summary.limits.size(), 1U);
  EXPECT_EQ(summary.limits[0].limit, "api");
  EXPECT_EQ(summary.limits[0].counts.decisions, 3U);
  EXPECT_EQ(summary.limits[0].counts.denied, 1U);
}

TEST(RecentTraffic, IsOfAMinuteHoweverLongItRuns) {
  for (const Duration length : {Duration(1min), Duration(65s), Duration(10min), Duration(24h)}) {
    const RecentTraffic traffic = steady(length);
    const auto decided = static_cast<std::uint64_t>((length + 3s) / 1s);
    const auto summary = traffic.summary(start + length + 3s, totals(decided));
    EXPECT_GE(summary.span, 1min);
    EXPECT_LT(summary.span, 1min + 5s);
    EXPECT_EQ(summary.limits.at(0).counts.decisions, static_cast<std::uint64_t>(summary.span / 1s));
  }
}

TEST(RecentTraffic, LeavesOutLimitsThatDecidedNothingAndSortsTheOthers) {
  RecentTraffic traffic(start);
  traffic.add(start + 5s, {.requests = 0, .by_limit = {{"idle", {9, 1, 0}}, {"low", {1, 0, 0}}}});
  traffic.add(start + 65s, {.requests = 0, .by_limit = {{"idle", {9, 1, 0}}, {"low", {1, 0, 0}}}});
  const auto summary = traffic.summary(
      start + 66s, {.requests = 0, .by_limit = {{"idle", {9, 1, 0}}, {"low", {2, 0, 0}}, {"new", {5, 5, 0}}}});
  ASSERT_EQ(summary.limits.size(), 2U);
  EXPECT_EQ(summary.limits[0].limit, "new");
  EXPECT_EQ(summary.limits[0].counts.denied, 5U);
  EXPECT_EQ(summary.limits[1].limit, "low");
  EXPECT_EQ(summary.limits[1].counts.decisions, 1U);
}

TEST(TrafficTotals, CountDenialsOfEveryRouteAndThoseOfShadowsApart) {
  engine::EventTotals events{};
  const auto set = [&](Event event, std::uint64_t count) { events[static_cast<std::size_t>(event)] = count; };
  set(Event::admitted, 1);
  set(Event::denied, 2);
  set(Event::uncharged, 4);
  set(Event::warned, 8);
  set(Event::blocked, 16);
  set(Event::shadow_denied, 32);
  set(Event::skipped, 64);
  set(Event::candidate_agrees, 128);
  TrafficTotals totals;
  totals.add({.by_limit_and_route = {{{"api", "GET /a"}, events}, {{"api", "other"}, events}},
              .denied_requests = {{"GET /a", 3}, {"other", 4}}});
  EXPECT_EQ(totals.denied_requests, 7U);
  EXPECT_EQ(totals.by_limit.at("api").decisions, 2U * 63);
  EXPECT_EQ(totals.by_limit.at("api").denied, 2U * 18);
  EXPECT_EQ(totals.by_limit.at("api").shadow_denied, 2U * 32);
}

}  // namespace
}  // namespace weir::observe
