// Graduated responses: the first few denials are warnings, and who is denied too often is blocked.
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

using WarnFirstTest = EngineTest;
using PenaltyTest = EngineTest;

constexpr auto warns = R"(
version: 1
limits:
  - name: soft
    consumer_key: ip
    algorithm: fixed_window
    rate: 2/day
    warn_first: { count: 3, per: 1h }
  - { name: all, consumer_key: global, algorithm: token_bucket, rate: 1/day, burst: 10 }
)";

TEST_F(WarnFirstTest, FirstDenialsPassWithAWarningUncharged) {
  load(warns);
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  for (int i = 0; i < 3; ++i) {
    const Verdict verdict = send(Request::to("GET /"));
    EXPECT_TRUE(verdict.admitted);
    EXPECT_EQ(verdict.reason, Reason::warned);
    EXPECT_EQ(limit_of(verdict), "soft");
    EXPECT_EQ(verdict.outcomes[1].decision.remaining, 10U - 3 - static_cast<unsigned>(i)) << "the other is charged";
  }
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded);
  EXPECT_EQ(total(Event::warned), 3U);
  advance(1h);
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::warned) << "an hour later there are warnings again";
}

TEST_F(WarnFirstTest, WarningCountsOnlyIfEveryOtherLimitAdmits) {
  load(warns);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 2), 2);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(passing(Request::to("GET /").from("203.0.113." + std::to_string(10 + i)), 2), 2);
  EXPECT_EQ(send(Request::to("GET /").from("203.0.113.1")).reason, Reason::exceeded) << "all ten are gone";
  now_ = std::chrono::ceil<std::chrono::days>(now_) + 24h;  // one of the ten is back; soft has a new day
  EXPECT_EQ(send(Request::to("GET /").from("203.0.113.1")).reason, Reason::within);
}

TEST_F(WarnFirstTest, PeekSeesTheWarningAndDoesNotUseIt) {
  load(warns);
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(send(Request::to("GET /").only_looking()).reason, Reason::warned);
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
}

TEST_F(WarnFirstTest, EachConsumerHasItsOwnWarnings) {
  load(warns);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 9), 2 + 3);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.2"), 9), 2 + 3);
}

constexpr auto blocks = R"(
version: 1
limits:
  - name: login
    consumer_key: ip
    algorithm: token_bucket
    rate: 1/s
    burst: 1
    penalty: { after: 3, within: 1min, block: 10min }
)";

TEST_F(PenaltyTest, ConsumerDeniedTooOftenIsBlockedUntilTheBlockEnds) {
  load(blocks);
  EXPECT_TRUE(passes(Request::to("GET /")));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded);
  advance(5s);  // the bucket is full again
  const Verdict blocked = send(Request::to("GET /"));
  EXPECT_FALSE(blocked.admitted);
  EXPECT_EQ(blocked.reason, Reason::blocked);
  EXPECT_EQ(limit_of(blocked), "login");
  EXPECT_EQ(blocked.retry_after, 10min - 5s);
  EXPECT_EQ(blocked.decision.remaining, 0U);
}

TEST_F(PenaltyTest, BlockIsNotExtendedAndItsEndIsExact) {
  load(blocks);
  EXPECT_EQ(passing(Request::to("GET /"), 4), 1);
  for (int i = 0; i < 100; ++i) {
    advance(1s);
    EXPECT_FALSE(passes(Request::to("GET /")));
  }
  const Duration wait = *send(Request::to("GET /")).retry_after;
  EXPECT_EQ(wait, 10min - 100s);
  advance(wait - 1us);
  EXPECT_FALSE(passes(Request::to("GET /")));
  advance(1us);
  EXPECT_TRUE(passes(Request::to("GET /")));
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded) << "one denial after the block blocks nobody";
}

TEST_F(PenaltyTest, DenialsSpreadOverMoreThanTheStretchDoNotBlock) {
  load(blocks);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(passes(Request::to("GET /")));
    EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded);
    advance(30s);  // two in any minute
  }
}

TEST_F(PenaltyTest, OthersAreNotBlocked) {
  load(blocks);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 9), 1);
  EXPECT_TRUE(passes(Request::to("GET /").from("203.0.113.2")));
}

TEST_F(PenaltyTest, PeekNeverCountsTowardABlock) {
  load(blocks);
  EXPECT_TRUE(passes(Request::to("GET /")));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(send(Request::to("GET /").only_looking()).reason, Reason::exceeded);
  advance(1s);
  EXPECT_TRUE(passes(Request::to("GET /")));
}

TEST_F(PenaltyTest, LongerWaitOfTheLimitItselfIsTold) {
  load(R"(
version: 1
limits:
  - name: a
    consumer_key: ip
    algorithm: token_bucket
    rate: 1/h
    burst: 1
    penalty: { after: 1, within: 1min, block: 10min }
)");
  EXPECT_TRUE(passes(Request::to("GET /")));
  EXPECT_FALSE(passes(Request::to("GET /")));
  const Verdict blocked = send(Request::to("GET /"));
  EXPECT_EQ(blocked.reason, Reason::blocked);
  EXPECT_EQ(blocked.retry_after, 1h);
}

}  // namespace
}  // namespace weir::engine
