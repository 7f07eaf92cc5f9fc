// Concurrency limits, and calls that do not match a limit's `usage`.
#include <optional>
#include <vector>

#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

using Action = ReceiptRequest::Action;
using core::ReceiptResult;

constexpr auto three_at_once = R"(
version: 1
limits:
  - { name: running, consumer_key: ip, algorithm: concurrency, limit: 3, lease: 60s }
)";

class HoldsTest : public StoreTest {
 protected:
  // The answer to one call.
  struct CallAnswer {
    Verdict verdict;
    std::vector<Outcome> outcomes;
    std::optional<ReceiptParts> receipt;
    std::vector<ReceiptResult> results;
  };

  CallAnswer hold(const Request& request, const ReceiptRequest& ask = {.action = Action::hold}) {
    const Asked asked(request);
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    batch->add(asked.query(), ask);
    return answered(*batch);
  }
  std::vector<ReceiptResult> correct(const std::optional<ReceiptParts>& receipt, const ReceiptRequest& ask) {
    if (!receipt) return {};
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    batch->add(*receipt, ask);
    return answered(*batch).results;
  }
  std::vector<ReceiptResult> release(const std::optional<ReceiptParts>& receipt) {
    return correct(receipt, {.action = Action::release});
  }
  // Returns how many of `count` holds are admitted, each with the default lease.
  int holding(const Request& request, int count) {
    int held = 0;
    for (int i = 0; i < count; ++i) held += hold(request).verdict.admitted ? 1 : 0;
    return held;
  }
  store::Holdings holdings(std::string_view limit, std::string_view consumer) {
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    batch->add(NamedQuery{.limit = limit, .consumer = consumer, .peek = true, .wants_holdings = true});
    set_clocks();
    EXPECT_TRUE(batch->submit(now_));
    return batch->holdings(0);
  }

  static inline const Request one = Request::to("POST /jobs").from("192.0.2.1");
  static inline const Request other = Request::to("POST /jobs").from("192.0.2.2");
  static inline const std::vector<ReceiptResult> done{ReceiptResult::done};
  // While the store is unavailable, a hold that is not known locally may exist in the store.
  const std::vector<ReceiptResult> ended{GetParam() == Where::outage_down ? ReceiptResult::none : ReceiptResult::ended};

 private:
  CallAnswer answered(EvaluationBatch& batch) {
    set_clocks();
    EXPECT_TRUE(batch.submit(now_));
    CallAnswer answer;
    answer.verdict = batch.verdict(0);
    answer.outcomes.assign(answer.verdict.outcomes.begin(), answer.verdict.outcomes.end());
    answer.verdict.outcomes = {};
    if (batch.receipt(0) != nullptr) answer.receipt = *batch.receipt(0);
    for (const ReceiptOutcome& outcome : batch.receipt_outcomes(0)) answer.results.push_back(outcome.result);
    return answer;
  }
};
class AnsweredHoldsTest : public HoldsTest {};
INSTANTIATE_TEST_SUITE_P(Stores, HoldsTest, every_store, store_name);
INSTANTIATE_TEST_SUITE_P(Stores, AnsweredHoldsTest, answering_stores, store_name);

TEST_P(HoldsTest, LimitIsHeldAtOnceAndTheNextWaitsForTheEarliestEnd) {
  load(three_at_once);
  for (std::uint64_t left : {2U, 1U, 0U}) {
    const auto held = hold(one);
    EXPECT_TRUE(held.verdict.admitted);
    EXPECT_EQ(held.verdict.decision.remaining, left);
    EXPECT_EQ(held.results, done);
    ASSERT_TRUE(held.receipt);
    advance(10s);
  }
  const auto denied = hold(one);
  EXPECT_FALSE(denied.verdict.admitted);
  EXPECT_EQ(denied.verdict.reason, Reason::exceeded);
  EXPECT_EQ(denied.verdict.retry_after, 30s);
  EXPECT_EQ(denied.verdict.decision.remaining, 0U);
  EXPECT_FALSE(denied.receipt);
  EXPECT_EQ(holding(other, 5), 3) << "another consumer";
  advance(30s - 1us);
  EXPECT_FALSE(hold(one).verdict.admitted);
  advance(1us);
  EXPECT_EQ(holding(one, 3), 1);
}

TEST_P(HoldsTest, ReleaseLetsOneInAndCountsOnce) {
  load(three_at_once);
  const auto first = hold(one);
  EXPECT_EQ(holding(one, 5), 2);
  EXPECT_EQ(release(first.receipt), done);
  EXPECT_EQ(release(first.receipt), ended);
  EXPECT_EQ(holding(one, 5), 1);
}

TEST_P(HoldsTest, SettleEndsAHoldWhateverItCost) {
  load(three_at_once);
  const auto first = hold(one);
  EXPECT_EQ(holding(one, 5), 2);
  EXPECT_EQ(correct(first.receipt, {.action = Action::settle, .actual = Cost{100}}), done);
  EXPECT_EQ(holding(one, 5), 1);
}

TEST_P(HoldsTest, ExtendKeepsAHoldForAnotherLease) {
  load(three_at_once);
  const auto first = hold(one);
  EXPECT_EQ(holding(one, 5), 2);
  advance(50s);
  EXPECT_EQ(correct(first.receipt, {.action = Action::extend}), done);
  advance(10s);
  EXPECT_EQ(holding(one, 5), 2) << "the others are over";
  advance(50s);
  EXPECT_EQ(correct(first.receipt, {.action = Action::extend}), ended);
  EXPECT_EQ(release(first.receipt), ended);
}

TEST_P(HoldsTest, AHoldLastsAsLongAsItsCallerSays) {
  load(three_at_once);
  EXPECT_TRUE(hold(one, {.action = Action::hold, .lasts = 5s}).verdict.admitted);
  EXPECT_EQ(holding(one, 5), 2);
  EXPECT_EQ(hold(one).verdict.retry_after, 5s);
  advance(5s);
  EXPECT_EQ(holding(one, 5), 1);
}

TEST_P(HoldsTest, TheSameIdIsTheSameHold) {
  load(three_at_once);
  const ReceiptRequest named{.action = Action::hold, .id = receipt_id_of("job 7")};
  EXPECT_EQ(hold(one, named).results, done);
  EXPECT_EQ(hold(one, named).results, std::vector{ReceiptResult::repeated});
  EXPECT_EQ(holding(one, 5), 2);
  EXPECT_TRUE(hold(one, named).verdict.admitted) << "it is held already";
}

TEST_P(HoldsTest, CostIsTheLimitsAndNeverTheCallers) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: concurrency, limit: 5, cost: 2}]}");
  EXPECT_EQ(hold(Request(one).costing(5)).verdict.decision.remaining, 3U);
  advance(1s);
  EXPECT_EQ(hold(Request(one).costing(0)).verdict.decision.remaining, 1U);
  const auto denied = hold(one);
  EXPECT_FALSE(denied.verdict.admitted) << "one is left, and it takes two";
  EXPECT_EQ(denied.verdict.retry_after, 59s);
  EXPECT_EQ(denied.verdict.decision.remaining, 1U);
}

TEST_P(HoldsTest, TiersShareTheHoldsUnderNumbersOfTheirOwn) {
  load(R"(
version: 1
tiers: { from: { header: X-Plan } }
limits:
  - { name: a, consumer_key: user, algorithm: concurrency, limit: 2,
      tier_overrides: { pro: { limit: 4, lease: 10s }, staff: unlimited } }
)");
  const auto as = [](const std::string& plan) { return Request::to("GET /").by("alice").in_tier(plan); };
  EXPECT_EQ(holding(as("free"), 5), 2);
  EXPECT_EQ(holding(as("pro"), 5), 2);
  EXPECT_EQ(hold(as("pro")).verdict.retry_after, 10s);
  EXPECT_EQ(holding(as("staff"), 5), 5);
  advance(10s);
  EXPECT_EQ(holding(as("free"), 5), 0);
  EXPECT_EQ(holding(as("pro"), 5), 2);
}

TEST_P(AnsweredHoldsTest, CandidateHoldsBesideAndIsReleasedToo) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: concurrency, limit: 3, candidate: {limit: 1}}]}");
  const auto first = hold(one);
  EXPECT_EQ(first.outcomes[0].divergence(), Divergence::agrees);
  EXPECT_EQ(hold(one).outcomes[0].divergence(), Divergence::newly_denied);
  EXPECT_EQ(release(first.receipt), done);
  EXPECT_EQ(hold(one).outcomes[0].divergence(), Divergence::agrees);
  EXPECT_EQ(total(Event::candidate_newly_denied), 1U);
}

TEST_P(HoldsTest, ShadowLimitIsHeldAndDeniesNothing) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: concurrency, limit: 2, mode: shadow}]}");
  const auto first = hold(one);
  EXPECT_EQ(holding(one, 4), 4);
  EXPECT_EQ(total(Event::shadow_denied), 3U);
  EXPECT_EQ(release(first.receipt), done);
  EXPECT_TRUE(hold(one).outcomes[0].decision.admitted);
}

TEST_P(HoldsTest, AQuestionThatCanCarryNoReceiptIsDeniedForGood) {
  load(three_at_once);
  const Verdict denied = send(one);
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.reason, Reason::needs_receipt);
  EXPECT_EQ(denied.retry_after, std::nullopt);
  EXPECT_EQ(holding(one, 5), 3);
}

TEST_P(HoldsTest, NothingIsHeldWhereAnotherLimitDeniesNorChargedWhereNothingIsFree) {
  load(R"(
version: 1
limits:
  - { name: running, consumer_key: ip, algorithm: concurrency, limit: 2 }
  - { name: rate, consumer_key: ip, algorithm: fixed_window, rate: 3/day }
)");
  const auto first = hold(one);
  EXPECT_EQ(first.results.size(), 1U) << "only the hold has a receipt";
  EXPECT_EQ(holding(one, 3), 1);
  EXPECT_EQ(hold(one).outcomes[1].decision.remaining, 1U);
  EXPECT_EQ(release(first.receipt), done);
  EXPECT_EQ(holding(one, 1), 1);
  const auto denied = hold(one);
  EXPECT_EQ(limit_of(denied.verdict), "rate") << "it denies for longer";
  EXPECT_EQ(denied.outcomes[0].decision.remaining, 0U);
}

TEST_P(HoldsTest, PenaltyBlocksWhoAsksTooOften) {
  load(R"(
version: 1
limits:
  - { name: a, consumer_key: ip, algorithm: concurrency, limit: 1,
      penalty: { after: 2, within: 1min, block: 10min } }
)");
  const auto first = hold(one);
  EXPECT_EQ(holding(one, 2), 0);
  EXPECT_EQ(release(first.receipt), done);
  EXPECT_EQ(hold(one).verdict.reason, Reason::blocked);
  advance(10min);
  EXPECT_TRUE(hold(one).verdict.admitted);
}

TEST_P(HoldsTest, ReloadKeepsTheHoldsUnderAnotherLeaseAndLimit) {
  load(three_at_once);
  const auto first = hold(one);
  EXPECT_EQ(holding(one, 1), 1);
  reload("{version: 1, limits: [{name: running, consumer_key: ip, algorithm: concurrency, limit: 3, lease: 10min}]}");
  EXPECT_EQ(holding(one, 5), 1);
  reload("{version: 1, limits: [{name: running, consumer_key: ip, algorithm: concurrency, limit: 2, lease: 5s}]}");
  EXPECT_EQ(holding(one, 5), 0);
  EXPECT_EQ(release(first.receipt), done);
  EXPECT_EQ(holding(one, 5), 0) << "two are left";
  advance(60s);
  EXPECT_EQ(holding(one, 5), 1) << "the one of 10 minutes is left";
}

TEST_P(AnsweredHoldsTest, HoldsAreReportedWithTheirEndsAndDroppedByAReset) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: concurrency, limit: 5, lease: 60s, cost: 2}]}");
  EXPECT_EQ(holding(one, 1), 1);
  advance(10s);
  EXPECT_TRUE(hold(one, {.action = Action::hold, .lasts = 20s}).verdict.admitted);
  const store::Holdings found = holdings("a", "192.0.2.1");
  EXPECT_TRUE(found.known);
  EXPECT_EQ(found.used, 4U);
  EXPECT_EQ(found.at, now_);
  ASSERT_EQ(found.open.size(), 2U);
  EXPECT_EQ(found.open[0].cost, 2U);
  EXPECT_EQ(found.open[0].ends, core::micros(now_ + 50s));
  EXPECT_EQ(found.open[1].ends, core::micros(now_ + 20s));
  advance(20s);
  EXPECT_EQ(holdings("a", "192.0.2.1").open.size(), 1U);
  EXPECT_EQ(holdings("a", "192.0.2.2").open.size(), 0U);
  EXPECT_TRUE(reset({.limit = "a", .consumer = "192.0.2.1"}));
  EXPECT_EQ(holdings("a", "192.0.2.1").open.size(), 0U);
  EXPECT_EQ(holdings("a", "192.0.2.1").used, 0U);
  EXPECT_EQ(holding(one, 5), 2);
}

TEST_P(AnsweredHoldsTest, ReservationsAreReportedToo) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 100}]}");
  const auto reserved = hold(Request(one).costing(30), {.action = Action::reserve, .lasts = 60s});
  ASSERT_TRUE(reserved.receipt);
  const store::Holdings found = holdings("a", "192.0.2.1");
  EXPECT_EQ(found.used, 30U);
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_EQ(found.open[0].cost, 30U);
  EXPECT_EQ(release(reserved.receipt), done);
  EXPECT_EQ(holdings("a", "192.0.2.1").open.size(), 0U);
}

TEST_P(HoldsTest, APeekReportsWhatAReserveWouldBeAnswered) {
  load(three_at_once);
  EXPECT_EQ(holding(one, 2), 2);
  EXPECT_TRUE(send(Request(one).only_looking()).admitted);
  EXPECT_EQ(holding(one, 1), 1);
  const Verdict denied = send(Request(one).only_looking());
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.reason, Reason::exceeded);
  EXPECT_EQ(denied.retry_after, 60s);
}

TEST_P(HoldsTest, CallsThatDoNotMatchUsageAreCounted) {
  struct Row {
    std::string_view usage;
    std::optional<Action> action;  // none: a plain check
    std::uint64_t cost;
    std::uint64_t mismatches;
  };
  const std::vector<Row> rows = {
      {"reported", Action::report, 5, 0},  {"reported", std::nullopt, 0, 0}, {"reported", std::nullopt, 1, 1},
      {"reported", Action::reserve, 5, 1}, {"reported", Action::hold, 0, 0}, {"reported", Action::hold, 1, 1},
      {"reserved", Action::reserve, 5, 0}, {"reserved", std::nullopt, 0, 0}, {"reserved", std::nullopt, 1, 1},
      {"reserved", Action::report, 5, 1},  {"reserved", Action::hold, 1, 1}, {"reserved", Action::report, 0, 0},
  };
  for (const Row& row : rows) {
    load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 100/h, usage: " +
         std::string(row.usage) + "}, {name: b, consumer_key: ip, algorithm: gcra, rate: 100/h, burst: 90}]}");
    const Request request = Request(one).costing(row.cost);
    if (row.action) {
      hold(request, {.action = *row.action});
    } else {
      send(request);
    }
    send(Request(request).only_looking());
    EXPECT_EQ(total(Event::usage_mismatch), row.mismatches) << row.usage << " " << row.cost;
  }
}

}  // namespace
}  // namespace weir::engine
