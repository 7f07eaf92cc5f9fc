#include "app/top_data.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::app {
namespace {

constexpr auto limits = R"({"seconds": 60.0, "more": 2, "throttle": {"decisions": 3, "denied": 1}, "limits": [
  {"name": "by-user", "words": "3/h by user", "mode": "enforce", "consistency": "exact",
   "traffic": {"decisions": 5, "denied": 2, "shadow_denied": 0},
   "total": {"admitted": 3, "denied": 2, "skipped": 0},
   "by_route": [{"route": "GET /x", "decisions": 5, "denied": 2, "shadow_denied": 0}],
   "headroom": {"bounds": [0, 1], "counts": [2, 3]},
   "states": {"entries": 1, "bytes": 100, "budget": 200, "overflowed": 4}, "consumers": 7,
   "candidate": {"agreed": 3, "newly_denied": 2, "newly_admitted": 1},
   "top_denied": [{"consumer": "user:17545c29a59adb20", "count": 2, "error": 0}],
   "spike": {"since": "2026-01-05T12:00:00Z", "rate": 50, "past": 9.5},
   "recent": {"decisions": [2, 3], "denied": [0, 2], "shadow_denied": [0, 0]}},
  {"name": "logins", "mode": "shadow", "traffic": {"decisions": 4, "denied": 0, "shadow_denied": 2},
   "candidate": null, "spike": null, "recent": null}]})";

std::string second(const std::string& at, const std::string& rest) {
  return R"({"at": ")" + at + R"(", "seconds": 1.0, )" + rest + "}";
}

TEST(TopData, HasLimitsAsTheServerTellsThem) {
  TopData data;
  ASSERT_TRUE(read_limits(limits, data));
  ASSERT_EQ(data.limits.size(), 3U);
  const TopLimit& by_user = data.limits[0];
  EXPECT_EQ(by_user.words, "3/h by user");
  EXPECT_EQ(by_user.denied(), 2U);
  EXPECT_DOUBLE_EQ(by_user.share(), 0.4);
  EXPECT_EQ(by_user.recent, (std::vector<TrafficCounts>{{2, 0, 0}, {3, 2, 0}}));
  EXPECT_EQ(by_user.total, (std::vector<std::pair<std::string, std::uint64_t>>{{"admitted", 3}, {"denied", 2}}));
  EXPECT_EQ(by_user.by_route.at(0).route, "GET /x");
  EXPECT_EQ(by_user.headroom, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(by_user.overflowed, 4U);
  EXPECT_EQ(by_user.candidate->newly_denied, 2U);
  EXPECT_DOUBLE_EQ(by_user.spike->rate, 50);
  EXPECT_EQ(by_user.top_denied.at(0).consumer, "user:17545c29a59adb20");
  EXPECT_TRUE(data.limits[1].is_shadow);
  EXPECT_EQ(data.limits[1].denied(), 0U) << "a limit in shadow mode denies nothing";
  EXPECT_EQ(data.limits[1].would_deny(), 2U);
  EXPECT_FALSE(data.limits[1].candidate || data.limits[1].spike);
  EXPECT_EQ(data.limits[2].name, "CL.THROTTLE");
  EXPECT_EQ(data.more_limits, 2U);
}

TEST(TopData, ASecondIsAddedToTheMinute) {
  TopData data;
  ASSERT_TRUE(read_limits(limits, data));
  const std::string message = R"("requests": 9, "decisions": 10, "denied": 4, "p50": 0.000001, "p99": null,
    "connections": 2, "memory": {"used": 1, "budget": 2, "resident": 3}, "store": "open",
    "limits": [{"limit": "by-user", "decisions": 10, "denied": 4, "shadow_denied": 0}], "events": [])";
  ASSERT_TRUE(read_second(second("2026-01-05T12:00:01Z", message), data));
  ASSERT_TRUE(read_second(second("2026-01-05T12:00:01Z", message), data));  // a repeated message counts once
  EXPECT_EQ(data.limits[0].minute, (TrafficCounts{15, 6, 0}));
  EXPECT_EQ(data.limits[1].recent, (std::vector<TrafficCounts>{{0, 0, 0}}));
  EXPECT_EQ(data.limits[1].minute, (TrafficCounts{4, 0, 2}));  // has no recorded seconds
  EXPECT_EQ(data.minute, (std::vector<TrafficCounts>{{10, 4, 0}}));
  EXPECT_EQ(data.now.store, "open");
  EXPECT_TRUE(data.now.p50);
  EXPECT_FALSE(data.now.p99);
}

TEST(TopData, KeepsAMinute) {
  TopData data;
  ASSERT_TRUE(read_limits(limits, data));
  for (int i = 10; i < 99; ++i) {
    ASSERT_TRUE(read_second(second("2026-01-05T12:00:00." + std::to_string(i) + "Z",
                                   R"("decisions": 1, "limits": [{"limit": "by-user", "decisions": 1}])"),
                            data));
  }
  EXPECT_EQ(data.minute.size(), seconds_shown);
  EXPECT_EQ(data.limits[0].minute.decisions, seconds_shown);
}

TEST(TopData, ThrottleHasARowOnceItDecides) {
  TopData data;
  ASSERT_TRUE(
      read_second(second("2026-01-05T12:00:01Z", R"("limits": [{"limit": "CL.THROTTLE", "decisions": 2}])"), data));
  ASSERT_EQ(data.limits.size(), 1U);
  EXPECT_EQ(data.limits[0].minute.decisions, 2U);
}

TEST(TopData, EventsAreToldOnceTheNewestFirst) {
  TopData data;
  ASSERT_TRUE(read_events(R"({"events": [{"id": 2, "message": "b"}, {"id": 1, "message": "a"}]})", data));
  ASSERT_TRUE(read_second(
      second("2026-01-05T12:00:01Z", R"("events": [{"id": 2, "message": "b"}, {"id": 3, "message": "c"}])"), data));
  ASSERT_EQ(data.events.size(), 3U);
  EXPECT_EQ(data.events[0].message, "c");
}

TEST(TopData, HistoryHasTheLastSecond) {
  TopData data;
  ASSERT_TRUE(read_history(R"({"at": ["2026-01-05T12:00:00Z", "2026-01-05T12:00:01Z"], "seconds": [1.0, 2.0],
    "requests": [1, 8], "decisions": [1, 9], "denied": [0, 3], "shadow_denied": [0, 0], "p50": [null, 0.5],
    "p99": [null, null], "connections": [1, 2], "used": [1, 2], "resident": [1, 2], "store": ["closed", "local"]})",
                           data));
  EXPECT_EQ(data.now.at, "2026-01-05T12:00:01Z");
  EXPECT_EQ(data.now.counts, (TrafficCounts{9, 3, 0}));
  EXPECT_EQ(data.now.store, "local");
  EXPECT_DOUBLE_EQ(data.now.seconds, 2);
  TopData none;
  ASSERT_TRUE(read_history(R"({"at": []})", none));
  EXPECT_EQ(none.now.at, "");
}

TEST(TopData, StoreAndNodes) {
  TopData data;
  ASSERT_TRUE(
      read_cluster(R"({"node": {}, "store": {"topology": "single", "breaker": "open", "servers": 1, "connected": 0,
    "unavailable_since": "2026-01-05T12:00:00Z", "last_error": {"error": "timeout"}, "nodes": 2,
    "round_trip": {"p50": 0.001, "p99": null}, "heartbeats": [{"differs": false}, {"differs": true}]}})",
                   data));
  EXPECT_EQ(data.store->differing, 1U);
  EXPECT_EQ(data.store->last_error, "timeout");
  ASSERT_TRUE(read_cluster(R"({"node": {}, "store": null})", data));
  EXPECT_FALSE(data.store);
}

TEST(TopData, WhatIsNotJsonChangesNothing) {
  TopData data;
  ASSERT_TRUE(read_limits(limits, data));
  EXPECT_FALSE(read_limits("<html>", data));
  EXPECT_FALSE(read_second("", data));
  EXPECT_EQ(data.limits.size(), 3U);
}

}  // namespace
}  // namespace weir::app
