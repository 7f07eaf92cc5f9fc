// Descriptors of Envoy's rate limit service, decided by a domain in the form of envoyproxy/ratelimit.
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

constexpr auto messaging = R"(
domain: messaging
descriptors:
  - key: to
    rate_limit: { unit: day, requests_per_unit: 2, name: per-number }
    descriptors:
      - { key: kind, value: marketing, rate_limit: { unit: day, requests_per_unit: 1, name: marketing, replaces: [{ name: per-number }] } }
  - { key: to, value: "+49*", rate_limit: { unit: day, requests_per_unit: 3 }, share_threshold: true }
  - { key: to, value: "+49123", rate_limit: { unlimited: true } }
  - { key: all, rate_limit: { unit: day, requests_per_unit: 4 } }
  - { key: quiet, rate_limit: { unit: day, requests_per_unit: 1 }, shadow_mode: true }
)";

using Pairs = std::vector<std::pair<std::string, std::string>>;

class DescriptorsTest : public StoreTest {
 protected:
  struct Answer {
    bool admitted;
    std::vector<DescriptorStatus> statuses;
  };

  Answer ask(const std::vector<Pairs>& descriptors, std::uint64_t hits = 1,
             std::optional<WindowNumbers> limit_override = {}, std::string_view name = "messaging") {
    std::vector<std::vector<DescriptorEntry>> entries;
    for (const Pairs& pairs : descriptors) {
      auto& list = entries.emplace_back();
      for (const auto& [key, value] : pairs) list.push_back({key, value});
    }
    std::vector<DescriptorQuery> asks;
    for (const auto& list : entries) asks.push_back({list, Cost{hits}, limit_override});
    return evaluated(name, asks);
  }
  Answer give_back(const Pairs& pairs, std::uint64_t hits) {
    std::vector<DescriptorEntry> entries;
    for (const auto& [key, value] : pairs) entries.push_back({key, value});
    return evaluated("messaging", {{entries, Cost{hits}, {}, true}});
  }
  Answer report(const std::vector<Pairs>& descriptors, std::uint64_t hits) {
    return batched(descriptors, hits, [](EvaluationBatch& batch, auto asks) { batch.add_report("messaging", asks); });
  }
  Answer look(const std::vector<Pairs>& descriptors) {
    return batched(descriptors, 1, [](EvaluationBatch& batch, auto asks) { batch.add_peek("messaging", asks); });
  }
  template <class Add>
  Answer batched(const std::vector<Pairs>& descriptors, std::uint64_t hits, Add add) {
    std::vector<std::vector<DescriptorEntry>> entries;
    for (const Pairs& pairs : descriptors) {
      auto& list = entries.emplace_back();
      for (const auto& [key, value] : pairs) list.push_back({key, value});
    }
    std::vector<DescriptorQuery> asks;
    for (const auto& list : entries) asks.push_back({list, Cost{hits}, std::nullopt, false});
    set_clocks();
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    add(*batch, std::span<const DescriptorQuery>(asks));
    EXPECT_TRUE(batch->submit(now_));
    const auto statuses = batch->statuses(0);
    return {batch->verdict(0).admitted, {statuses.begin(), statuses.end()}};
  }
  Answer evaluated(std::string_view name, const std::vector<DescriptorQuery>& asks) {
    Answer answer{true, std::vector<DescriptorStatus>(asks.size())};
    set_clocks();
    answer.admitted = evaluator_->evaluate(name, asks, now_, answer.statuses);
    return answer;
  }
  int passing(const std::vector<Pairs>& descriptors, int count) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += ask(descriptors).admitted ? 1 : 0;
    return passed;
  }

  void SetUp() override { load(messaging); }
};

class BroughtLimitTest : public DescriptorsTest {};
INSTANTIATE_TEST_SUITE_P(Stores, DescriptorsTest, every_store, store_name);
INSTANTIATE_TEST_SUITE_P(Stores, BroughtLimitTest, answering_stores, store_name);

using enum DescriptorStatus::Kind;

TEST_P(DescriptorsTest, BareKeyHasACounterForEachValue) {
  EXPECT_EQ(passing({{{"to", "1"}}}, 5), 2);
  EXPECT_EQ(passing({{{"to", "2"}}}, 5), 2);
}

TEST_P(DescriptorsTest, ExactValueComesBeforeWildcardBeforeBareKey) {
  EXPECT_EQ(ask({{{"to", "+49123"}}}).statuses[0].kind, unlimited);
  EXPECT_EQ(ask({{{"to", "+49"}}}).statuses[0].numbers.limit, 3U);
  EXPECT_EQ(ask({{{"to", "+4"}}}).statuses[0].numbers.limit, 2U);
}

TEST_P(DescriptorsTest, SharedThresholdIsOneCounterForAllThatMatch) {
  EXPECT_TRUE(ask({{{"to", "+491"}}}).admitted);
  EXPECT_TRUE(ask({{{"to", "+492"}}}).admitted);
  EXPECT_TRUE(ask({{{"to", "+493"}}}).admitted);
  EXPECT_FALSE(ask({{{"to", "+494"}}}).admitted);
}

TEST_P(DescriptorsTest, MatchesOnlyAtTheConfiguredDepth) {
  EXPECT_EQ(ask({{{"to", "1"}, {"kind", "other"}}}).statuses[0].kind, unmatched);
  EXPECT_EQ(ask({{{"to", "1"}, {"kind", "marketing"}}}).statuses[0].kind, limited);
  EXPECT_EQ(ask({{{"kind", "marketing"}}}).statuses[0].kind, unmatched);
}

TEST_P(DescriptorsTest, AllOrNothing) {
  EXPECT_EQ(passing({{{"all", "x"}}, {{"to", "1"}}}, 9), 2);
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 2) << "what another descriptor denied was not charged here";
}

TEST_P(DescriptorsTest, StatusesAreInOrderAndSayWhatIsLeft) {
  const Answer answer = ask({{{"nothing", "x"}}, {{"to", "1"}}, {{"all", "x"}}});
  EXPECT_EQ(answer.statuses[0].kind, unmatched);
  EXPECT_EQ(answer.statuses[1].name, "per-number");
  EXPECT_EQ(answer.statuses[1].decision.remaining, 1U);
  EXPECT_EQ(answer.statuses[2].decision.remaining, 3U);
  EXPECT_EQ(answer.statuses[2].decision.reset_after, 12h);
}

TEST_P(DescriptorsTest, ReplacedLimitOfTheSameRequestIsDropped) {
  const Answer answer = ask({{{"to", "1"}}, {{"to", "1"}, {"kind", "marketing"}}});
  EXPECT_EQ(answer.statuses[0].kind, unmatched);
  EXPECT_EQ(answer.statuses[1].kind, limited);
  EXPECT_EQ(passing({{{"to", "1"}}}, 5), 2);
}

TEST_P(DescriptorsTest, ShadowModeCountsAndAdmits) {
  EXPECT_EQ(passing({{{"quiet", "x"}}}, 5), 5);
  const Answer answer = ask({{{"quiet", "x"}}});
  EXPECT_TRUE(answer.statuses[0].admitted);
  EXPECT_FALSE(answer.statuses[0].decision.admitted);
  EXPECT_EQ(total(Event::shadow_denied), 5U);
}

TEST_P(DescriptorsTest, HitsAreTheCostAndNoneOnlyLooks) {
  EXPECT_TRUE(ask({{{"all", "x"}}}, 3).admitted);
  EXPECT_TRUE(ask({{{"all", "x"}}}, 0).admitted);
  EXPECT_TRUE(ask({{{"all", "x"}}}, 1).admitted);
  EXPECT_TRUE(ask({{{"all", "x"}}}, 0).admitted) << "nothing is left, but nothing is owed";
  EXPECT_FALSE(ask({{{"all", "x"}}}, 1).admitted);
  EXPECT_TRUE(ask({{{"all", "x"}}}, 0).admitted) << "one hit that does not fit is not charged";
}

TEST_P(DescriptorsTest, HitsAboveOneThatDoNotFitAreChargedAllTheSame) {
  EXPECT_TRUE(ask({{{"all", "x"}}}, 3).admitted);
  const Answer over = ask({{{"all", "x"}}}, 2);
  EXPECT_FALSE(over.admitted);
  EXPECT_EQ(over.statuses[0].decision.remaining, 0U);
  EXPECT_FALSE(ask({{{"all", "x"}}}, 0).admitted) << "one is owed";
  EXPECT_EQ(give_back({{"all", "x"}}, 2).statuses[0].decision.remaining, 1U) << "of five that were used";
  EXPECT_TRUE(ask({{{"all", "x"}}}, 1).admitted);
  EXPECT_FALSE(ask({{{"all", "x"}}}, 1'000).admitted);
  advance(24h);
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4) << "the debt ends with its window";
}

TEST_P(DescriptorsTest, WhatFitsIsNotChargedByADeniedCallWhateverItsHits) {
  EXPECT_TRUE(ask({{{"to", "1"}}}, 1).admitted);
  const Answer denied = ask({{{"to", "1"}}, {{"all", "x"}}}, 2);
  EXPECT_FALSE(denied.admitted);
  EXPECT_FALSE(denied.statuses[0].admitted);
  EXPECT_TRUE(denied.statuses[1].admitted);
  EXPECT_EQ(denied.statuses[1].decision.remaining, 4U);
  EXPECT_FALSE(ask({{{"to", "1"}}}, 0).admitted) << "two more than one that was left";
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4);
}

TEST_P(DescriptorsTest, ShadowDescriptorCountsWhatDoesNotFitToo) {
  EXPECT_TRUE(ask({{{"quiet", "x"}}}, 3).admitted);
  const Answer looked = ask({{{"quiet", "x"}}}, 0);
  EXPECT_TRUE(looked.statuses[0].admitted);
  EXPECT_FALSE(looked.statuses[0].decision.admitted) << "two are owed";
}

TEST_P(DescriptorsTest, ReportIsNeverDeniedAndAlwaysCharged) {
  EXPECT_TRUE(ask({{{"all", "x"}}}, 4).admitted);
  const Answer reported = report({{{"all", "x"}}, {{"to", "1"}}, {{"unknown", "x"}}}, 1);
  EXPECT_TRUE(reported.admitted);
  EXPECT_TRUE(reported.statuses[0].admitted);
  EXPECT_EQ(reported.statuses[0].decision.remaining, 0U);
  EXPECT_EQ(reported.statuses[1].decision.remaining, 1U);
  EXPECT_FALSE(ask({{{"all", "x"}}}, 0).admitted);
  EXPECT_EQ(total(Event::admitted), 1U) << "reports are no requests";
}

TEST_P(DescriptorsTest, PeekReportsWhetherOneFitsAndChargesNothing) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(look({{{"all", "x"}}, {{"to", "1"}}}).admitted);
  EXPECT_TRUE(ask({{{"to", "1"}}}, 2).admitted);
  const Answer looked = look({{{"all", "x"}}, {{"to", "1"}}});
  EXPECT_FALSE(looked.admitted);
  EXPECT_TRUE(looked.statuses[0].admitted);
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4);
}

class ChargeAllTest : public DescriptorsTest {
 protected:
  std::shared_ptr<const policy::Ruleset> prepared(std::shared_ptr<const policy::Ruleset> ruleset) override {
    auto changed = std::make_shared<policy::Ruleset>(*DescriptorsTest::prepared(ruleset));
    for (policy::Domain& domain : changed->domains) domain.charges_denied = true;
    return changed;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, ChargeAllTest, every_store, store_name);

TEST_P(ChargeAllTest, DeniedCallChargesWhatFitsAsWell) {
  EXPECT_TRUE(ask({{{"to", "1"}}}, 2).admitted);
  const Answer denied = ask({{{"to", "1"}}, {{"all", "x"}}});
  EXPECT_FALSE(denied.admitted);
  EXPECT_TRUE(denied.statuses[1].admitted);
  EXPECT_EQ(denied.statuses[1].decision.remaining, 3U);
  EXPECT_EQ(passing({{{"to", "1"}}, {{"all", "x"}}}, 2), 0);
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 1);
}

TEST_P(ChargeAllTest, CallThatPassesIsChargedOnce) {
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4);
}

TEST_P(DescriptorsTest, OverrideOfNothingDeniesAndTheOthersAreLookedAt) {
  const Answer denied = ask({{{"to", "1"}}, {{"all", "x"}}}, 1, WindowNumbers{0, 1min});
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.statuses[0].numbers.limit, 0U);
  EXPECT_EQ(denied.statuses[0].decision.retry_after, std::nullopt);
  EXPECT_TRUE(ask({{{"to", "1"}}}, 0, WindowNumbers{0, 1min}).admitted) << "a look";
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4);
}

constexpr auto quotas = R"(
domain: messaging
descriptors:
  - { key: backend, value: first, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 1 }, metadata: { use: first } }
  - { key: backend, value: second, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 2 } }
  - { key: backend, value: gone, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 0 } }
  - { key: user, rate_limit: { unit: day, requests_per_unit: 9 } }
  - { key: user, value: mallory, rate_limit: { unit: day, requests_per_unit: 0 } }
)";

TEST_P(DescriptorsTest, QuotasAreOverOnlyTogether) {
  load(quotas);
  const std::vector<Pairs> call{{{"backend", "first"}}, {{"backend", "second"}}, {{"user", "alice"}}};
  const Answer both = ask(call);
  EXPECT_TRUE(both.admitted);
  EXPECT_TRUE(both.statuses[0].admitted);
  EXPECT_NE(both.statuses[0].metadata, nullptr);

  const Answer one = ask(call);
  EXPECT_TRUE(one.admitted);
  EXPECT_FALSE(one.statuses[0].admitted);
  EXPECT_TRUE(one.statuses[1].admitted);
  EXPECT_EQ(one.statuses[2].decision.remaining, 7U);

  const Answer none = ask(call);
  EXPECT_FALSE(none.admitted);
  EXPECT_FALSE(none.statuses[0].admitted);
  EXPECT_FALSE(none.statuses[1].admitted);
  EXPECT_TRUE(none.statuses[2].admitted);
  EXPECT_EQ(passing({{{"user", "alice"}}}, 9), 7) << "what is denied charges nothing";
}

TEST_P(DescriptorsTest, OrdinaryDescriptorThatIsOverChargesNoQuota) {
  load(quotas);
  EXPECT_EQ(passing({{{"user", "alice"}}}, 20), 9);
  EXPECT_FALSE(ask({{{"backend", "second"}}, {{"user", "alice"}}}).admitted);
  EXPECT_EQ(passing({{{"backend", "second"}}}, 5), 2);
}

TEST_P(DescriptorsTest, NothingPerUnitIsAlwaysOver) {
  load(quotas);
  const Answer banned = ask({{{"user", "mallory"}}, {{"backend", "second"}}});
  EXPECT_FALSE(banned.admitted);
  EXPECT_FALSE(banned.statuses[0].admitted);
  EXPECT_EQ(banned.statuses[0].decision.retry_after, std::nullopt);
  EXPECT_EQ(total(Event::denied), 1U);
  EXPECT_FALSE(ask({{{"backend", "gone"}}}).admitted) << "the only quota";
  EXPECT_EQ(passing({{{"backend", "gone"}}, {{"backend", "second"}}}, 5), 2) << "another one stands for it";
}

TEST_P(DescriptorsTest, HitsThatAreGivenBackAreFlooredAtNothingUsedAndAlwaysOk) {
  EXPECT_EQ(ask({{{"all", "x"}}}, 3).statuses[0].decision.remaining, 1U);
  const Answer back = give_back({{"all", "x"}}, 2);
  EXPECT_TRUE(back.admitted);
  EXPECT_EQ(back.statuses[0].decision.remaining, 3U);
  EXPECT_EQ(give_back({{"all", "x"}}, 100).statuses[0].decision.remaining, 4U);
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4) << "no more than the limit, however much was given back";
  EXPECT_TRUE(give_back({{"all", "x"}}, 0).admitted) << "also where nothing is left";
  EXPECT_TRUE(give_back({{"unknown", "x"}}, 5).admitted);
  advance(24h);
  EXPECT_TRUE(give_back({{"all", "x"}}, 5).admitted);
  EXPECT_EQ(passing({{{"all", "x"}}}, 9), 4) << "nothing of the old window counts in a new one";
}

TEST_P(BroughtLimitTest, AppliesInsideAConfiguredDomainAndTurnsShadowOff) {
  const WindowNumbers two_an_hour{2, 1h};
  EXPECT_TRUE(ask({{{"quiet", "x"}}}, 2, two_an_hour).admitted);
  EXPECT_FALSE(ask({{{"quiet", "x"}}}, 1, two_an_hour).admitted);
  EXPECT_TRUE(ask({{{"new", "x"}}}, 2, two_an_hour).admitted);
  EXPECT_FALSE(ask({{{"new", "x"}}}, 1, two_an_hour).admitted);
  EXPECT_EQ(ask({{{"new", "x"}}}, 1, two_an_hour, "elsewhere").statuses[0].kind, unmatched);
}

TEST_P(BroughtLimitTest, IsReportedToWithoutALimitOfThePolicy) {
  const std::vector<DescriptorEntry> entries{{"new", "x"}};
  const std::vector<DescriptorQuery> asks{{entries, Cost{3}, WindowNumbers{2, 1h}}};
  set_clocks();
  const EvaluationBatchPtr batch = evaluator_->new_batch();
  batch->add_report("messaging", asks);
  EXPECT_TRUE(batch->submit(now_));
  EXPECT_TRUE(batch->verdict(0).admitted);
  ASSERT_EQ(batch->receipt_outcomes(0).size(), 1U);
  EXPECT_EQ(batch->receipt_outcomes(0)[0].limit, std::nullopt);
  EXPECT_FALSE(ask({{{"new", "x"}}}, 0, WindowNumbers{2, 1h}).admitted) << "one is owed";
}

TEST_P(DescriptorsTest, TuplesAreNotJoined) {
  load(R"(
domain: messaging
descriptors:
  - key: a
    descriptors:
      - { key: b, rate_limit: { unit: day, requests_per_unit: 1 } }
)");
  EXPECT_TRUE(ask({{{"a", "x_b"}, {"b", "y"}}}).admitted);
  EXPECT_TRUE(ask({{{"a", "x"}, {"b", "b_y"}}}).admitted);
  EXPECT_FALSE(ask({{{"a", "x"}, {"b", "b_y"}}}).admitted);
}

TEST_P(DescriptorsTest, NoRouteReachesADescriptorsLimit) {
  EXPECT_EQ(send(Request::to("GET /")).reason, Reason::uncovered);
}

}  // namespace
}  // namespace weir::engine
