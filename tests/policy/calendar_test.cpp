// Tests calendar windows beyond calendar_edges_test.py.
#include "policy/calendar.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "policy/tools/strictness.h"
#include "policy/words.h"
#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

using core::CalendarUnit;
using std::chrono::hours;

std::int64_t in_utc(std::chrono::year_month_day date, int hour = 0) {
  return Duration{(std::chrono::sys_days{date} + hours{hour}).time_since_epoch()}.count();
}

const core::Calendar& calendar(CalendarUnit unit, std::string_view zone = utc) {
  return *find_calendar(unit, zone).value();
}

using namespace std::chrono_literals;

struct Row {
  CalendarUnit unit;
  const char* zone;
  std::int64_t now;
  std::int64_t start;
  std::int64_t end;
};

TEST(Calendar, HasTheWindowThatAnInstantIsIn) {
  const std::vector<Row> rows{
      {CalendarUnit::day, "UTC", in_utc(2026y / 3 / 1, 23), in_utc(2026y / 3 / 1), in_utc(2026y / 3 / 2)},
      {CalendarUnit::week, "UTC", in_utc(2026y / 3 / 1), in_utc(2026y / 2 / 23), in_utc(2026y / 3 / 2)},
      {CalendarUnit::week, "UTC", in_utc(2026y / 3 / 2), in_utc(2026y / 3 / 2), in_utc(2026y / 3 / 9)},
      {CalendarUnit::month, "UTC", in_utc(2026y / 2 / 28), in_utc(2026y / 2 / 1), in_utc(2026y / 3 / 1)},
      {CalendarUnit::month, "UTC", in_utc(2028y / 2 / 29), in_utc(2028y / 2 / 1), in_utc(2028y / 3 / 1)},
      {CalendarUnit::month, "UTC", in_utc(2026y / 12 / 31), in_utc(2026y / 12 / 1), in_utc(2027y / 1 / 1)},
      {CalendarUnit::year, "UTC", in_utc(2028y / 7 / 1), in_utc(2028y / 1 / 1), in_utc(2029y / 1 / 1)},
      // 23 and 25 hours.
      {CalendarUnit::day, "Europe/Berlin", in_utc(2026y / 3 / 29), in_utc(2026y / 3 / 28, 23),
       in_utc(2026y / 3 / 29, 22)},
      {CalendarUnit::day, "Europe/Berlin", in_utc(2026y / 10 / 25), in_utc(2026y / 10 / 24, 22),
       in_utc(2026y / 10 / 25, 23)},
      {CalendarUnit::month, "Europe/Berlin", in_utc(2026y / 10 / 31, 22), in_utc(2026y / 9 / 30, 22),
       in_utc(2026y / 10 / 31, 23)},
      // The day begins at one o'clock.
      {CalendarUnit::day, "America/Sao_Paulo", in_utc(2018y / 11 / 4, 12), in_utc(2018y / 11 / 4, 3),
       in_utc(2018y / 11 / 5, 2)},
      // The 30th was skipped.
      {CalendarUnit::day, "Pacific/Apia", in_utc(2011y / 12 / 30, 9), in_utc(2011y / 12 / 29, 10),
       in_utc(2011y / 12 / 30, 10)},
      {CalendarUnit::day, "Pacific/Apia", in_utc(2011y / 12 / 30, 10), in_utc(2011y / 12 / 30, 10),
       in_utc(2011y / 12 / 31, 10)},
  };
  for (const Row& row : rows) {
    const core::WindowEdges edges = calendar(row.unit, row.zone).around(row.now);
    EXPECT_EQ(edges.start, row.start) << name_of(row.unit) << " in " << row.zone << " at " << row.now;
    EXPECT_EQ(edges.end, row.end) << name_of(row.unit) << " in " << row.zone << " at " << row.now;
    EXPECT_EQ(calendar(row.unit, row.zone).around(edges.start - 1).start, edges.previous_start);
    EXPECT_EQ(calendar(row.unit, row.zone).around(edges.end).end, edges.next_end);
  }
}

TEST(Calendar, IsOneForEachUnitAndZone) {
  EXPECT_EQ(find_calendar(CalendarUnit::day, "Europe/Berlin").value(),
            find_calendar(CalendarUnit::day, "Europe/Berlin").value());
  EXPECT_NE(find_calendar(CalendarUnit::day, "Europe/Berlin").value(),
            find_calendar(CalendarUnit::week, "Europe/Berlin").value());
  EXPECT_NE(find_calendar(CalendarUnit::day, "Europe/Berlin").value(), find_calendar(CalendarUnit::day, utc).value());
}

TEST(Calendar, AnyInstantIsInAWindow) {
  for (const std::int64_t now : {std::int64_t{1} << 61, -(std::int64_t{1} << 61), std::int64_t{0}, std::int64_t{-1},
                                 in_utc(9998y / 12 / 31, 23), in_utc(9999y / 1 / 1), in_utc(1y / 1 / 1)}) {
    for (const char* zone : {"UTC", "Europe/Berlin"}) {
      const core::WindowEdges edges = calendar(CalendarUnit::month, zone).around(now);
      EXPECT_TRUE(edges.contains(now)) << now;
      EXPECT_LT(edges.previous_start, edges.start);
      EXPECT_LT(edges.end, edges.next_end);
    }
  }
}

// Uses more windows than are stored, from several threads.
TEST(Calendar, ThreadsSeeTheSameEdges) {
  const core::Calendar& days = calendar(CalendarUnit::day, "America/New_York");
  const std::int64_t day = Duration{hours{24}}.count();
  const std::int64_t begin = in_utc(2010y / 1 / 1, 12);  // noon is always in its own day
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int64_t i = 0; i < 5'000; ++i) {
        const std::int64_t now = begin + ((i * (thread + 1)) % 5'000) * day;
        const core::WindowEdges edges = days.around(now);
        if (!edges.contains(now) || edges.end - edges.start < Duration{hours{23}}.count()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Calendar, DigestTellsZonesApartByTheirOffsetsOnly) {
  EXPECT_EQ(zone_digest("Europe/Berlin").size(), 16U);
  EXPECT_EQ(zone_digest("Europe/Berlin"), zone_digest("Europe/Berlin"));
  EXPECT_NE(zone_digest("Europe/Berlin"), zone_digest("Europe/London"));
  EXPECT_EQ(zone_digest("Europe/Berlin"), zone_digest("Europe/Vienna")) << "the same since long before 2020";
}

std::string billed(const std::string& numbers) {
  return "name: a, consumer_key: ip, algorithm: fixed_window, " + numbers;
}

const Limit& numbers_of_first(const Ruleset& ruleset, std::size_t tier = 0) {
  return *ruleset.limits.front().live.by_tier[tier];
}

TEST(CalendarPolicy, RatesPerWeekMonthAndYearAreOfTheCalendarInUtc) {
  for (const auto& [word, unit] : {std::pair{"week", CalendarUnit::week}, std::pair{"month", CalendarUnit::month},
                                   std::pair{"year", CalendarUnit::year}}) {
    const auto ruleset = loaded(policy_of({billed("rate: 100/" + std::string(word))}));
    ASSERT_NE(ruleset, nullptr);
    EXPECT_EQ(numbers_of_first(*ruleset).calendar(), find_calendar(unit, utc).value());
    EXPECT_EQ(numbers_text(numbers_of_first(*ruleset)), "100/" + std::string(word));
  }
  EXPECT_EQ(numbers_of_first(*loaded(policy_of({billed("rate: 100/day")}))).calendar(), nullptr);
}

TEST(CalendarPolicy, BucketsAndSlidingWindowsTakeAWeekAsSevenDays) {
  for (const std::string algorithm : {"token_bucket", "gcra", "sliding_window_log", "sliding_window_counter"}) {
    const auto ruleset = loaded(policy_of({"name: a, consumer_key: ip, algorithm: " + algorithm + ", rate: 7/week"}));
    ASSERT_NE(ruleset, nullptr);
    const Limit& limit = numbers_of_first(*ruleset);
    EXPECT_EQ(limit.calendar(), nullptr);
    EXPECT_EQ(limit.rate().per / static_cast<std::int64_t>(limit.rate().count), hours{24});
  }
  const auto bucket = loaded(policy_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 7/week, burst: 2"}));
  EXPECT_EQ(numbers_text(bucket->limits.front().live, 0), "7/week, burst 2");
}

TEST(CalendarPolicy, TiersInheritTheWindow) {
  const auto ruleset = loaded(
      "version: 1\ntiers: { from: { header: X-Plan }, default: free, names: [free, pro, big, short] }\nlimits:\n- { " +
      billed("limit: 10, window: { calendar: month, timezone: Europe/Berlin }") +
      ", tier_overrides: { pro: { limit: 20 }, big: { rate: 30/month }, short: { limit: 5, window_seconds: 60 } } }\n");
  ASSERT_NE(ruleset, nullptr);
  const TieredLimit& live = ruleset->limits.front().live;
  EXPECT_EQ(numbers_text(live, 0), "10/month in Europe/Berlin");
  EXPECT_EQ(numbers_text(live, 1), "20/month in Europe/Berlin");
  EXPECT_EQ(numbers_text(live, 2), "30/month in Europe/Berlin");
  EXPECT_EQ(numbers_text(live, 3), "5/min");
}

TEST(CalendarPolicy, DigestKnowsTheZone) {
  const auto digest = [](const std::string& window) {
    return loaded(policy_of({billed("limit: 10, window: { calendar: " + window + " }")}))->digest;
  };
  EXPECT_EQ(digest("month"), digest("month, timezone: UTC"));
  EXPECT_NE(digest("month"), digest("month, timezone: Europe/Berlin"));
  EXPECT_NE(digest("month"), digest("year"));
  EXPECT_EQ(digest("month"), loaded(policy_of({billed("rate: 10/month")}))->digest);
}

TEST(CalendarPolicy, DiffSaysWhatBecomesOfTheCount) {
  const auto change = [](const std::string& before, const std::string& after) {
    return between(policy_of({billed(before)}), policy_of({billed(after)}));
  };
  EXPECT_EQ(change("rate: 10/month", "rate: 20/month"), "a: 10/month -> 20/month (looser)\n");
  EXPECT_EQ(change("rate: 10/month", "limit: 10, window: { calendar: month, timezone: Europe/Berlin }"),
            "a: 10/month -> 10/month in Europe/Berlin (different)\n");
  EXPECT_NE(change("rate: 10/month", "rate: 10/year").find("restart"), std::string::npos)
      << change("rate: 10/month", "rate: 10/year");
  EXPECT_NE(change("rate: 10/month", "rate: 10/30day").find("restart"), std::string::npos)
      << change("rate: 10/month", "rate: 10/30day");
}

TEST(CalendarPolicy, LintSaysThatSlicesAreNotHeld) {
  EXPECT_EQ(warnings_of({billed("rate: 1000/month, consistency: leased")}),
            Lines{"3:88: 'a' has 'consistency: leased', but is decided exactly: a calendar window cannot be divided "
                  "into slices; use 'consistency: exact', or a window of fixed length, like 1000/30day"});
}

TEST(CalendarPolicy, StrictnessIsCertain) {
  const auto fixed = [](std::uint64_t limit, CalendarUnit unit, std::string_view zone = utc) {
    return *Limit::fixed_window(limit, calendar(unit, zone));
  };
  const auto plain = [](std::uint64_t limit, Duration window) { return *Limit::fixed_window({limit, window}); };
  EXPECT_TRUE(at_least_as_strict(fixed(10, CalendarUnit::month), fixed(10, CalendarUnit::month)));
  EXPECT_FALSE(at_least_as_strict(fixed(11, CalendarUnit::month), fixed(10, CalendarUnit::month)));
  EXPECT_TRUE(at_least_as_strict(fixed(10, CalendarUnit::month), fixed(10, CalendarUnit::day)));
  EXPECT_TRUE(at_least_as_strict(fixed(10, CalendarUnit::year), fixed(10, CalendarUnit::month)));
  EXPECT_FALSE(at_least_as_strict(fixed(10, CalendarUnit::month), fixed(10, CalendarUnit::week)));
  EXPECT_FALSE(at_least_as_strict(fixed(10, CalendarUnit::month), fixed(10, CalendarUnit::month, "Europe/Berlin")));
  EXPECT_TRUE(at_least_as_strict(plain(1, hours{24}), fixed(34, CalendarUnit::month)));
  EXPECT_FALSE(at_least_as_strict(plain(1, hours{24}), fixed(30, CalendarUnit::month)));
  EXPECT_FALSE(at_least_as_strict(fixed(1, CalendarUnit::year), plain(1'000, hours{24}))) << "not known";
}

}  // namespace
}  // namespace weir::policy
