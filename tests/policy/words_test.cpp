#include <gtest/gtest.h>

#include "policy/words.h"

namespace weir::policy {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Words, DurationsAreInTheLargestUnitThatIsExact) {
  EXPECT_EQ(duration_text(seconds{90}), "90 s");
  EXPECT_EQ(duration_text(seconds{120}), "2 min");
  EXPECT_EQ(duration_text(hours{24}), "1 day");
  EXPECT_EQ(duration_text(days{7}), "7 days");
  EXPECT_EQ(duration_text(hours{36}), "36 h");
  EXPECT_EQ(duration_text(milliseconds{1500}), "1500 ms");
  EXPECT_EQ(duration_text(Duration{7}), "7 us");
}

TEST(Words, RatesOfBucketsAreInTheFirstUnitThatIsWhole) {
  const auto text = [](std::uint64_t count, Duration per) {
    return rate_text(*Limit::gcra({.rate = {count, per}, .burst = 1}));
  };
  EXPECT_EQ(text(10, seconds{1}), "10/s");
  EXPECT_EQ(text(100, minutes{1}), "100/min");  // kept as 5 per 3 s
  EXPECT_EQ(text(1, seconds{20}), "3/min");
  EXPECT_EQ(text(7, hours{1}), "7/h");
  EXPECT_EQ(text(1000, days{1}), "1000/day");
  EXPECT_EQ(text(1, seconds{7}), "1 per 7 s");
  EXPECT_EQ(text(1, Duration{1}), "1000000/s");
  EXPECT_EQ(text(Limit::max_product, Duration{1}), "9007199254740992 per 1 us");
}

TEST(Words, WindowsKeepTheirLength) {
  EXPECT_EQ(numbers_text(*Limit::fixed_window({.limit = 10, .window = minutes{1}})), "10/min");
  EXPECT_EQ(numbers_text(*Limit::fixed_window({.limit = 60, .window = minutes{1}})), "60/min");
  EXPECT_EQ(numbers_text(*Limit::sliding_window_log({.limit = 6000, .window = seconds{120}})), "6000 per 2 min");
}

TEST(Words, BucketsSayWhatTheyHold) {
  EXPECT_EQ(numbers_text(*Limit::token_bucket({.rate = {100, minutes{1}}, .burst = 20})), "100/min, burst 20");
  EXPECT_EQ(numbers_text(*Limit::leaky_bucket(QueueNumbers{.rate = {10, seconds{1}}, .queue = 100})),
            "10/s, queue 100");
}

TEST(Words, TiersSayWhatTheyGetAsItWasWritten) {
  const auto bucket = *Limit::token_bucket({.rate = {300, minutes{1}}, .burst = 20});
  const TieredLimit limits{.by_tier = {bucket, bucket, bucket, {}, {}},
                           .banned = {false, false, false, false, true},
                           .rates = {WrittenRate{.rate = {300, minutes{1}}},
                                     WrittenRate{.rate = {1, seconds{20}}, .per_second = true},
                                     {},
                                     {},
                                     {}}};
  EXPECT_EQ(numbers_text(limits, 0), "300/min, burst 20");
  EXPECT_EQ(numbers_text(limits, 1), "0.05/s, burst 20");
  EXPECT_EQ(numbers_text(limits, 2), "5/s, burst 20");  // without its written form
  EXPECT_EQ(numbers_text(limits, 3), "unlimited");
  EXPECT_EQ(numbers_text(limits, 4), "banned");
}

TEST(Words, PairsShowWhatDiffersInOneUnit) {
  const auto texts = [](BucketNumbers before, BucketNumbers after) {
    const Texts both = numbers_texts({*Limit::gcra(before), {}}, {*Limit::gcra(after), {}});
    return both.before + " -> " + both.after;
  };
  const auto written = [](Rate rate) { return Spelled{*Limit::gcra({rate, 5}), WrittenRate{.rate = rate}}; };
  const Texts as_written = numbers_texts(written({300, minutes{1}}), written({600, minutes{1}}));
  EXPECT_EQ(as_written.before + " -> " + as_written.after, "300/min -> 600/min");
  EXPECT_EQ(texts({{60, minutes{1}}, 5}, {{61, minutes{1}}, 5}), "60/min -> 61/min");
  EXPECT_EQ(texts({{60, minutes{1}}, 5}, {{1, seconds{1}}, 6}), "burst 5 -> burst 6");
  EXPECT_EQ(texts({{1, seconds{1}}, 5}, {{1, seconds{7}}, 6}), "1/s, burst 5 -> 1 per 7 s, burst 6");
}

TEST(Words, ListsStayShort) {
  EXPECT_EQ(list_text({"a"}), "a");
  EXPECT_EQ(list_text({"a", "b"}), "a and b");
  EXPECT_EQ(list_text({"a", "b", "c", "d"}), "a, b, c and d");
  EXPECT_EQ(list_text({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace weir::policy
