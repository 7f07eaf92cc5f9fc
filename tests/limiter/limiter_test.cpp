// Limiter: one limit for one thing, on a clock that the test moves.
#include "weir/limiter.h"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/limiter/limits.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

class LimiterTest : public testing::Test {
 protected:
  void limit_to(const Limit& limit) { limiter_ = Limiter::create(limit, clock_).value(); }
  Decision check(std::uint64_t cost = 1) { return limiter_.check(Cost{cost}); }
  [[nodiscard]] std::uint64_t remaining() const { return limiter_.peek(Cost{0}).remaining; }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(first_instant);
  Limiter limiter_ = Limiter::create(Limit::gcra({.rate = {1, 10s}, .burst = 5}).value(), clock_).value();
};

TEST_F(LimiterTest, AdmitsUntilTheLimitAndThenAsTimePasses) {
  for (std::uint64_t left = 5; left > 0; --left) {
    const Decision decision = check();
    EXPECT_TRUE(decision);
    EXPECT_EQ(decision.limit, 5U);
    EXPECT_EQ(decision.remaining, left - 1);
    EXPECT_EQ(decision.charged_at, first_instant);
  }
  EXPECT_EQ(check().retry_after, 10s);
  clock_->advance(10s - 1us);
  EXPECT_FALSE(check());
  clock_->advance(1us);
  EXPECT_TRUE(check());
}

TEST_F(LimiterTest, DefaultCostIsOne) {
  EXPECT_EQ(limiter_.check().remaining, 4U);
  EXPECT_EQ(limiter_.peek().remaining, 3U);
}

TEST_F(LimiterTest, PeekAnswersWhatCheckWouldAndChargesNothing) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    for (const std::uint64_t cost : {1U, 0U, 2U, 1U, 3U, 4U}) {
      const Decision peeked = limiter_.peek(Cost{cost});
      EXPECT_EQ(limiter_.peek(Cost{cost}), peeked);
      EXPECT_EQ(check(cost), peeked) << name_of(limit.algorithm()) << " cost " << cost;
    }
  }
}

TEST_F(LimiterTest, ResetIsAsIfNeverUsed) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    limit_to(limit);
    const Decision fresh = limiter_.peek(Cost{5});
    limiter_.settle(limiter_.reserve(Cost{5}).receipt, Cost{9});
    const Receipt open = limiter_.reserve(Cost{0}, 1h).receipt;
    limiter_.reset();
    EXPECT_EQ(limiter_.release(open).result, ReceiptResult::ended) << name_of(limit.algorithm());
    EXPECT_EQ(limiter_.peek(Cost{5}), fresh) << name_of(limit.algorithm());
    EXPECT_TRUE(check(5)) << name_of(limit.algorithm());
    EXPECT_FALSE(check()) << name_of(limit.algorithm());
  }
}

TEST_F(LimiterTest, QueueReportsTheDelayAndDoesNotWait) {
  limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 2}).value());
  EXPECT_EQ(check().delay, 0s);
  EXPECT_EQ(check().delay, 10s);
  EXPECT_EQ(check().charged_at, first_instant + 20s);
  EXPECT_FALSE(check());
}

TEST_F(LimiterTest, ClockThatStepsBackNeitherRefillsNorTraps) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    std::ignore = check(3);
    for (const Instant earlier : {first_instant - 1s, first_instant - 1h, Instant::min()}) {
      clock_->set(earlier);
      EXPECT_FALSE(check()) << name_of(limit.algorithm());
    }
    clock_->set(first_instant + std::chrono::years{100});
    EXPECT_TRUE(check(3)) << name_of(limit.algorithm());
    clock_->set(first_instant);
  }
}

TEST_F(LimiterTest, MovedLimiterRemembersItsUsage) {
  std::ignore = check(4);
  Limiter moved = std::move(limiter_);
  EXPECT_EQ(moved.peek(Cost{0}).remaining, 1U);
  limiter_ = std::move(moved);
  EXPECT_EQ(remaining(), 1U);
}

TEST(Limiter, MissingClockIsRejectedByName) {
  const auto refused = Limiter::create(Limit::gcra({.rate = {1, 1s}}).value(), nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "clock: must not be null: pass a WallClock, or a ManualClock in a test");
}

TEST(Limiter, RunsOnTheWallClock) {
  auto limiter = Limiter::create(Limit::gcra({.rate = {1, 24h}, .burst = 2}).value(), std::make_shared<WallClock>());
  EXPECT_TRUE(limiter.value().check(Cost{2}));
  EXPECT_FALSE(limiter.value().check());
}

}  // namespace
}  // namespace weir
