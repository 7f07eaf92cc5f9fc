#include "policy_test/max_admitted.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace weir::policy_test {
namespace {

using namespace std::chrono_literals;

std::uint64_t most(const Result<Limit>& limit, Duration span, std::uint64_t cost = 1) {
  return static_cast<std::uint64_t>(max_admitted(limit.value(), Cost{cost}, {span, {}}).value());
}

TEST(MaxAdmitted, OfALogIsItsLimitPerWindow) {
  const auto limit = Limit::sliding_window_log({10, 1min});
  EXPECT_EQ(most(limit, 1min), 10U);
  EXPECT_EQ(most(limit, 1min + 1us), 20U);
  EXPECT_EQ(most(limit, 1h), 600U);
}

TEST(MaxAdmitted, OfAFixedWindowIsTwiceItsLimitAroundABoundary) {
  const auto limit = Limit::fixed_window({10, 1min});
  EXPECT_EQ(most(limit, 1us), 10U);
  EXPECT_EQ(most(limit, 1min), 20U);
  EXPECT_EQ(most(limit, 2min), 30U);
}

TEST(MaxAdmitted, OfACounterIsOneLessThanTwiceItsLimit) {
  const auto limit = Limit::sliding_window_counter({10, 1min});
  EXPECT_EQ(most(limit, 1min), 19U);
  EXPECT_EQ(most(limit, 2min), 28U);
  EXPECT_EQ(most(Limit::sliding_window_counter({100, 1min}), 1min), 199U);
}

TEST(MaxAdmitted, OfACounterRepeatsInPairsOverManyWindows) {
  // A limit of 1 admits in every second window.
  EXPECT_EQ(most(Limit::sliding_window_counter({1, 1s}), std::chrono::hours{1000}), 1'800'001U);
}

TEST(MaxAdmitted, OfABucketIsItsBurstAndWhatRefills) {
  const auto limit = Limit::token_bucket({{100, 1min}, 20});
  EXPECT_EQ(most(limit, 1us), 20U);
  EXPECT_EQ(most(limit, 1min), 119U);
  EXPECT_EQ(most(limit, 1min + 1us), 120U);
  EXPECT_EQ(most(limit, 1min, 5), 23U);
}

TEST(MaxAdmitted, OfABucketThatARequestEmptiesIsOnePerTimeToFill) {
  // 1.5 us per token: the bucket is full at the second microsecond, and the half is lost.
  EXPECT_EQ(most(Limit::token_bucket({{2, 3us}, 1}), 4us), 2U);
  EXPECT_EQ(most(Limit::token_bucket({{7, 1min}, 1}), 1min), 7U);
}

TEST(MaxAdmitted, IsZeroForACostThatNeverFits) {
  EXPECT_EQ(most(Limit::fixed_window({10, 1min}), 1h, 11), 0U);
}

TEST(MaxAdmitted, OfAConcurrencyLimitIsANumberAtOnce) {
  const auto limit = Limit::concurrency({5, 1min});
  EXPECT_FALSE(max_admitted(limit.value(), Cost{1}, {1min, {}}));
  EXPECT_EQ(static_cast<std::uint64_t>(max_at_once(limit.value(), Cost{2}).value()), 2U);
}

}  // namespace
}  // namespace weir::policy_test
