// Candidates and shadow limits are evaluated alongside the live limits, on their own states, and never enforced.
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

class CandidateTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, CandidateTest, answering_stores, store_name);

constexpr auto tighter_candidate = R"(
version: 1
limits:
  - name: api
    consumer_key: ip
    algorithm: token_bucket
    rate: 1/h
    burst: 4
    candidate: { burst: 2 }
)";

TEST_P(CandidateTest, TighterCandidateIsReportedAndDeniesNothing) {
  load(tighter_candidate);
  std::vector<Divergence> seen;
  for (int i = 0; i < 6; ++i) seen.push_back(send(Request::to("GET /")).outcomes[0].divergence());
  using enum Divergence;
  EXPECT_EQ(seen, (std::vector{agrees, agrees, newly_denied, newly_denied, agrees, agrees}));
  EXPECT_EQ(total(Event::admitted), 4U);
  EXPECT_EQ(total(Event::candidate_agrees), 4U);
  EXPECT_EQ(total(Event::candidate_newly_denied), 2U);
}

TEST_P(CandidateTest, LooserCandidateIsChargedWhereItsLiveLimitDenies) {
  load(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 1, candidate: {burst: "
      "3}}]}");
  std::vector<Divergence> seen;
  for (int i = 0; i < 5; ++i) seen.push_back(send(Request::to("GET /")).outcomes[0].divergence());
  using enum Divergence;
  EXPECT_EQ(seen, (std::vector{agrees, newly_admitted, newly_admitted, agrees, agrees}));
}

TEST_P(CandidateTest, CandidateIsNotChargedForWhatAnotherLimitDenies) {
  load(R"(
version: 1
limits:
  - { name: api, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 9, candidate: { burst: 2 } }
  - { name: listener, consumer_key: header:Listener, missing: skip, algorithm: gcra, rate: 1/h, burst: 1 }
)");
  EXPECT_TRUE(passes(Request::to("GET /").with("Listener", "1")));
  for (int i = 0; i < 9; ++i) {
    const Verdict denied = send(Request::to("GET /").with("Listener", "1"));
    EXPECT_FALSE(denied.admitted);
    EXPECT_EQ(denied.outcomes[0].candidate, std::nullopt);
  }
  EXPECT_EQ(send(Request::to("GET /")).outcomes[0].candidate->remaining, 0U);
}

TEST_P(CandidateTest, CandidateOfAnotherAlgorithm) {
  load(R"(
version: 1
limits:
  - { name: a, consumer_key: ip, algorithm: fixed_window, rate: 2/min, candidate: { algorithm: sliding_window_log } }
)");
  now_ = std::chrono::ceil<std::chrono::minutes>(now_) + 59s;
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  advance(1s);
  EXPECT_EQ(send(Request::to("GET /")).outcomes[0].divergence(), Divergence::newly_denied);
}

TEST_P(CandidateTest, AffectedConsumersAreEstimated) {
  load(tighter_candidate);
  for (int client = 0; client < 200; ++client) {
    const std::string ip = "203.0." + std::to_string(client) + ".1";
    EXPECT_EQ(passing(Request::to("GET /").from(ip), client % 2 == 0 ? 4 : 2), client % 2 == 0 ? 4 : 2);
  }
  const auto consumers = [&] { return bindings().limits()[0].consumers->estimate(now_); };
  const auto newly_denied = [&] { return bindings().limits()[0].diverging->newly_denied.estimate(); };
  EXPECT_NEAR(static_cast<double>(newly_denied()), 100, 10);
  EXPECT_NEAR(static_cast<double>(consumers()), 200, 20);
  EXPECT_EQ(bindings().limits()[0].diverging->newly_admitted.estimate(), 0U);
  reload(tighter_candidate);
  EXPECT_NEAR(static_cast<double>(newly_denied()), 100, 10) << "the same candidate goes on";
  reload(
      "{version: 1, limits: [{name: api, consumer_key: ip, algorithm: token_bucket, rate: 1/h, burst: 4, "
      "candidate: {burst: 3}}]}");
  EXPECT_EQ(newly_denied(), 0U) << "another candidate begins anew";
  EXPECT_NEAR(static_cast<double>(consumers()), 200, 20);
}

TEST_P(CandidateTest, UnlimitedTierMeetsTheCandidateThatWouldLimitIt) {
  load(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: a
    consumer_key: ip
    algorithm: gcra
    rate: 100/h
    tier_overrides: { internal: unlimited }
    candidate: { rate: 50/h, tier_overrides: { internal: { rate: 1/h, burst: 1 } } }
)");
  EXPECT_EQ(send(Request::to("GET /").in_tier("internal")).outcomes[0].divergence(), Divergence::agrees);
  const Verdict verdict = send(Request::to("GET /").in_tier("internal"));
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.outcomes[0].divergence(), Divergence::newly_denied);
}

class ShadowLimitTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, ShadowLimitTest, every_store, store_name);

TEST_P(ShadowLimitTest, CountsAndNeverDenies) {
  load(R"(
version: 1
limits:
  - { name: live, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 5 }
  - { name: shadow, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 2, mode: shadow }
)");
  EXPECT_EQ(passing(Request::to("GET /"), 9), 5);
  EXPECT_EQ(total(Event::shadow_denied), 3U + 4U);
  const Verdict verdict = send(Request::to("GET /").from("203.0.113.2"));
  EXPECT_EQ(limit_of(verdict), "live") << "shadow limits are not reported to clients";
}

TEST_P(ShadowLimitTest, IsChargedOnlyForWhatTheLiveVerdictAdmits) {
  load(R"(
version: 1
limits:
  - { name: live, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 1 }
  - { name: shadow, consumer_key: global, algorithm: gcra, rate: 1/h, burst: 100, mode: shadow }
)");
  EXPECT_EQ(passing(Request::to("GET /"), 9), 1);
  EXPECT_EQ(send(Request::to("GET /")).outcomes[1].decision.remaining, 99U - 1U)
      << "a look at what one more would leave";
}

TEST_P(ShadowLimitTest, WithoutAKeyDeniesNothing) {
  load(
      "{version: 1, limits: [{name: a, consumer_key: user, missing: deny, mode: shadow, algorithm: gcra, rate: 1/h}]}");
  EXPECT_TRUE(passes(Request::to("GET /")));
}

}  // namespace
}  // namespace weir::engine
