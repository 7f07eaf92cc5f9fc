// acquire() of both limiters: when it returns, with what, and what it has charged.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/limiter/jumping_clock.h"
#include "tests/limiter/limits.h"
#include "weir/keyed_limiter.h"
#include "weir/limiter.h"
#include "weir/to_duration.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

const Instant first_instant{1'700'000'000s};
const Instant far = first_instant + std::chrono::years{1000};

struct One {
  Limiter limiter;

  One(const Limit& limit, std::shared_ptr<const Clock> clock)
      : limiter(Limiter::create(limit, std::move(clock)).value()) {}
  Decision check(Cost cost) { return limiter.check(cost); }
  [[nodiscard]] Decision peek(Cost cost) const { return limiter.peek(cost); }
  Decision acquire(Cost cost, auto... more) { return limiter.acquire(cost, std::move(more)...); }
};

struct OneOfMany {
  KeyedLimiter limiter;

  OneOfMany(const Limit& limit, std::shared_ptr<const Clock> clock)
      : limiter(KeyedLimiter::create(limit, std::move(clock)).value()) {}
  Decision check(Cost cost) { return limiter.check("anna", cost); }
  [[nodiscard]] Decision peek(Cost cost) const { return limiter.peek("anna", cost); }
  Decision acquire(Cost cost, auto... more) { return limiter.acquire("anna", cost, std::move(more)...); }
};

template <class Limited>
class AcquireTest : public testing::Test {
 protected:
  void limit_to(const Limit& limit) { limited_.emplace(limit, clock_); }

  // Exhausted until one second from now.
  void exhaust_one_a_second() {
    limit_to(Limit::gcra({.rate = {1, 1s}, .burst = 2}).value());
    EXPECT_TRUE(limited_->check(Cost{2}).admitted);
  }

  Decision acquire(std::uint64_t cost, Instant deadline, std::stop_token stop = {}) {
    return limited_->acquire(Cost{cost}, deadline, std::move(stop));
  }

  [[nodiscard]] Duration elapsed() const { return clock_->now() - first_instant; }
  [[nodiscard]] std::uint64_t remaining() const { return limited_->peek(Cost{0}).remaining; }

  std::shared_ptr<JumpingClock> clock_ = std::make_shared<JumpingClock>(first_instant);
  std::optional<Limited> limited_;
};

using Both = testing::Types<One, OneOfMany>;
TYPED_TEST_SUITE(AcquireTest, Both);

TYPED_TEST(AcquireTest, ReturnsAtOnceWhenThereIsRoom) {
  this->limit_to(Limit::gcra({.rate = {1, 1s}, .burst = 2}).value());
  EXPECT_TRUE(this->acquire(2, far).admitted);
  EXPECT_EQ(this->clock_->waits, 0);
  EXPECT_EQ(this->remaining(), 0U);
}

TYPED_TEST(AcquireTest, WaitsExactlyUntilItIsAdmitted) {
  this->exhaust_one_a_second();
  for (const Duration expected : {1s, 2s, 3s}) {
    const Decision decision = this->acquire(1, far);
    EXPECT_TRUE(decision.admitted);
    EXPECT_EQ(this->elapsed(), expected);
    EXPECT_EQ(decision.charged_at, this->clock_->now());
  }
}

TYPED_TEST(AcquireTest, EveryAlgorithmIsWaitedFor) {
  const WindowNumbers two_in_ten{.limit = 2, .window = 10s};
  const std::vector<std::pair<Limit, std::vector<Duration>>> rows{
      {Limit::token_bucket({.rate = {1, 5s}, .burst = 2}).value(), {0s, 0s, 5s, 10s}},
      {Limit::gcra({.rate = {1, 5s}, .burst = 2}).value(), {0s, 0s, 5s, 10s}},
      {Limit::leaky_bucket(BucketNumbers{.rate = {1, 5s}, .burst = 2}).value(), {0s, 0s, 5s, 10s}},
      {Limit::leaky_bucket(QueueNumbers{.rate = {1, 5s}, .queue = 3}).value(), {0s, 5s, 10s, 15s}},
      {Limit::fixed_window(two_in_ten).value(), {0s, 0s, 10s, 10s, 20s}},
      {Limit::sliding_window_log(two_in_ten).value(), {0s, 0s, 10s, 10s, 20s}},
      {Limit::sliding_window_counter(two_in_ten).value(), {0s, 0s, 15s, 20s}},
  };
  for (const auto& [limit, times] : rows) {
    this->clock_ = std::make_shared<JumpingClock>(first_instant);
    this->limit_to(limit);
    for (const Duration expected : times) {
      EXPECT_TRUE(this->acquire(1, far).admitted);
      EXPECT_EQ(this->elapsed(), expected) << name_of(limit.algorithm());
    }
  }
}

TYPED_TEST(AcquireTest, AdmissionAtTheDeadlineIsInTimeAndAMicrosecondLaterIsNot) {
  this->exhaust_one_a_second();
  const Decision late = this->acquire(1, first_instant + 1s - 1us);
  EXPECT_FALSE(late.admitted);
  EXPECT_EQ(late.retry_after, 1s);
  EXPECT_EQ(this->clock_->waits, 0);
  EXPECT_TRUE(this->acquire(1, first_instant + 1s).admitted);
  EXPECT_EQ(this->elapsed(), 1s);
}

TYPED_TEST(AcquireTest, DenialForTheDeadlineTakesNothing) {
  this->limit_to(Limit::gcra({.rate = {1, 1s}, .burst = 3}).value());
  EXPECT_TRUE(this->acquire(2, far).admitted);
  EXPECT_FALSE(this->acquire(3, first_instant + 1s).admitted);
  EXPECT_EQ(this->remaining(), 1U);
}

TYPED_TEST(AcquireTest, DeadlineThatHasPassedAdmitsOnlyWithoutWaiting) {
  this->exhaust_one_a_second();
  EXPECT_FALSE(this->acquire(1, Instant::min()).admitted);
  this->clock_->advance(1s);
  EXPECT_TRUE(this->acquire(1, Instant::min()).admitted);
  EXPECT_EQ(this->clock_->waits, 0);
}

TYPED_TEST(AcquireTest, CostThatCanNeverFitIsDeniedAtOnce) {
  this->exhaust_one_a_second();
  const Decision never = this->acquire(3, Instant::max());
  EXPECT_FALSE(never.admitted);
  EXPECT_EQ(never.retry_after, std::nullopt);
  EXPECT_EQ(this->clock_->waits, 0);
}

TYPED_TEST(AcquireTest, RequestedStopIsDeniedAndTakesNothing) {
  this->limit_to(Limit::gcra({.rate = {1, 1s}, .burst = 2}).value());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(this->acquire(1, far, stop.get_token()).admitted);
  EXPECT_EQ(this->remaining(), 2U);
}

TYPED_TEST(AcquireTest, StopWhileWaitingIsDeniedAndTakesNothing) {
  this->exhaust_one_a_second();
  std::stop_source stop;
  this->clock_->while_waiting = [&] { stop.request_stop(); };
  EXPECT_FALSE(this->acquire(1, far, stop.get_token()).admitted);
  EXPECT_EQ(this->elapsed(), 0s);
  this->clock_->advance(2s);
  EXPECT_EQ(this->remaining(), 2U);
}

TYPED_TEST(AcquireTest, AnOvertakenCallerWaitsAgain) {
  this->exhaust_one_a_second();
  this->clock_->while_waiting = [&] {
    this->clock_->advance(1s);
    EXPECT_TRUE(this->limited_->check(Cost{1}).admitted);
  };
  EXPECT_TRUE(this->acquire(1, far).admitted);
  EXPECT_EQ(this->elapsed(), 2s);
}

TYPED_TEST(AcquireTest, AnOvertakenCallerCanMissTheDeadline) {
  this->exhaust_one_a_second();
  this->clock_->while_waiting = [&] {
    this->clock_->advance(1s);
    EXPECT_TRUE(this->limited_->check(Cost{1}).admitted);
  };
  EXPECT_FALSE(this->acquire(1, first_instant + 1500ms).admitted);
  EXPECT_EQ(this->elapsed(), 1s);
}

TYPED_TEST(AcquireTest, CallerWithATurnReturnsAtItsTurn) {
  this->limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 2}).value());
  EXPECT_TRUE(this->limited_->check(Cost{2}).admitted);
  const Decision turn = this->acquire(1, far);
  EXPECT_TRUE(turn.admitted);
  EXPECT_EQ(turn.delay, 20s);
  EXPECT_EQ(turn.charged_at, first_instant + 20s);
  EXPECT_EQ(this->elapsed(), 20s);
}

TYPED_TEST(AcquireTest, TurnAfterTheDeadlineIsNotTaken) {
  this->limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 2}).value());
  EXPECT_TRUE(this->limited_->check(Cost{1}).admitted);
  const Decision late = this->acquire(1, first_instant + 10s - 1us);
  EXPECT_FALSE(late.admitted);
  EXPECT_EQ(this->elapsed(), 0s);
  EXPECT_EQ(this->remaining(), 2U);
  EXPECT_TRUE(this->acquire(1, first_instant + 10s).admitted);
}

TYPED_TEST(AcquireTest, FullQueueIsNotWaitedForWhenTheTurnWouldBeAfterTheDeadline) {
  this->limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 1}).value());
  EXPECT_TRUE(this->limited_->check(Cost{2}).admitted);
  EXPECT_FALSE(this->acquire(1, first_instant + 15s).admitted);
  EXPECT_EQ(this->elapsed(), 0s);
}

TYPED_TEST(AcquireTest, StopWhileWaitingForATurnGivesTheTurnBack) {
  this->limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 2}).value());
  EXPECT_TRUE(this->limited_->check(Cost{1}).admitted);
  std::stop_source stop;
  this->clock_->while_waiting = [&] { stop.request_stop(); };
  EXPECT_FALSE(this->acquire(1, far, stop.get_token()).admitted);
  EXPECT_EQ(this->remaining(), 2U);
  EXPECT_EQ(this->limited_->check(Cost{1}).delay, 10s);
}

TYPED_TEST(AcquireTest, FullQueueIsWaitedForUntilThereIsATurn) {
  this->limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 1}).value());
  EXPECT_TRUE(this->limited_->check(Cost{2}).admitted);
  const Decision turn = this->acquire(1, far);
  EXPECT_TRUE(turn.admitted);
  EXPECT_EQ(this->elapsed(), 20s);
  EXPECT_EQ(turn.charged_at, first_instant + 20s);
}

TYPED_TEST(AcquireTest, CostZeroDoesNotWaitUnlessThereIsADebt) {
  this->exhaust_one_a_second();
  EXPECT_TRUE(this->acquire(0, far).admitted);
  EXPECT_EQ(this->clock_->waits, 0);
}

// A real thread, waiting on a clock that the test moves.
TYPED_TEST(AcquireTest, ThreadThatWaitsIsWokenByTheClockAndByAStop) {
  const auto clock = std::make_shared<ManualClock>(first_instant);
  TypeParam limited(Limit::gcra({.rate = {1, 1s}, .burst = 1}).value(), clock);
  EXPECT_TRUE(limited.check(Cost{1}).admitted);
  Decision woken_by_clock;
  std::jthread waiter([&] { woken_by_clock = limited.acquire(Cost{1}, far); });
  clock->await_waiters(1);
  clock->advance(1s);
  waiter.join();
  EXPECT_TRUE(woken_by_clock.admitted);

  Decision woken_by_stop{.admitted = true};
  std::jthread other([&](std::stop_token stop) { woken_by_stop = limited.acquire(Cost{1}, far, stop); });
  clock->await_waiters(1);
  other.request_stop();
  other.join();
  EXPECT_FALSE(woken_by_stop.admitted);
}

TYPED_TEST(AcquireTest, TakesALengthOfTime) {
  this->exhaust_one_a_second();
  EXPECT_FALSE(this->limited_->acquire(Cost{1}, 999ms).admitted);
  EXPECT_EQ(this->elapsed(), 0s);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, 1s).admitted);
  EXPECT_EQ(this->elapsed(), 1s);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, std::chrono::duration<double>(1.5)).admitted);
  EXPECT_FALSE(this->limited_->acquire(Cost{1}, -1h).admitted);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, std::chrono::years::max()).admitted);
  EXPECT_EQ(this->elapsed(), 3s);
}

TYPED_TEST(AcquireTest, WithoutADeadlineWaitsForAsLongAsItTakes) {
  this->exhaust_one_a_second();
  EXPECT_TRUE(this->limited_->acquire(Cost{1}).admitted);
  EXPECT_TRUE(this->limited_->acquire(Cost{2}, std::stop_token()).admitted);
  EXPECT_EQ(this->elapsed(), 3s);
  EXPECT_FALSE(this->limited_->acquire(Cost{3}).admitted) << "never";
}

TYPED_TEST(AcquireTest, TakesADeadlineOfAnyClock) {
  this->exhaust_one_a_second();
  EXPECT_FALSE(this->limited_->acquire(Cost{1}, std::chrono::steady_clock::now() + 900ms).admitted);
  EXPECT_FALSE(this->limited_->acquire(Cost{1}, std::chrono::steady_clock::time_point::min()).admitted);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, std::chrono::steady_clock::now() + 1min).admitted);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, std::chrono::system_clock::now() + 1min).admitted);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, std::chrono::steady_clock::time_point::max()).admitted);
  EXPECT_TRUE(this->limited_->acquire(Cost{1}, std::chrono::sys_days(std::chrono::year(9999) / 1 / 1)).admitted);
  EXPECT_EQ(this->elapsed(), 4s);
}

TEST(DefaultClock, IsTheTimeOfDay) {
  const Limit limit = Limit::gcra({.rate = {1, 1h}, .burst = 1}).value();
  auto one = Limiter::create(limit).value();
  auto many = KeyedLimiter::create(limit).value();
  auto small = KeyedLimiter::create(limit, {.memory_budget = std::size_t{1} << 20}).value();
  for (const Decision& decision : {one.check(), many.check("anna"), small.check("anna")}) {
    EXPECT_TRUE(decision.admitted);
    EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - decision.charged_at), 1min);
  }
  EXPECT_FALSE(one.acquire(Cost{1}, 1ms).admitted);
}

TEST(ToDuration, RoundsDownAndSaturates) {
  EXPECT_EQ(to_duration(1999ns), 1us);
  EXPECT_EQ(to_duration(-1ns), -1us);
  EXPECT_EQ(to_duration(std::chrono::years::max()), Duration::max());
  EXPECT_EQ(to_duration(std::chrono::years::min()), Duration::min());
  EXPECT_EQ(to_duration(std::chrono::duration<double>(std::numeric_limits<double>::infinity())), Duration::max());
  EXPECT_EQ(to_duration(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), Duration::min());
}

}  // namespace
}  // namespace weir
