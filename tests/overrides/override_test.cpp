#include "tests/overrides/service_fixture.h"

namespace weir::overrides {
namespace {

using OverrideTest = ServiceTest;

constexpr auto raise = R"("limit":"api","consumer":"user=alice","numbers":{"rate":"600/h","burst":50},)"
                       R"("for":"24h","reason":"launch day")";

TEST_F(OverrideTest, ReplacesTheNumbersOfOneConsumer) {
  serve(bucket_policy);
  const Answer answer = put(raise);
  ASSERT_EQ(answer.status, 200U) << answer.text;
  const Verdict verdict = send(alice());
  EXPECT_EQ(verdict.decision.limit, 50U);
  EXPECT_EQ(verdict.decision.remaining, 49U);
  EXPECT_EQ(*verdict.replaced, Limit::token_bucket({{600, 1h}, 50}).value());
  EXPECT_EQ(service_->id_of(verdict.exception), ask({}).text.substr(ask({}).text.find("\"id\":\"") + 6, 18));
  const Verdict other = send(Request::to("GET /api").by("bob"));
  EXPECT_EQ(other.decision.limit, 2U);
  EXPECT_EQ(other.exception, 0U);
}

TEST_F(OverrideTest, ABurstThatFollowsFromTheRateFollowsFromTheNewRate) {
  serve(bucket_policy);
  ASSERT_EQ(put(R"("limit":"api","consumer":"alice","numbers":{"rate":"600/h"},"for":"1h","reason":"r")").status, 200U);
  EXPECT_EQ(send(alice()).decision.limit, 600U);
}

TEST_F(OverrideTest, TakesEffectAtOnceForAConsumerThatIsFarAheadAndGivesNoFreshBurst) {
  serve(bucket_policy);
  EXPECT_EQ(passing(alice(), 5), 2);
  ASSERT_EQ(put(raise).status, 200U);
  EXPECT_EQ(passing(alice(), 5), 0);
  advance(6s);  // one token at 600/h
  EXPECT_EQ(passing(alice(), 5), 1);
}

TEST_F(OverrideTest, EndsToTheMicrosecondAndLeavesTheUsage) {
  serve(window_policy);
  ASSERT_EQ(put(R"("limit":"quota","consumer":"user=alice","numbers":{"limit":5},"for":"10min","reason":"r")").status,
            200U);
  EXPECT_EQ(passing(alice(), 9), 5);
  advance(10min - 1us);
  EXPECT_EQ(send(alice()).decision.limit, 5U);
  advance(1us);
  EXPECT_EQ(send(alice()).decision.limit, 3U);
  EXPECT_EQ(passing(alice(), 9), 0);
}

TEST_F(OverrideTest, AfterAStricterOverrideTheConsumerWaitsNoLongerThanTheLimitImplies) {
  serve(R"(
limits:
  - { name: api, consumer_key: user, algorithm: token_bucket, rate: 60/min }
)");
  ASSERT_EQ(put(R"("id":"slow","limit":"api","consumer":"alice","numbers":{"rate":"1/day","burst":1},"for":"1h",)"
                R"("reason":"r")")
                .status,
            200U);
  EXPECT_EQ(passing(alice(), 3), 1);
  ASSERT_EQ(remove("slow").status, 200U);
  advance(1s);
  EXPECT_EQ(passing(alice(), 3), 1);
}

TEST_F(OverrideTest, PrecedesTheTier) {
  serve(bucket_policy);
  ASSERT_EQ(put(raise).status, 200U);
  for (const auto* tier : {"free", "pro", "partner", "banned"}) {
    EXPECT_EQ(send(alice().in_tier(tier)).decision.limit, 50U) << tier;
  }
}

TEST_F(OverrideTest, AFactorMultipliesTheNumbersOfEachTier) {
  serve(bucket_policy);
  ASSERT_EQ(put(R"("limit":"api","consumer":"alice","factor":2.5,"for":"1h","reason":"r")").status, 200U);
  EXPECT_EQ(send(alice()).decision.limit, 5U);
  EXPECT_EQ(send(alice().in_tier("pro")).decision.limit, 25U);
  EXPECT_EQ(send(alice().in_tier("partner")).reason, Reason::uncovered);
  EXPECT_EQ(send(alice().in_tier("banned")).reason, Reason::banned);
}

TEST_F(OverrideTest, UnlimitedAndBannedNeedNoNumbers) {
  serve(bucket_policy);
  ASSERT_EQ(put(R"("id":"x","limit":"api","consumer":"alice","unlimited":true,"for":"1h","reason":"r")").status, 200U);
  EXPECT_EQ(passing(alice(), 9), 9);
  EXPECT_TRUE(passes(alice().in_tier("banned")));
  ASSERT_EQ(put(R"("id":"x","limit":"api","consumer":"alice","banned":true,"for":"1h","reason":"r")").status, 200U);
  const Verdict banned = send(alice());
  EXPECT_EQ(banned.reason, Reason::banned);
  EXPECT_EQ(service_->id_of(banned.exception), "x");
  EXPECT_EQ(send(alice().in_tier("partner")).reason, Reason::banned);
}

TEST_F(OverrideTest, NumbersBeyondTheCellsOfATableMoveItsStates) {
  serve(R"(
limits:
  - { name: log, consumer_key: user, algorithm: sliding_window_log, rate: 2/h }
  - { name: fine, consumer_key: user, algorithm: token_bucket, rate: 2/h }
)");
  EXPECT_EQ(passing(alice(), 3), 2);
  ASSERT_EQ(put(R"("limit":"log","consumer":"alice","numbers":{"limit":5000},"for":"1h","reason":"r")").status, 200U);
  ASSERT_EQ(
      put(R"("limit":"fine","consumer":"alice","numbers":{"rate":"99991/s","burst":6000},"for":"1h","reason":"r")")
          .status,
      200U);
  advance(1s);
  const Verdict verdict = send(alice());
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.outcomes[0].decision.remaining, 4997U);
  EXPECT_EQ(verdict.outcomes[1].decision.remaining, 5999U);
  EXPECT_EQ(passing(Request::to("GET /api").by("bob"), 3), 2);
}

TEST_F(OverrideTest, AGrantRaisesTheLimitOfTheCurrentWindowOnly) {
  serve(window_policy);
  EXPECT_EQ(passing(alice(), 9), 3);
  const auto grant = R"("id":"g1","limit":"quota","consumer":"alice","add":2,"reason":"sorry")";
  ASSERT_EQ(put(grant).status, 200U);
  ASSERT_EQ(put(grant).status, 200U) << "the same id grants once";
  EXPECT_EQ(passing(alice(), 9), 2);
  ASSERT_EQ(put(R"("limit":"quota","consumer":"alice","add":4,"reason":"sorry again")").status, 200U);
  EXPECT_EQ(passing(alice(), 9), 4);
  advance(1h);
  EXPECT_EQ(passing(alice(), 9), 3);
  expire();
  EXPECT_EQ(list(), R"({"version":4,"overrides":[],"next":null})");
}

TEST_F(OverrideTest, AGrantAddsToAnOverride) {
  serve(window_policy);
  ASSERT_EQ(
      put(R"("id":"o","limit":"quota","consumer":"alice","numbers":{"limit":10},"for":"1day","reason":"r")").status,
      200U);
  ASSERT_EQ(put(R"("limit":"quota","consumer":"alice","add":5,"reason":"r")").status, 200U);
  EXPECT_EQ(passing(alice(), 30), 15);
  advance(1h);
  EXPECT_EQ(passing(alice(), 30), 10);
}

TEST_F(OverrideTest, AnotherPolicyResolvesItAgain) {
  serve(bucket_policy);
  ASSERT_EQ(put(R"("id":"x","limit":"api","consumer":"alice","factor":2,"permanent":true,"reason":"r")").status, 200U);
  change_policy("limits:\n  - { name: api, consumer_key: user, algorithm: token_bucket, rate: 7/h }\n");
  EXPECT_EQ(send(alice()).decision.limit, 14U);
  change_policy("limits:\n  - { name: other, consumer_key: user, algorithm: token_bucket, rate: 7/h }\n");
  EXPECT_EQ(send(alice()).decision.limit, 7U);
  EXPECT_NE(list().find(R"("inactive":"limit 'api': unknown)"), std::string::npos) << list();
  change_policy(bucket_policy);
  EXPECT_EQ(send(alice()).decision.limit, 4U);
  EXPECT_NE(list().find(R"("inactive":null)"), std::string::npos) << list();
}

TEST_F(OverrideTest, APeekAndANamedQuerySeeIt) {
  serve(bucket_policy);
  ASSERT_EQ(put(raise).status, 200U);
  EXPECT_EQ(send(engine::NamedQuery{.limit = "api", .consumer = "alice", .peek = true})->decision.limit, 50U);
  EXPECT_EQ(send(engine::NamedQuery{.limit = "api", .consumer = "bob"})->decision.limit, 2U);
}

}  // namespace
}  // namespace weir::overrides
