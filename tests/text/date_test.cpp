// Date formats: parsing, writing, and invalid texts.
#include "text/date.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::text {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

TEST(Date, IsWrittenInUtc) {
  const Instant at = sys_days{2026y / 1 / 5} + 12h + 3min + 4s + 56us;
  const auto text = [](const auto& written) { return std::string(written.data(), written.size()); };
  EXPECT_EQ(text(http_date(at)), "Mon, 05 Jan 2026 12:03:04 GMT");
  EXPECT_EQ(text(rfc3339(at)), "2026-01-05T12:03:04Z");
  EXPECT_EQ(text(rfc3339_micros(at)), "2026-01-05T12:03:04.000056Z");
  EXPECT_EQ(text(rfc3339(Instant{-1us})), "1969-12-31T23:59:59Z");
}

TEST(Date, YearsBeyondFourDigitsAreHeld) {
  const auto text = [](const auto& written) { return std::string(written.data(), written.size()); };
  EXPECT_EQ(text(rfc3339(Instant::max())), "9999-12-31T23:59:59Z");
  EXPECT_EQ(text(http_date(Instant::min())), "Sat, 01 Jan 0000 00:00:00 GMT");
}

const Instant in_2025 = sys_days{2025y / 11 / 15};

struct DateRow {
  std::string_view text;
  Instant expected;
};

void expect_rows(const std::vector<DateRow>& rows, Instant now) {
  for (const DateRow& row : rows) {
    const auto date = parse_http_date(row.text, now);
    ASSERT_TRUE(date.has_value()) << row.text;
    EXPECT_EQ(*date, row.expected) << row.text;
  }
}

TEST(HttpDate, AllThreeFormsNameTheSameInstant) {
  const Instant example = sys_days{1994y / 11 / 6} + 8h + 49min + 37s;
  expect_rows({{"Sun, 06 Nov 1994 08:49:37 GMT", example},
               {"Sunday, 06-Nov-94 08:49:37 GMT", example},
               {"Sun Nov  6 08:49:37 1994", example}},
              in_2025);
}

TEST(HttpDate, EveryEdgeOfTheCalendarIsRead) {
  expect_rows({{"Thu, 01 Jan 1970 00:00:00 GMT", Instant{}},
               {"Wed, 31 Dec 1969 23:59:59 GMT", Instant{-1s}},
               {"Thu, 29 Feb 2024 23:59:59 GMT", sys_days{2024y / 3 / 1} - 1s},
               {"Tue, 29 Feb 2000 00:00:00 GMT", sys_days{2000y / 2 / 29}},
               {"Fri, 31 Dec 9999 23:59:59 GMT", sys_days{10000y / 1 / 1} - 1s},
               {"Sat, 01 Jan 0000 00:00:00 GMT", sys_days{0y / 1 / 1}},
               {"Sat Nov 15 00:00:00 2025", in_2025}},
              in_2025);
}

TEST(HttpDate, LeapSecondIsTheFirstInstantOfTheNextMinute) {
  expect_rows({{"Sat, 31 Dec 2016 23:59:60 GMT", sys_days{2017y / 1 / 1}}}, in_2025);
}

TEST(HttpDate, NameOfTheDayIsNotComparedWithTheDate) {
  expect_rows({{"Mon, 06 Nov 1994 08:49:37 GMT", sys_days{1994y / 11 / 6} + 8h + 49min + 37s}}, in_2025);
}

TEST(HttpDate, EveryMonthIsKnownByItsName) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  for (unsigned month = 1; month <= 12; ++month) {
    const std::string name(months.substr((month - 1) * 3, 3));
    const Instant expected = sys_days{2025y / std::chrono::month{month} / 9};
    EXPECT_EQ(parse_http_date("Sun, 09 " + name + " 2025 00:00:00 GMT", in_2025), expected);
    EXPECT_EQ(parse_http_date("Sunday, 09-" + name + "-25 00:00:00 GMT", in_2025), expected);
    EXPECT_EQ(parse_http_date("Sun " + name + "  9 00:00:00 2025", in_2025), expected);
  }
}

TEST(HttpDate, TwoDigitYearIsTheLatestThatIsNotOverFiftyYearsAhead) {
  struct CenturyRow {
    std::chrono::year now;
    std::string_view year;
    std::chrono::year expected;
  };
  const std::vector<CenturyRow> rows{
      {2025y, "25", 2025y}, {2025y, "26", 2026y}, {2025y, "74", 2074y}, {2025y, "76", 1976y}, {2025y, "99", 1999y},
      {2025y, "00", 2000y}, {1999y, "00", 2000y}, {1999y, "48", 2048y}, {1999y, "49", 1949y}, {2080y, "10", 2110y},
  };
  for (const CenturyRow& row : rows) {
    const auto date =
        parse_http_date("Friday, 15-Nov-" + std::string(row.year) + " 00:00:00 GMT", sys_days{row.now / 11 / 1});
    EXPECT_EQ(date, Instant{sys_days{row.expected / 11 / 15}}) << row.year << " read in " << static_cast<int>(row.now);
  }
}

TEST(HttpDate, LeapDayFallsInACenturyThatHasIt) {
  EXPECT_EQ(parse_http_date("Tuesday, 29-Feb-00 00:00:00 GMT", sys_days{2060y / 1 / 1}),
            Instant{sys_days{2000y / 2 / 29}});
  EXPECT_FALSE(parse_http_date("Tuesday, 29-Feb-25 00:00:00 GMT", in_2025));
}

TEST(HttpDate, ClockAtTheEndsOfTimeStillReadsATwoDigitYear) {
  EXPECT_TRUE(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", Instant::min()));
  EXPECT_TRUE(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", Instant::max()));
}

TEST(HttpDate, InvalidDatesAreRejected) {
  for (const std::string_view text : {
           "",
           "now",
           "Sun, 06 Nov 1994 08:49:37",      // no zone
           "Sun, 06 Nov 1994 08:49:37 UTC",  // another zone
           "Sun, 06 Nov 1994 08:49:37 gmt",  // case-sensitive
           "sun, 06 Nov 1994 08:49:37 GMT",
           "Sun, 06 NOV 1994 08:49:37 GMT",
           "Sun, 6 Nov 1994 08:49:37 GMT",  // needs two digits for the day
           "Sun,  6 Nov 1994 08:49:37 GMT",
           "Sun, 06 Nov 94 08:49:37 GMT",       // needs four digits for the year
           "Sunday, 06-Nov-1994 08:49:37 GMT",  // needs two digits in RFC 850
           "Sun, 06-Nov-94 08:49:37 GMT",       // needs the full name of the day
           "Sunday, 06 Nov 1994 08:49:37 GMT",
           "Sun Nov 6 08:49:37 1994",  // asctime pads the day
           "Sun Nov 006 08:49:37 1994",
           "Sun Nov  6 08:49:37 1994 GMT",
           "Sun, 06 Nov 1994 24:00:00 GMT",
           "Sun, 06 Nov 1994 08:60:00 GMT",
           "Sun, 06 Nov 1994 08:49:61 GMT",
           "Sun, 00 Nov 1994 08:49:37 GMT",
           "Sun, 31 Nov 1994 08:49:37 GMT",
           "Wed, 29 Feb 2023 00:00:00 GMT",
           "Thu, 29 Feb 1900 00:00:00 GMT",
           "Sun, 06 Nov 1994 08:49:37 GMT ",
           " Sun, 06 Nov 1994 08:49:37 GMT",
           "Sun, 06 Nov 1994 08:49:3",
           "Sun, 06 Nov -994 08:49:37 GMT",
       }) {
    EXPECT_FALSE(parse_http_date(text, in_2025)) << text;
  }
}

const Instant october = sys_days{2023y / 10 / 10} + 13h + 55min + 36s;

struct StampRow {
  std::string_view text;
  Instant at;
  Grain grain = Grain::second;
};

TEST(LogTime, EveryFormNamesItsInstant) {
  const std::vector<StampRow> rows{
      {"10/Oct/2023:13:55:36 +0000", october},
      {"10/Oct/2023:15:55:36 +0200", october},
      {"10/Oct/2023:08:25:36 -0530", october},
      {"31/Dec/2016:23:59:60 +0000", sys_days{2017y / 1 / 1}},
      {"29/Feb/2024:00:00:00 +0000", sys_days{2024y / 2 / 29}},
      {"2023-10-10T13:55:36Z", october},
      {"2023-10-10t13:55:36z", october},
      {"2023-10-10 13:55:36+00:00", october},
      {"2023-10-10 13:55:36 +0000", october},
      {"2023-10-10T15:55:36+02:00", october},
      {"2023-10-10T13:55:36.5Z", october + 500ms, Grain::finer},
      {"2023-10-10T13:55:36,123456789+0000", october + 123'456us, Grain::finer},
      {"2023-10-10T13:55:36.000Z", october, Grain::finer},
      {"1696946136", october},
      {"1696946136.5", october + 500ms, Grain::finer},
      {"1696946136.1234567", october + 123'456us, Grain::finer},
      {"1696946136123", october + 123ms, Grain::finer},
      {"1696946136123.25", october + 123'250us, Grain::finer},
      {"1696946136123456", october + 123'456us, Grain::finer},
      {"1696946136123456789", october + 123'456us, Grain::finer},
      {"1.6969461365e9", october + 500ms, Grain::finer},
      {"0", Instant{}},
      {"-1.5", Instant{-1500ms}, Grain::finer},
  };
  for (const StampRow& row : rows) {
    const auto stamp = parse_log_time(row.text);
    ASSERT_TRUE(stamp.has_value()) << row.text;
    EXPECT_EQ(stamp->at, row.at) << row.text;
    EXPECT_EQ(stamp->grain, row.grain) << row.text;
  }
}

TEST(LogTime, InvalidTimesAreRejected) {
  for (const std::string_view text : {
           "",
           "now",
           "10/Oct/2023:13:55:36",
           "10/oct/2023:13:55:36 +0000",
           "10/anF/2023:13:55:36 +0000",
           "10/Oct/2023:13:55:36 +00:00",
           "10/Oct/2023:13:55:36 +2400",
           "30/Feb/2023:13:55:36 +0000",
           "2023-10-10",
           "2023-10-10T13:55Z",
           "2023-10-10T13:55:36",
           "2023-10-10T13:55:36.Z",
           "2023-10-10T13:55:36ZZ",
           "2023-13-10T13:55:36Z",
           "2023-10-10T13:60:36Z",
           "1696946136.",
           "1696946136.5.5",
           "1696946136x",
           "--5",
           "+5",
           ".5",
           "1e400",
           "1e18x",
           "-99999999999",             // before the year 0
           "99999999999999999999999",  // beyond 64 bits
           "18446744073709551615",
       }) {
    EXPECT_FALSE(parse_log_time(text).has_value()) << text;
  }
}

TEST(ClfClock, RemembersAMinuteOnlyForThatMinuteAndZone) {
  ClfClock clock;
  for (const std::string_view text : {
           "10/Oct/2023:13:55:36 +0000",
           "10/Oct/2023:13:55:00 +0000",
           "10/Oct/2023:13:55:59 +0000",
           "10/Oct/2023:13:55:60 +0000",
           "10/Oct/2023:13:55:36 +0100",
           "10/Oct/2023:13:55:36 -0100",
           "10/Oct/2023:13:56:36 -0100",
           "10/Oct/2022:13:56:36 -0100",
           "10/Oct/2022:13:56:3x -0100",
           "10/Oct/2022:13:56:61 -0100",
           "10/Oct/2022:13:56 36 -0100",
           "10/Oct/2022:13:56:36 -0100",
           "10/Oct/2022:13:56:/0 -0100",
           "10/Oct/2022:13:56:07 -0100",
       }) {
    EXPECT_EQ(clock.read(text.data()), parse_clf_time(text)) << text;
  }
}

}  // namespace
}  // namespace weir::text
