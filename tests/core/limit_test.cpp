// Limits: numbers that cannot be exact are rejected, and the error names the number and its maximum.
#include "weir/limit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/rule.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t enormous = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t two_to_53 = std::uint64_t{1} << 53;
constexpr Duration ten_years = std::chrono::days{3650};

Result<Limit> bucket(Rate rate, std::uint64_t burst) {
  return Limit::gcra({.rate = rate, .burst = burst});
}

Result<Limit> queue(Rate rate, std::uint64_t length) {
  return Limit::leaky_bucket(QueueNumbers{.rate = rate, .queue = length});
}

using MakeBucket = Result<Limit> (*)(BucketNumbers);
using MakeWindow = Result<Limit> (*)(WindowNumbers);
const std::vector<MakeBucket> buckets{&Limit::token_bucket, &Limit::gcra, &Limit::leaky_bucket};
const std::vector<MakeWindow> windows{&Limit::fixed_window, &Limit::sliding_window_log, &Limit::sliding_window_counter};

std::string message(const Result<Limit>& result) {
  return result ? "accepted" : result.error().message();
}

TEST(LimitTest, EveryWrongNumberIsRejectedByNameWithItsMaximum) {
  const WindowNumbers none_in_a_minute{.limit = 0, .window = 60s};
  struct Row {
    Result<Limit> result;
    std::string expected;
  };
  const std::vector<Row> rows{
      {bucket({0, 1s}, 1), "rate.count: 0 would never admit anything: must be at least 1"},
      {bucket({1, 0s}, 1), "rate.per: 0 us is not positive: must be at least 1 us"},
      {bucket({1, -3us}, 1), "rate.per: -3 us is not positive: must be at least 1 us"},
      {bucket({1, 1s}, 0), "burst: 0 would never admit anything: must be at least 1"},
      {bucket({7, 3s}, two_to_53),
       "burst: 9007199254740992 is too large: at most 1286742750677284 at 7 per 3 s (to stay exact)"},
      {bucket({1, 1s}, 315'360'001),
       "burst: 315360001 is too large: at most 315360000 at 1 per 1 s (to fill within 10 years)"},
      {bucket({1, ten_years + 1us}, 1),
       "rate.per: 315360000000001 us for 1 is too slow: one every 3650 days (10 years) at the slowest"},
      {bucket({two_to_53 + 1, 1us}, 1), "rate.count: 9007199254740993 is too large: at most 9007199254740992 per 1 us"},
      {Limit::fixed_window(none_in_a_minute), "limit: 0 would never admit anything: must be at least 1"},
      {Limit::fixed_window({.limit = 1, .window = 0s}), "window: 0 us is not positive: must be at least 1 us"},
      {Limit::sliding_window_log({.limit = 1, .window = -1us}), "window: -1 us is not positive: must be at least 1 us"},
      {Limit::sliding_window_counter({.limit = 1, .window = ten_years + 1us}),
       "window: 315360000000001 us is too long: at most 3650 days (10 years)"},
      {Limit::fixed_window({.limit = 4'294'967'296, .window = 1s}),
       "limit: 4294967296 is too large: at most 4294967295 for fixed_window"},
      {Limit::sliding_window_counter({.limit = enormous, .window = 1s}),
       "limit: 18446744073709551615 is too large: at most 4294967295 for sliding_window_counter"},
      {Limit::sliding_window_log({.limit = 65'537, .window = 1s}),
       "limit: 65537 is too large: at most 65536 for sliding_window_log"},
  };
  for (const Row& row : rows) EXPECT_EQ(message(row.result), row.expected);
}

// A queue is one shorter than its burst.
TEST(LimitTest, QueueThatIsTooLongIsRejectedWithItsMaximum) {
  EXPECT_TRUE(queue({1, 1s}, 315'359'999));
  EXPECT_EQ(message(queue({1, 1s}, 315'360'000)),
            "queue: 315360000 is too large: at most 315359999 at 1 per 1 s (to fill within 10 years)");
  EXPECT_TRUE(queue({1, 1us}, two_to_53 / 100));
  EXPECT_EQ(message(queue({1 << 20, 1us}, (std::uint64_t{1} << 33))),
            "queue: 8589934592 is too large: at most 8589934591 at 1048576 per 1 us (to stay exact)");
}

TEST(LimitTest, QueueOfAnyLengthIsRejectedByNameAndNeverWraps) {
  for (const std::uint64_t length : {two_to_53, two_to_53 + 1, enormous - 1, enormous}) {
    const auto refused = queue({1, 1us}, length);
    ASSERT_FALSE(refused) << length;
    EXPECT_EQ(refused.error().where, "queue");
  }
}

TEST(LimitTest, EveryBucketChecksItsNumbers) {
  for (const MakeBucket make : buckets) {
    EXPECT_EQ(make({.rate = {0, 1s}, .burst = 1}).error().where, "rate.count");
    EXPECT_EQ(make({.rate = {1, 0s}, .burst = 1}).error().where, "rate.per");
    EXPECT_EQ(make({.rate = {1, 1s}, .burst = 0}).error().where, "burst");
    EXPECT_EQ(make({.rate = {1, 1s}, .burst = enormous}).error().where, "burst");
    EXPECT_TRUE(make({.rate = {1, 1s}, .burst = 1}));
  }
}

TEST(LimitTest, EveryWindowChecksItsNumbers) {
  for (const MakeWindow make : windows) {
    EXPECT_EQ(make({.limit = 0, .window = 1s}).error().where, "limit");
    EXPECT_EQ(make({.limit = enormous, .window = 1s}).error().where, "limit");
    EXPECT_EQ(make({.limit = 1, .window = 0s}).error().where, "window");
    EXPECT_EQ(make({.limit = 1, .window = Duration::max()}).error().where, "window");
    EXPECT_EQ(make({.limit = 1, .window = Duration::min()}).error().where, "window");
    EXPECT_TRUE(make({.limit = 1, .window = ten_years}));
    EXPECT_TRUE(make({.limit = 1, .window = 1us}));
  }
}

TEST(LimitTest, LargestNumbersAreAccepted) {
  EXPECT_TRUE(Limit::fixed_window({.limit = 4'294'967'295, .window = 1s}));
  EXPECT_TRUE(Limit::sliding_window_counter({.limit = 4'294'967'295, .window = ten_years}));
  EXPECT_TRUE(Limit::sliding_window_log({.limit = 65'536, .window = 1s}));
  EXPECT_TRUE(bucket({1, ten_years}, 1));
  EXPECT_TRUE(bucket({1, 1s}, 315'360'000));
  EXPECT_TRUE(bucket({two_to_53, 1us}, 1));
  EXPECT_TRUE(bucket({1, 1us}, 315'360'000'000'000));
  EXPECT_TRUE(bucket({7, 3us}, two_to_53 / 7 / 100));
  EXPECT_TRUE(bucket({50'000'000, 1s}, two_to_53 / 50));
  EXPECT_FALSE(bucket({50'000'000, 1s}, two_to_53 / 50 + 1));
}

// The rate is reduced first, so the notation does not matter.
TEST(LimitTest, RateThatIsTooLargeAsWrittenIsFineOnceReduced) {
  EXPECT_EQ(bucket({std::uint64_t{1} << 62, Duration{std::int64_t{1} << 61}}, 1).value().rate(), (Rate{2, 1us}));
  EXPECT_EQ(bucket({3 * two_to_53, 3us}, 1).value().rate(), (Rate{two_to_53, 1us}));
  EXPECT_EQ(bucket({1'000'000, 1s}, 1).value(), bucket({1, 1us}, 1).value());
}

// burst x N <= 2^53 in lowest terms, and full within ten years.
TEST(LimitTest, BucketIsRejectedExactlyWhereItCouldNotBeExact) {
  __extension__ using Wide = unsigned __int128;
  const auto longest = static_cast<std::uint64_t>(ten_years.count());
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{7}, two_to_53, two_to_53 + 1, enormous}) {
    for (const Duration per : {1us, Duration{3}, ten_years, ten_years + 1us, Duration::max()}) {
      for (const std::uint64_t burst :
           {std::uint64_t{1}, std::uint64_t{2}, longest, two_to_53 / 7, two_to_53, enormous}) {
        const auto micros = static_cast<std::uint64_t>(per.count());
        const std::uint64_t reduced = count / std::gcd(count, micros);
        const bool exact = Wide{burst} * reduced <= two_to_53;
        const bool fills = Wide{burst} * micros / count < longest || Wide{burst} * micros == Wide{longest} * count;
        EXPECT_EQ(bucket({count, per}, burst).has_value(), exact && fills) << count << " " << micros << " " << burst;
      }
    }
  }
}

TEST(LimitTest, CapacityIsWhatAConsumerAtRestCanTake) {
  EXPECT_EQ(bucket({1, 1s}, 5).value().capacity(), 5U);
  EXPECT_EQ(queue({1, 1s}, 5).value().capacity(), 6U);
  EXPECT_EQ(queue({1, 1s}, 0).value().capacity(), 1U);
  EXPECT_EQ(Limit::fixed_window({.limit = 5, .window = 1s}).value().capacity(), 5U);
  EXPECT_EQ(Limit::leaky_bucket(BucketNumbers{.rate = {1, 1s}}).value().capacity(), 1U);
}

TEST(LimitTest, WindowsKeepTheirNumbersAsWritten) {
  EXPECT_EQ(Limit::fixed_window({.limit = 30, .window = 60s}).value().rate(), (Rate{30, 60s}));
}

TEST(LimitTest, CompiledRuleIsOfTheAlgorithmThatWasAskedFor) {
  const WindowNumbers window{.limit = 1, .window = 1s};
  const BucketNumbers numbers{.rate = {1, 1s}, .burst = 1};
  const std::vector<std::pair<Limit, std::string_view>> limits{
      {Limit::token_bucket(numbers).value(), "token_bucket"},
      {Limit::gcra(numbers).value(), "gcra"},
      {Limit::leaky_bucket(numbers).value(), "leaky_bucket_meter"},
      {queue({1, 1s}, 0).value(), "leaky_bucket_queue"},
      {Limit::fixed_window(window).value(), "fixed_window"},
      {Limit::sliding_window_log(window).value(), "sliding_window_log"},
      {Limit::sliding_window_counter(window).value(), "sliding_window_counter"},
  };
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_EQ(name_of(limits[i].first.algorithm()), limits[i].second);
    EXPECT_EQ(core::compile(limits[i].first).index(), i);
  }
}

}  // namespace
}  // namespace weir
