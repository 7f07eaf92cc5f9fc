// Each row states whether a is as strict as b, and b as a.
#include <gtest/gtest.h>

#include "policy/tools/strictness.h"

namespace weir::policy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Limit bucket(std::uint64_t count, Duration per, std::uint64_t burst) {
  return *Limit::token_bucket({.rate = {count, per}, .burst = burst});
}

Limit queue(std::uint64_t count, Duration per, std::uint64_t size) {
  return *Limit::leaky_bucket(QueueNumbers{.rate = {count, per}, .queue = size});
}

Limit fixed(std::uint64_t limit, Duration window) {
  return *Limit::fixed_window({.limit = limit, .window = window});
}

Limit log(std::uint64_t limit, Duration window) {
  return *Limit::sliding_window_log({.limit = limit, .window = window});
}

Limit counter(std::uint64_t limit, Duration window) {
  return *Limit::sliding_window_counter({.limit = limit, .window = window});
}

void expect_stricter(const Limit& a, const Limit& b) {
  EXPECT_TRUE(at_least_as_strict(a, b));
  EXPECT_FALSE(at_least_as_strict(b, a));
}

void expect_equal(const Limit& a, const Limit& b) {
  EXPECT_TRUE(at_least_as_strict(a, b));
  EXPECT_TRUE(at_least_as_strict(b, a));
}

void expect_unknown(const Limit& a, const Limit& b) {
  EXPECT_FALSE(at_least_as_strict(a, b));
  EXPECT_FALSE(at_least_as_strict(b, a));
}

TEST(Strictness, OfBucketsIsInRateAndBurst) {
  expect_stricter(bucket(100, minutes{1}, 20), bucket(2, seconds{1}, 20));
  expect_stricter(bucket(100, minutes{1}, 19), bucket(100, minutes{1}, 20));
  expect_unknown(bucket(100, minutes{1}, 20), bucket(2, seconds{1}, 19));
  expect_equal(bucket(120, minutes{1}, 20), bucket(2, seconds{1}, 20));
  expect_equal(bucket(1, seconds{1}, 5), *Limit::gcra({.rate = {1, seconds{1}}, .burst = 5}));
}

TEST(Strictness, IsExactWhereDoublesAreNot) {
  const std::uint64_t large = (std::uint64_t{1} << 53) - 1;
  expect_stricter(bucket(large - 1, seconds{1}, 1), bucket(large, seconds{1}, 1));
}

TEST(Strictness, AQueueDeniesThoseWhoCannotWait) {
  expect_stricter(queue(1, seconds{1}, 4), bucket(1, seconds{1}, 5));
  expect_stricter(queue(1, seconds{1}, 4), queue(1, seconds{1}, 5));
  expect_equal(queue(1, seconds{1}, 0), bucket(1, seconds{1}, 1));
  expect_unknown(queue(1, seconds{1}, 5), bucket(1, seconds{1}, 5));
}

TEST(Strictness, OfWindowsOfOneLengthIsInTheirLimits) {
  expect_stricter(fixed(9, minutes{1}), fixed(10, minutes{1}));
  expect_stricter(log(9, minutes{1}), log(10, minutes{1}));
  expect_stricter(counter(9, minutes{1}), counter(10, minutes{1}));
}

TEST(Strictness, SlidingWindowsAreStricterThanFixedOnes) {
  expect_stricter(log(10, minutes{1}), fixed(10, minutes{1}));
  expect_stricter(counter(10, minutes{1}), fixed(10, minutes{1}));
  expect_unknown(log(10, minutes{1}), counter(10, minutes{1}));
}

TEST(Strictness, OfWindowsThatDoNotNestIsUnknown) {
  expect_stricter(fixed(10, minutes{2}), fixed(10, minutes{1}));
  expect_unknown(fixed(10, seconds{90}), fixed(10, minutes{1}));
  expect_stricter(log(10, seconds{90}), fixed(10, minutes{1}));
  expect_unknown(fixed(10, minutes{1}), fixed(601, minutes{60}));
}

TEST(Strictness, ABucketAdmitsItsBurstAndWhatFlowsInDuringAWindow) {
  expect_stricter(bucket(10, minutes{1}, 10), log(19, minutes{1}));
  EXPECT_FALSE(at_least_as_strict(bucket(10, minutes{1}, 10), log(18, minutes{1})));
  expect_stricter(log(10, minutes{1}), bucket(10, minutes{1}, 10));
  EXPECT_FALSE(at_least_as_strict(fixed(10, minutes{1}), bucket(10, minutes{1}, 19)));
  EXPECT_TRUE(at_least_as_strict(fixed(10, minutes{1}), bucket(10, minutes{1}, 20)));
}

TEST(Strictness, NothingIsLooserThanUnlimited) {
  const Terms none;
  const Terms some{.numbers = bucket(1, seconds{1}, 1)};
  EXPECT_TRUE(at_least_as_strict(some, none));
  EXPECT_FALSE(at_least_as_strict(none, some));
  EXPECT_TRUE(at_least_as_strict(none, none));
}

TEST(Strictness, NothingIsStricterThanABan) {
  const Terms ban{.numbers = {}, .banned = true};
  for (const Terms& other : {Terms{}, Terms{.numbers = bucket(1, seconds{1}, 1)}}) {
    EXPECT_TRUE(at_least_as_strict(ban, other));
    EXPECT_FALSE(at_least_as_strict(other, ban));
  }
  EXPECT_TRUE(at_least_as_strict(ban, ban));
}

}  // namespace
}  // namespace weir::policy
