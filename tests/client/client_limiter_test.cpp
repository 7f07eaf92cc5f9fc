// ClientLimiter, row by row: the server's response -> when the next request is sent.
#include "weir/client_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {
namespace {

using namespace std::chrono_literals;
using Answer = ClientLimiter::Answer;

const Instant start = std::chrono::sys_days{std::chrono::year{1994} / 11 / 6} + 8h + 49min + 37s;
const Instant far = start + std::chrono::years{1000};

// Time that jumps to the end of every wait, so that one thread can wait. Tests may act in between.
class JumpingClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return now_; }

  void wait_until(Instant until, std::stop_token) const override {
    ++waits;
    if (while_waiting) std::exchange(while_waiting, nullptr)();
    now_ = std::max(now_, until);
  }

  void advance(Duration by) { now_ += by; }

  mutable int waits = 0;
  mutable std::function<void()> while_waiting;  // once

 private:
  mutable Instant now_ = start;
};

const Limit generous = Limit::gcra({.rate = {1'000'000, 1s}, .burst = 1'000'000}).value();
const Limit one_a_second = Limit::gcra({.rate = {1, 1s}, .burst = 2}).value();

class ClientLimiterTest : public testing::Test {
 protected:
  void limit_to(const Limit& limit) { limiter_ = ClientLimiter::create(limit, clock_).value(); }

  // When a request that can wait forever is sent, from the start; negative if it is not.
  Duration sent_at(Cost cost = Cost{1}) { return limiter_.acquire(cost, far) ? clock_->now() - start : -1us; }

  bool sends_at_once(Cost cost = Cost{1}) { return limiter_.acquire(cost, clock_->now()); }

  Duration closed_for() { return limiter_.closed_until() - clock_->now(); }

  std::shared_ptr<JumpingClock> clock_ = std::make_shared<JumpingClock>();
  ClientLimiter limiter_ = ClientLimiter::create(generous, clock_).value();
};

TEST_F(ClientLimiterTest, OwnLimitPacesBeforeAnythingIsLearned) {
  limit_to(one_a_second);
  for (const Duration expected : {0s, 0s, 1s, 2s, 3s}) EXPECT_EQ(sent_at(), expected);
}

TEST_F(ClientLimiterTest, OwnLimitOfAnyAlgorithmPaces) {
  struct Row {
    Limit limit;
    std::vector<Duration> sent;
  };
  const WindowNumbers two_in_ten{.limit = 2, .window = 10s};
  const std::vector<Row> rows{
      {Limit::token_bucket({.rate = {1, 5s}, .burst = 2}).value(), {0s, 0s, 5s, 10s}},
      {Limit::gcra({.rate = {1, 5s}, .burst = 2}).value(), {0s, 0s, 5s, 10s}},
      {Limit::leaky_bucket(BucketNumbers{.rate = {1, 5s}, .burst = 2}).value(), {0s, 0s, 5s, 10s}},
      {Limit::leaky_bucket(QueueNumbers{.rate = {1, 5s}, .queue = 3}).value(), {0s, 5s, 10s, 15s}},
      {Limit::fixed_window(two_in_ten).value(), {0s, 0s, 3s, 3s}},  // a window starts at second 40
      {Limit::sliding_window_log(two_in_ten).value(), {0s, 0s, 10s, 10s}},
      {Limit::sliding_window_counter(two_in_ten).value(), {0s, 0s, 8s, 13s}},
  };
  for (const Row& row : rows) {
    clock_ = std::make_shared<JumpingClock>();
    limit_to(row.limit);
    for (const Duration expected : row.sent) EXPECT_EQ(sent_at(), expected) << name_of(row.limit.algorithm());
  }
}

TEST_F(ClientLimiterTest, DeniedAnswerClosesTheGateUntilRetryAfter) {
  for (const std::string_view retry_after : {"60", "Sun, 06 Nov 1994 08:50:37 GMT"}) {
    clock_ = std::make_shared<JumpingClock>();
    limit_to(generous);
    limiter_.learn({.denied = true, .retry_after = retry_after});
    EXPECT_EQ(closed_for(), 60s);
    clock_->advance(60s - 1us);
    EXPECT_FALSE(sends_at_once());
    clock_->advance(1us);
    EXPECT_TRUE(sends_at_once());
    EXPECT_EQ(closed_for(), 0s);
  }
}

TEST_F(ClientLimiterTest, RetryAfterOfAnAdmittedAnswerIsNotHeeded) {
  limiter_.learn({.denied = false, .retry_after = "60"});
  EXPECT_EQ(sent_at(), 0s);
}

TEST_F(ClientLimiterTest, ExhaustedRateLimitClosesTheGateForItsTime) {
  limiter_.learn({.rate_limit = R"("default";r=0;t=30)"});
  EXPECT_EQ(closed_for(), 30s);
  EXPECT_EQ(sent_at(), 30s);
}

TEST_F(ClientLimiterTest, NoMoreIsSentThanTheServerSaysIsLeft) {
  limiter_.learn({.rate_limit = R"("default";r=3;t=30)"});
  EXPECT_EQ(closed_for(), 0s);
  for (const Duration expected : {0s, 0s, 0s, 30s, 30s, 30s, 30s}) EXPECT_EQ(sent_at(), expected);
}

TEST_F(ClientLimiterTest, CostIsTakenFromWhatIsLeft) {
  limiter_.learn({.rate_limit = R"("default";r=5;t=30)"});
  EXPECT_FALSE(sends_at_once(Cost{6}));
  EXPECT_TRUE(sends_at_once(Cost{4}));
  EXPECT_FALSE(sends_at_once(Cost{2}));
  EXPECT_TRUE(sends_at_once(Cost{1}));
  EXPECT_EQ(closed_for(), 30s);
}

TEST_F(ClientLimiterTest, OwnLimitStillPacesWhenTheServerHasMoreLeft) {
  limit_to(one_a_second);
  limiter_.learn({.rate_limit = R"("default";r=100;t=30)"});
  for (const Duration expected : {0s, 0s, 1s, 2s}) EXPECT_EQ(sent_at(), expected);
}

TEST_F(ClientLimiterTest, EveryMemberHolds) {
  limiter_.learn({.rate_limit = R"("burst";r=2;t=1, "daily";r=3;t=3600)"});
  for (const Duration expected : {0s, 0s, 1s, 3600s}) EXPECT_EQ(sent_at(), expected);
}

TEST_F(ClientLimiterTest, OrderOfArrivalDoesNotReopenTheGate) {
  const std::vector<Answer> answers{
      {.denied = true, .retry_after = "40"},   {.denied = true, .retry_after = "5"},
      {.rate_limit = R"("default";r=0;t=20)"}, {.rate_limit = R"("default";r=50;t=60)"},
      {.rate_limit = R"("default";r=1;t=50)"},
  };
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  do {
    clock_ = std::make_shared<JumpingClock>();
    limit_to(generous);
    for (const std::size_t next : order) limiter_.learn(answers[next]);
    EXPECT_EQ(sent_at(), 40s);
    EXPECT_EQ(sent_at(), 50s);
    EXPECT_EQ(sent_at(Cost{48}), 50s);
    EXPECT_EQ(sent_at(), 60s);
  } while (std::ranges::next_permutation(order).found);
}

// The request was sent on a full quota and answered late: r was computed before the others were counted.
TEST_F(ClientLimiterTest, LateAnswerGivesNothingBackThatWasSentSince) {
  limiter_.learn({.rate_limit = R"("default";r=2;t=30)"});
  EXPECT_TRUE(sends_at_once(Cost{2}));
  limiter_.learn({.rate_limit = R"("default";r=2;t=30)"});
  EXPECT_EQ(sent_at(), 30s);
}

TEST_F(ClientLimiterTest, QuotaThatGrowsAgainIsUsed) {
  limiter_.learn({.rate_limit = R"("default";r=1;t=1)"});
  EXPECT_TRUE(sends_at_once());
  clock_->advance(1s);
  limiter_.learn({.rate_limit = R"("default";r=4;t=1)"});
  EXPECT_TRUE(sends_at_once(Cost{4}));
  EXPECT_FALSE(sends_at_once());
}

TEST_F(ClientLimiterTest, FieldThatCannotBeReadIsIgnored) {
  for (const Answer& answer : {
           Answer{.denied = true},
           Answer{.denied = true, .retry_after = "soon"},
           Answer{.denied = true, .retry_after = "-5"},
           Answer{.denied = true, .retry_after = "1.5"},
           Answer{.rate_limit = R"("default";r=0;t=-1)"},
           Answer{.rate_limit = R"("default";t=30)"},
           Answer{.rate_limit = R"("default";r=0;t=30,)"},
           Answer{.rate_limit = "limit=100, remaining=0, reset=5"},
           Answer{.rate_limit = R"("default";r=0)"},  // no time is given
           Answer{.rate_limit = R"("default";r=0;t=0)"},
           Answer{.rate_limit_policy = R"("default";q=1;w=60)"},
       }) {
    limiter_.learn(answer);
    EXPECT_EQ(sent_at(), 0s) << answer.retry_after << answer.rate_limit << answer.rate_limit_policy;
  }
}

TEST_F(ClientLimiterTest, FieldThatCannotBeReadDoesNotSpoilTheOthers) {
  limiter_.learn(
      {.denied = true, .retry_after = "soon", .rate_limit = R"("default";r=0;t=30)", .rate_limit_policy = ","});
  EXPECT_EQ(sent_at(), 30s);
}

TEST_F(ClientLimiterTest, RetryAfterIsPreferredOverTheTimeUntilThereIsMore) {
  limiter_.learn({.denied = true, .retry_after = "5", .rate_limit = R"("burst";r=0;t=30, "daily";r=1;t=60)"});
  EXPECT_EQ(sent_at(), 5s);
  EXPECT_EQ(sent_at(), 60s);
}

TEST_F(ClientLimiterTest, DateThatHasPassedLeavesTheWordToRateLimit) {
  limiter_.learn(
      {.denied = true, .retry_after = "Sun, 06 Nov 1994 08:49:36 GMT", .rate_limit = R"("default";r=0;t=30)"});
  EXPECT_EQ(sent_at(), 30s);
}

TEST_F(ClientLimiterTest, BytesThatAreLeftDoNotCountRequests) {
  limiter_.learn({.rate_limit = R"("bytes";r=1;t=30)", .rate_limit_policy = R"("bytes";q=9;qu="content-bytes")"});
  EXPECT_TRUE(sends_at_once(Cost{100}));
}

TEST_F(ClientLimiterTest, NoBytesLeftClosesTheGate) {
  limiter_.learn({.rate_limit = R"("bytes";r=0;t=30)", .rate_limit_policy = R"("bytes";q=9;qu="content-bytes")"});
  EXPECT_EQ(sent_at(), 30s);
}

TEST_F(ClientLimiterTest, ExhaustedQuotaWithoutATimeClosesForTheWindowOfItsPolicy) {
  limiter_.learn({.rate_limit = R"("b";r=0)", .rate_limit_policy = R"("a";q=1;w=10, "b";q=1;w=20)"});
  EXPECT_EQ(sent_at(), 20s);
}

TEST_F(ClientLimiterTest, AbsurdlyLongWaitIsKnownToMissTheDeadlineAtOnce) {
  limiter_.learn({.denied = true, .retry_after = "99999999999999999999"});
  EXPECT_FALSE(limiter_.acquire(Cost{1}, start + std::chrono::years{60}));
  EXPECT_EQ(clock_->waits, 0);
  EXPECT_EQ(sent_at(), 2'147'483'648s);
}

TEST_F(ClientLimiterTest, RequestIsSentAtItsDeadlineButNotAfter) {
  limiter_.learn({.denied = true, .retry_after = "10"});
  EXPECT_FALSE(limiter_.acquire(Cost{1}, start + 10s - 1us));
  EXPECT_EQ(clock_->waits, 0);
  EXPECT_TRUE(limiter_.acquire(Cost{1}, start + 10s));
}

TEST_F(ClientLimiterTest, GateAndOwnLimitTogetherAreHeldAgainstTheDeadline) {
  limit_to(one_a_second);
  EXPECT_EQ(sent_at(Cost{2}), 0s);
  limiter_.learn({.denied = true, .retry_after = "1"});
  EXPECT_FALSE(limiter_.acquire(Cost{2}, start + 2s - 1us));
  EXPECT_EQ(clock_->waits, 0);
  EXPECT_EQ(sent_at(Cost{2}), 2s);
}

TEST_F(ClientLimiterTest, DeadlineThatHasPassedSendsOnlyWithoutWaiting) {
  EXPECT_TRUE(limiter_.acquire(Cost{1}, start - 1h));
  limiter_.learn({.denied = true, .retry_after = "1"});
  EXPECT_FALSE(limiter_.acquire(Cost{1}, start - 1h));
}

TEST_F(ClientLimiterTest, MissedDeadlineTakesNothing) {
  limiter_.learn({.rate_limit = R"("default";r=2;t=30)"});
  EXPECT_FALSE(sends_at_once(Cost{3}));
  EXPECT_TRUE(sends_at_once(Cost{2}));
}

TEST_F(ClientLimiterTest, CostBeyondTheOwnLimitIsRejectedAtOnceEvenAtAClosedGate) {
  limit_to(one_a_second);
  limiter_.learn({.denied = true, .retry_after = "60"});
  EXPECT_FALSE(limiter_.acquire(Cost{3}, far));
  EXPECT_EQ(clock_->waits, 0);
}

TEST_F(ClientLimiterTest, GateThatClosesWhileACallerWaitsHoldsTheCaller) {
  limit_to(one_a_second);
  EXPECT_EQ(sent_at(Cost{2}), 0s);
  clock_->while_waiting = [this] { limiter_.learn({.denied = true, .retry_after = "60"}); };
  EXPECT_EQ(sent_at(), 60s);
}

TEST_F(ClientLimiterTest, GateThatClosesWhileACallerWaitsCanMakeItMissItsDeadline) {
  limit_to(one_a_second);
  EXPECT_EQ(sent_at(Cost{2}), 0s);
  clock_->while_waiting = [this] { limiter_.learn({.denied = true, .retry_after = "60"}); };
  EXPECT_FALSE(limiter_.acquire(Cost{1}, start + 30s));
  EXPECT_EQ(clock_->waits, 1);
}

TEST_F(ClientLimiterTest, RequestedStopSendsNothingAndTakesNothing) {
  limiter_.learn({.rate_limit = R"("default";r=1;t=30)"});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(limiter_.acquire(Cost{1}, far, stop.get_token()));
  EXPECT_TRUE(sends_at_once());
}

TEST_F(ClientLimiterTest, StopWhileWaitingForATurnGivesTheTurnToTheNext) {
  limit_to(Limit::leaky_bucket(QueueNumbers{.rate = {1, 10s}, .queue = 5}).value());
  EXPECT_EQ(sent_at(), 0s);
  std::stop_source stop;
  clock_->while_waiting = [&] { stop.request_stop(); };
  EXPECT_FALSE(limiter_.acquire(Cost{1}, far, stop.get_token()));
  EXPECT_EQ(sent_at(), 10s);
}

TEST_F(ClientLimiterTest, MovedLimiterRemembersWhatItLearned) {
  limiter_.learn({.denied = true, .retry_after = "60"});
  ClientLimiter moved = std::move(limiter_);
  EXPECT_EQ(moved.closed_until(), start + 60s);
}

TEST(ClientLimiter, MissingClockIsRejectedByName) {
  const auto refused = ClientLimiter::create(generous, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "clock");
}

}  // namespace
}  // namespace weir
