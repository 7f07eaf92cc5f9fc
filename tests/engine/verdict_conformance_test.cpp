// Verdicts: all or nothing, the deciding limit, what remains, when to retry.
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

constexpr auto two_limits = R"(
version: 1
limits:
  - { name: small, consumer_key: ip, algorithm: token_bucket, rate: 1/min, burst: 2 }
  - { name: large, consumer_key: global, algorithm: token_bucket, rate: 1/s, burst: 10 }
)";

class VerdictTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, VerdictTest, every_store, store_name);

TEST_P(VerdictTest, RequestDeniedByOneLimitIsChargedToNone) {
  load(two_limits);
  const Request alice = Request::to("GET /").from("203.0.113.1");
  EXPECT_EQ(passing(alice, 5), 2);
  EXPECT_EQ(send(Request::to("GET /").from("203.0.113.2")).outcomes[1].decision.remaining, 7U);
}

TEST_P(VerdictTest, AdmittedNamesTheLimitWithTheLeastLeftRelativeToItsSize) {
  load(two_limits);
  const Verdict verdict = send(Request::to("GET /"));
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.reason, Reason::within);
  EXPECT_EQ(limit_of(verdict), "small");  // 1 of 2 against 9 of 10
  EXPECT_EQ(verdict.decision.remaining, 1U);
  EXPECT_EQ(verdict.decision.limit, 2U);
}

TEST_P(VerdictTest, DeniedNamesTheLimitWithTheLongestWait) {
  load(R"(
version: 1
limits:
  - { name: second, consumer_key: global, algorithm: gcra, rate: 1/s, burst: 1 }
  - { name: minute, consumer_key: global, algorithm: gcra, rate: 1/min, burst: 1 }
  - { name: hour, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 5 }
)");
  EXPECT_TRUE(passes(Request::to("GET /")));
  const Verdict denied = send(Request::to("GET /"));
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.reason, Reason::exceeded);
  EXPECT_EQ(limit_of(denied), "minute");
  EXPECT_EQ(denied.retry_after, 60s);
}

TEST_P(VerdictTest, LoneCallerIsAdmittedAfterTheWaitAndNotOneMicrosecondEarlier) {
  load(two_limits);
  EXPECT_EQ(passing(Request::to("GET /"), 3), 2);
  const Duration wait = *send(Request::to("GET /")).retry_after;
  advance(wait - 1us);
  EXPECT_FALSE(passes(Request::to("GET /")));
  advance(1us);
  EXPECT_TRUE(passes(Request::to("GET /")));
}

TEST_P(VerdictTest, OfEqualWaitsTheFirstInTheFileDecides) {
  load(R"(
version: 1
limits:
  - { name: one, consumer_key: global, algorithm: gcra, rate: 1/min, burst: 1 }
  - { name: two, consumer_key: global, algorithm: gcra, rate: 1/min, burst: 1 }
)");
  EXPECT_TRUE(passes(Request::to("GET /")));
  EXPECT_EQ(limit_of(send(Request::to("GET /"))), "one");
}

TEST_P(VerdictTest, CostThatNeverFitsIsDeniedWithoutAWait) {
  load(two_limits);
  const Verdict verdict = send(Request::to("GET /").costing(3));
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.retry_after, std::nullopt);
  EXPECT_EQ(limit_of(verdict), "small");
}

TEST_P(VerdictTest, PeekAnswersAsAskingWouldAndChargesNothing) {
  load(two_limits);
  for (int i = 0; i < 5; ++i) {
    const Verdict verdict = send(Request::to("GET /").only_looking());
    EXPECT_TRUE(verdict.admitted);
    EXPECT_EQ(verdict.decision.remaining, 1U);
  }
  EXPECT_EQ(passing(Request::to("GET /"), 3), 2);
  EXPECT_FALSE(passes(Request::to("GET /").only_looking()));
  EXPECT_EQ(total(Event::admitted), 2U * 2U) << "peeks are not counted";
}

TEST_P(VerdictTest, UncoveredRequestPassesWithItsReason) {
  load(R"(
version: 1
limits:
  - { name: login, routes: [POST /login], consumer_key: ip, algorithm: gcra, rate: 1/min }
)");
  const Verdict verdict = send(Request::to("GET /login"));
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.reason, Reason::uncovered);
  EXPECT_EQ(verdict.limit, Verdict::no_limit);
  EXPECT_EQ(verdict.route, "other");
  EXPECT_EQ(send(Request::to("POST /login")).route, "POST /login");
}

TEST_P(VerdictTest, LongestDelayOfTheQueuesIsTheDelay) {
  load(R"(
version: 1
limits:
  - { name: fast, consumer_key: global, algorithm: leaky_bucket, rate: 10/s, queue: 5 }
  - { name: slow, consumer_key: global, algorithm: leaky_bucket, rate: 2/s, queue: 5 }
)");
  EXPECT_EQ(send(Request::to("GET /")).delay, 0s);
  EXPECT_EQ(send(Request::to("GET /")).delay, 500ms);
  Request impatient = Request::to("GET /");
  impatient.max_wait = 700ms;
  const Verdict denied = send(impatient);
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(limit_of(denied), "slow");
  EXPECT_EQ(send(Request::to("GET /")).delay, 1s) << "the impatient one was charged nothing";
}

TEST_P(VerdictTest, BatchEqualsItsQueriesInOrder) {
  load(two_limits);
  const auto reference = Engine::create(ruleset_of(two_limits), {.memory_budget = 64U << 20, .hash_key = {}});
  const auto one_by_one = (*reference)->new_evaluator();
  std::vector<std::unique_ptr<Asked>> asked;
  std::vector<Query> queries;
  for (int i = 0; i < 50; ++i) {
    asked.push_back(std::make_unique<Asked>(Request::to("GET /").from("203.0.113." + std::to_string(i % 7))));
    queries.push_back(asked.back()->query());
  }
  std::vector<Verdict> verdicts(queries.size());
  set_clocks();
  evaluator_->evaluate(queries, now_, verdicts);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Verdict expected = one_by_one->evaluate(queries[i], now_);
    EXPECT_EQ(verdicts[i].admitted, expected.admitted) << i;
    EXPECT_EQ(verdicts[i].decision, expected.decision) << i;
    ASSERT_EQ(verdicts[i].outcomes.size(), 2U) << i;
    EXPECT_EQ(verdicts[i].outcomes[1].decision, expected.outcomes[1].decision) << i;
  }
}

TEST_P(VerdictTest, MoreLimitsThanAreDecidedTogetherDeny) {
  std::string text = "version: 1\nlimits:\n";
  for (int i = 0; i < 65; ++i) {
    // Each route matches `GET /a/b`, but no single route shows the loader that they all overlap.
    text += "  - { name: l" + std::to_string(i) + ", routes: [" + (i % 2 == 0 ? "'/{x}/b'" : "'/a/{x}'") +
            "], consumer_key: global, algorithm: gcra, rate: 100/s }\n";
  }
  load(text);
  const Verdict verdict = send(Request::to("GET /a/b"));
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.reason, Reason::too_many_limits);
  EXPECT_EQ(verdict.retry_after, std::nullopt);
  EXPECT_TRUE(passes(Request::to("GET /a/c")));
}

TEST(Verdict, PolicyWithTooManyLimitsOnOneRouteIsRejected) {
  std::string text = "version: 1\nlimits:\n";
  for (int i = 0; i < 65; ++i) {
    text += "  - { name: l" + std::to_string(i) + ", routes: [" + (i % 2 == 0 ? "/a/b" : "/a/**") +
            "], consumer_key: global, algorithm: gcra, rate: 100/s }\n";
  }
  const auto refused = Engine::create(ruleset_of(text), {.memory_budget = 64U << 20, .hash_key = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "limits: '/a/b' is covered by 65 limits, and at most 64 are evaluated together: let fewer limits cover it");
}

}  // namespace
}  // namespace weir::engine
