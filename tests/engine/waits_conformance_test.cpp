// Waits are exact on every store and for every algorithm: a lone caller that retries then is admitted, one that retries
// a microsecond earlier is not.
#include <array>
#include <string>

#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

class WaitsTest : public StoreTest {
 protected:
  const Request alone = Request::to("GET /");

  // Sends until a request is denied. Returns the denial.
  Verdict exhaust(const Request& request) {
    for (int i = 0; i < 100; ++i) {
      const Verdict verdict = send(request);
      if (!verdict.admitted) return verdict;
    }
    ADD_FAILURE() << "nothing is denied";
    return {};
  }

  void expect_admitted_after(Duration wait, const Request& request) {
    advance(wait - 1us);
    EXPECT_FALSE(passes(request)) << "a microsecond early";
    advance(1us);
    EXPECT_TRUE(passes(request));
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, WaitsTest, every_store, store_name);

// Numbers that do not divide each other.
constexpr std::array waiting_limits{"token_bucket, rate: 7/min, burst: 5", "token_bucket, rate: 1/s",
                                    "gcra, rate: 13/h, burst: 3",          "leaky_bucket, rate: 11/min, burst: 4",
                                    "leaky_bucket, rate: 7/min, queue: 3", "fixed_window, rate: 3/min",
                                    "sliding_window_log, rate: 5/min",     "sliding_window_counter, rate: 7/min"};

std::string waiting_policy(std::string_view limit) {
  return "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: " + std::string(limit) + "}]}";
}

TEST_P(WaitsTest, OneThatReturnsAtRetryAfterIsAdmittedAndNotEarlier) {
  for (const char* limit : waiting_limits) {
    SCOPED_TRACE(limit);
    load(waiting_policy(limit));
    for (int round = 0; round < 5; ++round) {
      advance(1'234'567us);
      const Verdict denied = exhaust(alone);
      ASSERT_TRUE(denied.retry_after);
      EXPECT_EQ(denied.retry_after, denied.decision.retry_after);
      expect_admitted_after(*denied.retry_after, alone);
    }
  }
}

TEST_P(WaitsTest, SoIsOneThatCostsMore) {
  for (const char* limit : waiting_limits) {
    SCOPED_TRACE(limit);
    load(waiting_policy(limit));
    const std::uint64_t most = send(Request(alone).costing(0)).decision.limit;
    if (most == 1) continue;
    advance(987'654us);
    std::ignore = exhaust(alone);
    const Verdict denied = send(Request(alone).costing(2));
    ASSERT_FALSE(denied.admitted);
    expect_admitted_after(*denied.retry_after, Request(alone).costing(2));
    EXPECT_EQ(send(Request(alone).costing(most + 1)).retry_after, std::nullopt) << "it never fits";
  }
}

// The delay is the wait in the queue. A caller with a shorter max_wait is denied with a retry_after.
TEST_P(WaitsTest, SoIsOneThatCannotWaitForItsTurn) {
  load(waiting_policy("leaky_bucket, rate: 7/min, queue: 5"));
  EXPECT_EQ(passing(alone, 3), 3);
  Request impatient = alone;
  impatient.max_wait = 5s;
  const Verdict denied = send(impatient);
  ASSERT_FALSE(denied.admitted);
  expect_admitted_after(*denied.retry_after, impatient);
}

TEST_P(WaitsTest, OfSeveralLimitsTheLongestWaitIsExact) {
  load(R"(
version: 1
limits:
  - { name: fast, consumer_key: ip, algorithm: gcra, rate: 7/s, burst: 2 }
  - { name: slow, consumer_key: ip, algorithm: sliding_window_log, rate: 3/min }
  - { name: window, consumer_key: global, algorithm: fixed_window, rate: 4/min }
)");
  for (int round = 0; round < 6; ++round) {
    const Verdict denied = exhaust(alone);
    expect_admitted_after(*denied.retry_after, alone);
  }
}

// Buckets may report a microsecond more than it takes.
TEST_P(WaitsTest, MoreIsLeftAtMoreAfterAndNotEarlier) {
  for (const char* limit : waiting_limits) {
    SCOPED_TRACE(limit);
    load(waiting_policy(limit));
    ASSERT_EQ(send(Request(alone).costing(0)).outcomes[0].decision.more_after, std::nullopt) << "all is there";
    for (int round = 0; round < 4; ++round) {
      advance(345'678us);
      const Decision decision = send(alone).outcomes[0].decision;
      if (decision.remaining == decision.limit) continue;
      ASSERT_TRUE(decision.more_after);
      const Request look = Request(alone).costing(decision.remaining + 1).only_looking();
      advance(*decision.more_after - 2us);
      EXPECT_FALSE(passes(look));
      advance(2us);
      EXPECT_TRUE(passes(look));
    }
  }
}

TEST_P(WaitsTest, ABlockedConsumerWaitsForTheEndOfTheBlock) {
  load(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: token_bucket, rate: 1/s, burst: 1, "
      "penalty: {after: 2, within: 1min, block: 10min}}]}");
  EXPECT_EQ(passing(alone, 3), 1);
  advance(30s);
  const Verdict verdict = send(alone);
  ASSERT_EQ(verdict.reason, Reason::blocked);
  EXPECT_EQ(verdict.outcomes[0].decision.more_after, 10min - 30s);
  expect_admitted_after(*verdict.retry_after, alone);
}

// Four of nine are used when a cost of six starts a block: the other five are available when it ends.
TEST_P(WaitsTest, WhatRemainsIsAvailableWhenTheBlockEnds) {
  for (const std::string limit :
       {"token_bucket, rate: 9/day", "leaky_bucket, rate: 9/day, burst: 9", "fixed_window, rate: 9/day",
        "sliding_window_log, rate: 9/day", "sliding_window_counter, rate: 9/day"}) {
    SCOPED_TRACE(limit);
    load(waiting_policy(limit + ", penalty: {after: 1, within: 1min, block: 10min}"));
    ASSERT_TRUE(passes(Request(alone).costing(4)));
    const Verdict denied = send(Request(alone).costing(6));
    EXPECT_EQ(denied.reason, Reason::exceeded);
    EXPECT_EQ(denied.outcomes[0].decision.more_after, 10min);
    const Verdict blocked = send(alone);
    EXPECT_EQ(blocked.reason, Reason::blocked);
    EXPECT_EQ(blocked.outcomes[0].decision.more_after, 10min);
    expect_admitted_after(10min, Request(alone).costing(5));
  }
}

// Nothing remains when the block ends: more is available when the limit has more.
TEST_P(WaitsTest, TheLongerWaitOfABlockAndItsLimitIsReported) {
  load(waiting_policy("token_bucket, rate: 1/h, burst: 1, penalty: {after: 1, within: 1min, block: 10min}"));
  ASSERT_TRUE(passes(alone));
  for (const Reason reason : {Reason::exceeded, Reason::blocked}) {
    const Verdict denied = send(alone);
    EXPECT_EQ(denied.reason, reason);
    EXPECT_EQ(denied.retry_after, 1h);
    EXPECT_EQ(denied.outcomes[0].decision.more_after, 1h);
  }
  advance(1h);
  EXPECT_TRUE(passes(alone));
}

class ThrottleWaitsTest : public WaitsTest {};
INSTANTIATE_TEST_SUITE_P(Stores, ThrottleWaitsTest, answering_stores, store_name);

TEST_P(ThrottleWaitsTest, OfCLThrottle) {
  load(waiting_policy("gcra, rate: 1/s"));
  const Limit limit = *Limit::gcra({{7, Duration(1min)}, 5});
  for (std::uint64_t left = 5; left-- > 0;) EXPECT_EQ(throttle("key", limit).remaining, left);
  EXPECT_EQ(throttle("another", limit).remaining, 4U);
  const Decision denied = throttle("key", limit, 2);
  ASSERT_FALSE(denied.admitted);
  advance(*denied.retry_after - 1us);
  EXPECT_FALSE(throttle("key", limit, 2).admitted);
  advance(1us);
  EXPECT_TRUE(throttle("key", limit, 2).admitted);
  EXPECT_EQ(throttle("key", limit, 6).retry_after, std::nullopt);
}

// Requests are decided in order of arrival.
TEST_P(ThrottleWaitsTest, CommandsOfOneBatchSeeEachOther) {
  load(waiting_policy("gcra, rate: 1/s"));
  const core::Gcra::Limit limit(*Limit::gcra({{1, Duration(1min)}, 20}));
  const EvaluationBatchPtr batch = evaluator_->new_batch();
  for (int i = 0; i < 24; ++i) batch->add_throttle(evaluator_->seek_throttle("k"), "k", limit, Cost{1});
  set_clocks();
  ASSERT_TRUE(batch->submit());
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(batch->throttle(i).admitted, i < 20) << i;
    EXPECT_EQ(batch->throttle(i).remaining, i < 20 ? 19 - i : 0U) << i;
  }
}

}  // namespace
}  // namespace weir::engine
