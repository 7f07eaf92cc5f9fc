// Graduated responses: the first denials are warnings, and a consumer that is denied too often is blocked.
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

class WarnFirstTest : public StoreTest {};
class PenaltyTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, WarnFirstTest, every_store, store_name);
INSTANTIATE_TEST_SUITE_P(Stores, PenaltyTest, every_store, store_name);

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

TEST_P(WarnFirstTest, FirstDenialsPassWithAWarningUncharged) {
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

TEST_P(WarnFirstTest, WarningCountsOnlyIfEveryOtherLimitAdmits) {
  load(warns);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 2), 2);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(passing(Request::to("GET /").from("203.0.113." + std::to_string(10 + i)), 2), 2);
  EXPECT_EQ(send(Request::to("GET /").from("203.0.113.1")).reason, Reason::exceeded) << "all ten are gone";
  now_ = std::chrono::ceil<std::chrono::days>(now_) + 24h;  // one of the ten is available again; soft has a new day
  EXPECT_EQ(send(Request::to("GET /").from("203.0.113.1")).reason, Reason::within);
}

TEST_P(WarnFirstTest, PeekSeesTheWarningAndDoesNotUseIt) {
  load(warns);
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(send(Request::to("GET /").only_looking()).reason, Reason::warned);
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
}

TEST_P(WarnFirstTest, EachConsumerHasItsOwnWarnings) {
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

TEST_P(PenaltyTest, ConsumerDeniedTooOftenIsBlockedUntilTheBlockEnds) {
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

TEST_P(PenaltyTest, BlockIsNotExtendedAndItsEndIsExact) {
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
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded) << "one denial after the block does not block again";
}

TEST_P(PenaltyTest, DenialsSpreadOverMoreThanTheStretchDoNotBlock) {
  load(blocks);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(passes(Request::to("GET /")));
    EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded);
    advance(30s);  // two in any minute
  }
}

TEST_P(PenaltyTest, OthersAreNotBlocked) {
  load(blocks);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 9), 1);
  EXPECT_TRUE(passes(Request::to("GET /").from("203.0.113.2")));
}

TEST_P(PenaltyTest, PeekNeverCountsTowardABlock) {
  load(blocks);
  EXPECT_TRUE(passes(Request::to("GET /")));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(send(Request::to("GET /").only_looking()).reason, Reason::exceeded);
  advance(1s);
  EXPECT_TRUE(passes(Request::to("GET /")));
}

TEST_P(PenaltyTest, LongerWaitOfTheLimitItselfIsReported) {
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

// The blocks of the maximum number of limits are checked together with them.
TEST_P(PenaltyTest, AsManyLimitsAsAreDecidedTogetherMayHaveOne) {
  std::string text = "version: 1\nlimits:\n";
  for (int i = 0; i < 60; ++i) {
    text += "  - { name: l" + std::to_string(i) +
            ", consumer_key: ip, algorithm: gcra, rate: 1/h, burst: " + std::to_string(i == 31 ? 1 : 100) +
            ", penalty: { after: 2, within: 1min, block: 2h } }\n";
  }
  load(text);
  EXPECT_TRUE(passes(Request::to("GET /")));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(Request::to("GET /")).reason, Reason::exceeded);
  const Verdict blocked = send(Request::to("GET /"));
  EXPECT_EQ(blocked.reason, Reason::blocked);
  EXPECT_EQ(limit_of(blocked), "l31");
  EXPECT_EQ(blocked.retry_after, 2h);
}

}  // namespace
}  // namespace weir::engine
