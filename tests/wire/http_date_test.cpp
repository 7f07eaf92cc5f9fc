// The three forms of HTTP-date: what each reads as, and what is none of them.
#include "wire/fields/http_date.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::wire {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

const Instant in_2025 = sys_days{2025y / 11 / 15};

struct Row {
  std::string_view text;
  Instant expected;
};

void expect_rows(const std::vector<Row>& rows, Instant now) {
  for (const Row& row : rows) {
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

TEST(HttpDate, WhatIsNoDateIsRefused) {
  for (const std::string_view text : {
           "",
           "now",
           "Sun, 06 Nov 1994 08:49:37",      // no zone
           "Sun, 06 Nov 1994 08:49:37 UTC",  // another zone
           "Sun, 06 Nov 1994 08:49:37 gmt",  // case counts
           "sun, 06 Nov 1994 08:49:37 GMT",
           "Sun, 06 NOV 1994 08:49:37 GMT",
           "Sun, 6 Nov 1994 08:49:37 GMT",  // two digits for the day
           "Sun,  6 Nov 1994 08:49:37 GMT",
           "Sun, 06 Nov 94 08:49:37 GMT",       // four for the year
           "Sunday, 06-Nov-1994 08:49:37 GMT",  // but two in RFC 850
           "Sun, 06-Nov-94 08:49:37 GMT",       // whose days are written out
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

}  // namespace
}  // namespace weir::wire
