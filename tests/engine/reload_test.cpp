// A reload changes the numbers of existing states, and gives no consumer a fresh burst.
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

using ReloadTest = EngineTest;

std::string one_limit(std::string_view numbers, std::string_view name = "api") {
  return "{version: 1, limits: [{name: " + std::string(name) + ", consumer_key: ip, " + std::string(numbers) + "}]}";
}

TEST_F(ReloadTest, RaiseTakesEffectAtOnceOnTheUsageAsItStands) {
  load(one_limit("algorithm: fixed_window, rate: 5/day"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 5);
  reload(one_limit("algorithm: fixed_window, rate: 8/day"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
}

TEST_F(ReloadTest, CutTakesEffectAtOnceOnTheUsageAsItStands) {
  load(one_limit("algorithm: fixed_window, rate: 8/day"));
  EXPECT_EQ(passing(Request::to("GET /"), 4), 4);
  reload(one_limit("algorithm: fixed_window, rate: 5/day"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 1);
}

struct Raise {
  const char* before;
  const char* after;
  Duration token = 1s;  // under the new numbers
};

// Each consumer takes three at once under the new numbers.
constexpr Raise raises[] = {
    {"algorithm: token_bucket, rate: 1/h, burst: 3", "algorithm: token_bucket, rate: 1/s, burst: 3"},
    {"algorithm: gcra, rate: 1/h, burst: 3", "algorithm: gcra, rate: 1/s, burst: 3"},
    {"algorithm: leaky_bucket, rate: 1/h, burst: 3", "algorithm: leaky_bucket, rate: 1/s, burst: 3"},
    {"algorithm: leaky_bucket, rate: 1/h, queue: 2", "algorithm: leaky_bucket, rate: 1/s, queue: 2"},
    {"algorithm: gcra, rate: 3600/h, burst: 10800", "algorithm: gcra, rate: 1/s, burst: 3"},  // a reduction
    {"algorithm: gcra, rate: 9973/day, burst: 3", "algorithm: gcra, rate: 1/s, burst: 3"},    // from wide cells
    {"algorithm: gcra, rate: 1/h, burst: 3", "algorithm: gcra, rate: 10007/10008s, burst: 3", 1'000'100us},  // to wide
};

TEST_F(ReloadTest, WhoHasUsedAllWaitsNoLongerThanTheNewNumbersSay) {
  for (const auto& [before, after, token] : raises) {
    SCOPED_TRACE(after);
    load(one_limit(before));
    (void)passing(Request::to("GET /"), 20'000);
    reload(one_limit(after));
    EXPECT_EQ(send(Request::to("GET /").only_looking()).decision.retry_after, token) << "from the reload on";
    const Verdict denied = send(Request::to("GET /"));
    EXPECT_FALSE(denied.admitted) << "no fresh burst";
    EXPECT_EQ(denied.decision.retry_after, token);
    advance(token - 1us);
    EXPECT_FALSE(passes(Request::to("GET /")));
    advance(1us);
    EXPECT_EQ(passing(Request::to("GET /"), 9), 1);
    advance(3 * token);
    EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
  }
}

TEST_F(ReloadTest, SoItIsForACandidateThatBecomesTheLimit) {
  load(one_limit("algorithm: fixed_window, rate: 9/day, candidate: { algorithm: gcra, rate: 1/h, burst: 3 }"));
  EXPECT_EQ(passing(Request::to("GET /"), 5), 5);
  reload(one_limit("algorithm: gcra, rate: 1/s, burst: 3"));
  EXPECT_EQ(send(Request::to("GET /")).decision.retry_after, Duration{1s});
  advance(1s);
  EXPECT_EQ(passing(Request::to("GET /"), 9), 1);
}

TEST_F(ReloadTest, SoItIsWhereSeveralLimitsAreDecidedTogether) {
  const auto two = [](std::string_view first) {
    return "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, " + std::string(first) +
           "}, {name: b, consumer_key: ip, algorithm: gcra, rate: 1/min, burst: 100}]}";
  };
  load(two("rate: 1/h, burst: 3"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
  reload(two("rate: 1/s, burst: 3"));
  EXPECT_EQ(send(Request::to("GET /")).decision.retry_after, Duration{1s});
  advance(1s);
  EXPECT_EQ(passing(Request::to("GET /"), 9), 1);
}

TEST_F(ReloadTest, ABlockIsServedAsItWasGiven) {
  const auto blocking = [](std::string_view block) {
    return one_limit(
        "algorithm: gcra, rate: 1/s, burst: 1, penalty: {after: 1, within: 1min, block: " + std::string(block) + "}");
  };
  load(blocking("10min"));
  EXPECT_EQ(passing(Request::to("GET /"), 2), 1);
  reload(blocking("1min"));
  advance(10min - 1us);
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::blocked);
  advance(1us);
  EXPECT_TRUE(passes(Request::to("GET /")));
}

// A consumer may use several tiers, as with two API keys: using one frees nothing in the other.
TEST_F(ReloadTest, AnotherTierOfTheSamePolicyForgivesNothing) {
  load(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: api, consumer_key: ip, algorithm: gcra, rate: 3/day, burst: 3,
      tier_overrides: { pro: { rate: 60/min, burst: 10 } } }
)");
  const auto free = Request::to("GET /").in_tier("free");
  const auto pro = Request::to("GET /").in_tier("pro");
  EXPECT_EQ(passing(free, 9), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(passes(pro));
    EXPECT_FALSE(passes(free));
    advance(1h);
  }
}

TEST_F(ReloadTest, SamePolicyAgainGivesNoFreshBurst) {
  for (const char* numbers :
       {"algorithm: token_bucket, rate: 1/h, burst: 3", "algorithm: gcra, rate: 1/h, burst: 3",
        "algorithm: leaky_bucket, rate: 1/h, burst: 3", "algorithm: leaky_bucket, rate: 1/h, queue: 2",
        "algorithm: fixed_window, rate: 3/day", "algorithm: sliding_window_log, rate: 3/day",
        "algorithm: sliding_window_counter, rate: 3/day"}) {
    load(one_limit(numbers));
    EXPECT_EQ(passing(Request::to("GET /"), 9), 3) << numbers;
    reload(one_limit(numbers));
    EXPECT_EQ(passing(Request::to("GET /"), 9), 0) << numbers;
  }
}

// States take eight bytes each while the numbers allow it, and move to wider cells when they do not.
TEST_F(ReloadTest, NumbersThatNeedWiderCellsTakeTheUsageAlong) {
  load(one_limit("algorithm: token_bucket, rate: 1/h, burst: 3"));
  for (int client = 0; client < 500; ++client) {
    EXPECT_EQ(passing(Request::to("GET /").from("203.0.1." + std::to_string(client % 250)), 9), client < 250 ? 3 : 0);
  }
  reload(one_limit("algorithm: token_bucket, rate: 10007/day, burst: 3"));
  for (int client = 0; client < 250; ++client) {
    EXPECT_EQ(passing(Request::to("GET /").from("203.0.1." + std::to_string(client)), 9), 0);
  }
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.2.1"), 9), 3);
  reload(one_limit("algorithm: token_bucket, rate: 10007/day, burst: 4"));
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.2.1"), 9), 1);
}

TEST_F(ReloadTest, AnotherAlgorithmOrWindowIsAnotherState) {
  load(one_limit("algorithm: fixed_window, rate: 3/day"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
  reload(one_limit("algorithm: fixed_window, rate: 3/h"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
  reload(one_limit("algorithm: sliding_window_log, rate: 3/h"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
}

TEST_F(ReloadTest, CandidateThatBecomesTheLimitBringsItsUsage) {
  load(one_limit("algorithm: fixed_window, rate: 3/h, candidate: { algorithm: sliding_window_log }"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
  reload(one_limit("algorithm: sliding_window_log, rate: 3/h"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 0);
}

TEST_F(ReloadTest, CandidateThatStaysACandidateKeepsItsOwnState) {
  load(one_limit("algorithm: fixed_window, rate: 9/h, candidate: { algorithm: sliding_window_log, rate: 3/h }"));
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  reload(one_limit("algorithm: sliding_window_log, rate: 9/h, candidate: { rate: 3/h }"));
  EXPECT_EQ(passing(Request::to("GET /"), 20), 9) << "the live limit starts empty, not on the candidate's state";
}

TEST_F(ReloadTest, RenamedLimitIsAnotherLimit) {
  load(one_limit("algorithm: gcra, rate: 1/h, burst: 3"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
  reload(one_limit("algorithm: gcra, rate: 1/h, burst: 3", "other"));
  EXPECT_EQ(passing(Request::to("GET /"), 9), 3);
}

TEST_F(ReloadTest, ReloadThatFailsChangesNothing) {
  load(one_limit("algorithm: gcra, rate: 1/h, burst: 3"));
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  const std::string digest = engine_->bindings()->ruleset().digest;
  std::string too_many = "version: 1\nlimits:\n";
  for (int i = 0; i < 2000; ++i) {
    too_many += "  - { name: l" + std::to_string(i) + ", consumer_key: ip, algorithm: gcra, rate: 1/h, routes: [/" +
                std::to_string(i) + "] }\n";
  }
  const auto refused = engine_->reload(ruleset_of(too_many), SetClock(now_));
  ASSERT_FALSE(refused) << "64 MiB are not enough for 2,000 limits";
  EXPECT_EQ(refused.error().where, "memory_budget");
  EXPECT_EQ(engine_->bindings()->ruleset().digest, digest);
  EXPECT_EQ(passing(Request::to("GET /"), 9), 1);
}

TEST_F(ReloadTest, CountsGoOnOverReloads) {
  load(one_limit("algorithm: gcra, rate: 1/h, burst: 3"));
  EXPECT_EQ(passing(Request::to("GET /"), 5), 3);
  reload(one_limit("algorithm: gcra, rate: 1/h, burst: 4"));
  EXPECT_EQ(passing(Request::to("GET /"), 5), 1);
  EXPECT_EQ(total(Event::admitted), 4U);
  EXPECT_EQ(total(Event::denied), 2U + 4U);
}

TEST_F(ReloadTest, BlocksAndWarningsSurvive) {
  const std::string text =
      one_limit("algorithm: gcra, rate: 1/s, burst: 1, penalty: { after: 2, within: 1min, block: 1h }");
  load(text);
  EXPECT_EQ(passing(Request::to("GET /"), 3), 1);
  reload(text);
  advance(10s);
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::blocked);
}

TEST_F(ReloadTest, DigestNamesTheMeaning) {
  const auto a = ruleset_of(one_limit("algorithm: gcra, rate: 60/min, burst: 3"));
  const auto b = ruleset_of("# the same\n" + one_limit("burst: 3, rate: 60/min, algorithm: gcra"));
  const auto c = ruleset_of(one_limit("algorithm: gcra, rate: 60/min, burst: 4"));
  EXPECT_EQ(a->digest, b->digest);
  EXPECT_NE(a->digest, c->digest);
}

}  // namespace
}  // namespace weir::engine
