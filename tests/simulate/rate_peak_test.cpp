#include "simulate/rates.h"

#include <gtest/gtest.h>

namespace weir::simulate {
namespace {

using std::chrono::seconds;

Instant at(std::int64_t second) {
  return Instant{seconds{second}};
}

TEST(RatePeak, IsEmptyWithoutRequests) {
  EXPECT_EQ(RatePeak{}.peaks().requests, 0U);
  EXPECT_EQ(RatePeak{}.peaks().second, Peak{});
}

TEST(RatePeak, BusiestSecondIsTheFirstOfTies) {
  RatePeak rate;
  for (const std::int64_t second : {100, 101, 101, 102, 105, 105}) rate.add(second);
  const auto peaks = rate.peaks();
  EXPECT_EQ(peaks.requests, 6U);
  EXPECT_EQ(peaks.second, (Peak{2, at(101)}));
}

TEST(RatePeak, MinuteIsAnySixtyConsecutiveSeconds) {
  RatePeak rate;
  rate.add(59);
  for (int i = 0; i < 3; ++i) rate.add(60);
  for (int i = 0; i < 2; ++i) rate.add(118);
  rate.add(119);  // second 59 has left, 60 has not
  EXPECT_EQ(rate.peaks().minute, (Peak{6, at(59)}));
  rate.add(120);  // now 60 has left
  EXPECT_EQ(rate.peaks().minute, (Peak{6, at(59)}));
}

TEST(RatePeak, LongSilenceForgetsTheMinute) {
  RatePeak rate;
  for (int i = 0; i < 5; ++i) rate.add(10);
  for (int i = 0; i < 4; ++i) rate.add(100'000);
  EXPECT_EQ(rate.peaks().minute.count, 5U);
  EXPECT_EQ(rate.peaks().requests, 9U);
}

TEST(RatePeak, TimesBeforeTheEpochCountToo) {
  RatePeak rate;
  rate.add(-100);
  rate.add(-99);
  rate.add(-41);  // the last request is in the 60 seconds from -100 on
  EXPECT_EQ(rate.peaks().minute, (Peak{3, at(-100)}));
}

}  // namespace
}  // namespace weir::simulate
