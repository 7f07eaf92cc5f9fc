// Limits whose windows follow the calendar of a time zone.
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

class CalendarTest : public EngineTest {
 protected:
  static std::string per(std::string_view unit, std::string_view zone, int limit = 3) {
    return "{version: 1, limits: [{name: api, consumer_key: ip, algorithm: fixed_window, limit: " +
           std::to_string(limit) + ", window: {calendar: " + std::string(unit) + ", timezone: " + std::string(zone) +
           "}}]}";
  }
  void set_time(std::chrono::year_month_day date, Duration of_day) { now_ = std::chrono::sys_days{date} + of_day; }

  const Request request = Request::to("GET /");
};

using namespace std::chrono_literals;

TEST_F(CalendarTest, MonthEndsWhereItEndsInItsZone) {
  load(per("month", "Europe/Berlin"));
  set_time(2026y / 10 / 31, 22h + 59min);
  EXPECT_EQ(passing(request, 5), 3);
  const Verdict denied = send(request);
  EXPECT_EQ(denied.decision.retry_after, Duration{1min});
  EXPECT_EQ(denied.decision.reset_after, Duration{1min});
  advance(1min);
  EXPECT_EQ(passing(request, 5), 3);
  EXPECT_EQ(send(request).decision.retry_after, Duration{30 * 24h});
}

TEST_F(CalendarTest, DayOfTwentyThreeHoursIsOneWindow) {
  load(per("day", "Europe/Berlin"));
  set_time(2026y / 3 / 28, 23h);
  EXPECT_EQ(send(request).decision.reset_after, Duration{23h});
  advance(23h - 1us);
  EXPECT_EQ(passing(request, 5), 2);
  advance(1us);
  EXPECT_EQ(send(request).decision.reset_after, Duration{24h});
}

TEST_F(CalendarTest, NewZoneTakesOverTheCount) {
  set_time(2026y / 11 / 15, 12h);
  load(per("month", "Europe/Berlin"));
  EXPECT_EQ(passing(request, 2), 2);
  reload(per("month", "America/New_York"));
  EXPECT_EQ(passing(request, 5), 1) << "no fresh limit";
  set_time(2026y / 12 / 1, 4h + 59min);
  EXPECT_EQ(passing(request, 5), 0) << "November goes on in New York";
  advance(1min);
  EXPECT_EQ(passing(request, 5), 3);
}

TEST_F(CalendarTest, NewUnitHasNewStates) {
  load(per("month", "UTC"));
  EXPECT_EQ(passing(request, 5), 3);
  reload(per("week", "UTC"));
  EXPECT_EQ(passing(request, 5), 3);
}

TEST_F(CalendarTest, WideCountsAreWindowsOfTheCalendarToo) {
  load(per("year", "Pacific/Apia", 100'000));
  set_time(2026y / 12 / 31, 11h - 1us);
  EXPECT_EQ(send(request).decision.reset_after, Duration{1us});
  advance(1us);
  EXPECT_EQ(send(request).decision.remaining, 99'999U);
}

}  // namespace
}  // namespace weir::engine
