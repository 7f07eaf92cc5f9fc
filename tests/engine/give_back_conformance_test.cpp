// Queries that give back their cost without a receipt, like negative hits of the rate limit service.
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

constexpr auto tokens = R"(
version: 1
limits:
  - { name: bucket, routes: ["/bucket"], consumer_key: user, algorithm: token_bucket, rate: 1/s, burst: 10 }
  - { name: window, routes: ["/window"], consumer_key: user, algorithm: fixed_window, rate: 10/h }
  - { name: day, routes: ["/window"], consumer_key: user, algorithm: fixed_window, rate: 15/day }
  - { name: in-flight, routes: ["/held"], consumer_key: user, algorithm: concurrency, limit: 2, lease: 1min }
  - { name: quiet, routes: ["/quiet"], consumer_key: user, algorithm: fixed_window, rate: 10/h, mode: shadow }
  - { name: written, routes: ["/written"], consumer_key: user, algorithm: fixed_window, rate: 10/h, cost: 3 }
)";

class GiveBackTest : public StoreTest {
 protected:
  void SetUp() override { load(tokens); }

  Verdict ask(std::string_view path, std::uint64_t cost, ReceiptRequest::Action action) {
    set_clocks();
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    Query query{.path = path, .user = "alice", .cost = Cost{cost}};
    batch->add(query, ReceiptRequest{.action = action});
    EXPECT_TRUE(batch->submit(now_));
    Verdict verdict = batch->verdict(0);
    verdict.outcomes = {};
    return verdict;
  }
  bool take(std::string_view path, std::uint64_t cost) {
    return ask(path, cost, ReceiptRequest::Action::hold).admitted;
  }
  Verdict give_back(std::string_view path, std::uint64_t cost) {
    return ask(path, cost, ReceiptRequest::Action::give_back);
  }
  Verdict report(std::string_view path, std::uint64_t cost) { return ask(path, cost, ReceiptRequest::Action::report); }
};
INSTANTIATE_TEST_SUITE_P(Stores, GiveBackTest, every_store, store_name);

TEST_P(GiveBackTest, IsFlooredAtNothingUsedAndNeverDenied) {
  EXPECT_EQ(give_back("/window", 3).decision.remaining, 10U);
  EXPECT_TRUE(take("/window", 10));
  EXPECT_FALSE(take("/window", 1));
  const Verdict back = give_back("/window", 4);
  EXPECT_TRUE(back.admitted);
  EXPECT_EQ(limit_of(back), "window") << "the one with the least left";
  EXPECT_EQ(back.decision.remaining, 4U);
  EXPECT_TRUE(take("/window", 4));
  EXPECT_EQ(give_back("/window", 1'000).decision.remaining, 10U);
  EXPECT_TRUE(take("/window", 10));
  EXPECT_FALSE(take("/window", 1));
}

TEST_P(GiveBackTest, WhatWasReportedIntoDebtComesBackToo) {
  EXPECT_TRUE(take("/window", 8));
  EXPECT_TRUE(report("/window", 6).admitted);
  EXPECT_FALSE(take("/window", 0));
  EXPECT_EQ(give_back("/window", 8).decision.remaining, 4U);
}

// An estimate that is given back after its window reduces what others have charged in the next one.
TEST_P(GiveBackTest, IsExactOnlyWithinTheWindow) {
  EXPECT_TRUE(take("/window", 8));
  advance(1h);
  EXPECT_EQ(give_back("/window", 8).decision.remaining, 10U);
  EXPECT_TRUE(take("/window", 5));
  EXPECT_EQ(give_back("/window", 8).decision.remaining, 10U) << "five that another one has charged";
}

TEST_P(GiveBackTest, OfABucketOnlyWhatIsVisibleComesBack) {
  EXPECT_TRUE(take("/bucket", 10));
  advance(4s);
  EXPECT_EQ(give_back("/bucket", 10).decision.remaining, 10U);
  EXPECT_TRUE(take("/bucket", 10));
  EXPECT_FALSE(take("/bucket", 1));
}

TEST_P(GiveBackTest, EndsTheOldestHolds) {
  EXPECT_TRUE(take("/held", 500)) << "of which it takes one";
  advance(10s);
  EXPECT_TRUE(take("/held", 500));
  EXPECT_FALSE(take("/held", 500));
  EXPECT_TRUE(report("/held", 500).admitted) << "holds nothing";
  EXPECT_EQ(give_back("/held", 500).decision.remaining, 1U);
  EXPECT_TRUE(take("/held", 1));
  advance(50s);
  EXPECT_FALSE(take("/held", 1)) << "the first lease would be over now, but is not held any more";
  advance(1s);
  EXPECT_FALSE(take("/held", 1));
  advance(9s);
  EXPECT_TRUE(take("/held", 1)) << "the lease of the second is over";
  EXPECT_TRUE(give_back("/held", 1).admitted);
  EXPECT_TRUE(give_back("/held", 1).admitted);
  EXPECT_EQ(give_back("/held", 1).decision.remaining, 2U);
}

TEST_P(GiveBackTest, ShadowLimitsGiveBackAndAreNotReported) {
  EXPECT_TRUE(take("/quiet", 10));
  EXPECT_EQ(limit_of(give_back("/quiet", 4)), "none");
  EXPECT_TRUE(take("/quiet", 4));
  EXPECT_EQ(total(Event::shadow_denied), 0U);
}

TEST_P(GiveBackTest, LimitWithAWrittenCostGivesBackThat) {
  EXPECT_TRUE(take("/written", 1));
  EXPECT_TRUE(take("/written", 1));
  EXPECT_EQ(give_back("/written", 1).decision.remaining, 7U);
}

class CandidateGiveBackTest : public GiveBackTest {};
INSTANTIATE_TEST_SUITE_P(Stores, CandidateGiveBackTest, answering_stores, store_name);

TEST_P(CandidateGiveBackTest, CandidatesGiveBackToo) {
  load(R"(
version: 1
limits:
  - { name: window, routes: ["/window"], consumer_key: user, algorithm: fixed_window, rate: 10/h, candidate: { rate: 6/h } }
)");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(take("/window", 6));
    EXPECT_EQ(give_back("/window", 6).decision.remaining, 10U);
  }
  EXPECT_EQ(total(Event::candidate_newly_denied), 0U);
}

}  // namespace
}  // namespace weir::engine
