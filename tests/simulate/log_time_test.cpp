// The three forms of time in logs: what each reads as, how fine it is, and what is none of them.
#include "simulate/log_time.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

const Instant october = sys_days{2023y / 10 / 10} + 13h + 55min + 36s;

struct TimeRow {
  std::string_view text;
  Instant at;
  Grain grain = Grain::second;
};

TEST(LogTime, EveryFormNamesItsInstant) {
  const std::vector<TimeRow> rows{
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
  for (const TimeRow& row : rows) {
    const auto stamp = parse_log_time(row.text);
    ASSERT_TRUE(stamp.has_value()) << row.text;
    EXPECT_EQ(stamp->at, row.at) << row.text;
    EXPECT_EQ(stamp->grain, row.grain) << row.text;
  }
}

TEST(LogTime, WhatIsNoTimeIsRefused) {
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
}  // namespace weir::simulate
