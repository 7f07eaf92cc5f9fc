// Reserve, hold, report, settle, release and extend, on every store.
#include "engine/receipt.h"

#include <string>
#include <vector>

#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

using Action = ReceiptRequest::Action;

constexpr auto budgets = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: tokens
    routes: [POST /chat]
    consumer_key: user
    algorithm: token_bucket
    rate: 1/s
    burst: 100
    tier_overrides: { pro: { burst: 1000 } }
  - { name: requests, routes: [POST /chat], consumer_key: user, algorithm: fixed_window, rate: 10/day, cost: 2 }
  - { name: at-once, routes: [GET /stream], consumer_key: user, algorithm: concurrency, limit: 2, lease: 30s }
  - { name: tried, routes: [GET /try], consumer_key: user, algorithm: fixed_window, rate: 50/day, mode: shadow }
  - { name: next, routes: [GET /try], consumer_key: user, algorithm: fixed_window, rate: 100/day, candidate: { rate: 30/day } }
  - { name: calls, routes: [GET /log], consumer_key: user, algorithm: sliding_window_log, rate: 100/day }
)";

class ReceiptsTest : public StoreTest {
 protected:
  void SetUp() override { load(budgets); }

  // The answer to one call.
  struct Answer {
    Verdict verdict;
    std::optional<ReceiptParts> receipt;
    std::string results;  // `tokens done, requests ended`
    std::vector<std::uint64_t> left;
    std::vector<std::uint64_t> lost;
    std::vector<Duration> lasts;
  };

  Answer ask(const Request& request, const ReceiptRequest& receipts, std::optional<std::uint64_t> cost = {}) {
    const Asked asked(request);
    Query query = asked.query();
    if (cost) query.cost = Cost{*cost};
    return run([&](EvaluationBatch& batch) { batch.add(query, receipts); });
  }
  Answer reserve(const Request& request, std::uint64_t cost, core::ReceiptId id = {}) {
    return ask(request, {.action = Action::reserve, .id = id}, cost);
  }
  Answer settle(const ReceiptParts& receipt, std::uint64_t actual) {
    return run([&](EvaluationBatch& batch) { batch.add(receipt, {.action = Action::settle, .actual = Cost{actual}}); });
  }
  Answer release(const ReceiptParts& receipt) {
    return run([&](EvaluationBatch& batch) { batch.add(receipt, {.action = Action::release}); });
  }
  Answer extend(const ReceiptParts& receipt, Duration lasts) {
    return run([&](EvaluationBatch& batch) { batch.add(receipt, {.action = Action::extend, .lasts = lasts}); });
  }
  std::uint64_t left(std::string_view limit, std::string_view tier = {}) {
    const NamedQuery look{.limit = limit, .consumer = "ada", .tier = tier, .peek = true, .wants_holdings = true};
    return send(look)->outcomes[0].decision.remaining;
  }

  // The result for a receipt that is not open; unknown while the store is unavailable.
  [[nodiscard]] static std::string not_open(std::string_view limits) {
    std::string results;
    for (const char letter : limits) {
      if (letter == ',') results += ended_word();
      results += letter;
    }
    return results + ended_word();
  }

  static Request chat() { return Request::to("POST /chat").by("ada"); }
  static Request stream() { return Request::to("GET /stream").by("ada"); }

 private:
  static std::string ended_word() { return GetParam() == Where::outage_down ? " none" : " ended"; }

  template <class Add>
  Answer run(Add add) {
    set_clocks();
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    add(*batch);
    EXPECT_TRUE(batch->submit(now_));
    Answer answer;
    if (batch->kind(0) != EvaluationBatch::Kind::receipt) answer.verdict = batch->verdict(0);
    if (const ReceiptParts* const receipt = batch->receipt(0)) answer.receipt = *receipt;
    constexpr std::array names{"none", "done", "repeated", "not_kept", "ended", "unknown"};
    for (const ReceiptOutcome& outcome : batch->receipt_outcomes(0)) {
      const std::string name = outcome.limit ? batch->bindings().ruleset().limits[*outcome.limit].name : "gone";
      answer.results +=
          (answer.results.empty() ? "" : ", ") + name + " " + names[static_cast<std::size_t>(outcome.result)];
      answer.left.push_back(outcome.decision.remaining);
      answer.lost.push_back(outcome.lost);
      answer.lasts.push_back(outcome.ends - now_);
    }
    return answer;
  }
};
class AnsweredReceiptsTest : public ReceiptsTest {};
INSTANTIATE_TEST_SUITE_P(Stores, ReceiptsTest, every_store, store_name);
INSTANTIATE_TEST_SUITE_P(Stores, AnsweredReceiptsTest, answering_stores, store_name);

TEST_P(ReceiptsTest, SettledForLessTheRestComesBack) {
  const Answer reserved = reserve(chat(), 80);
  ASSERT_TRUE(reserved.verdict.admitted);
  ASSERT_TRUE(reserved.receipt);
  EXPECT_EQ(reserved.results, "tokens done, requests done");
  EXPECT_EQ(reserved.lasts, (std::vector<Duration>{10min, 10min}));
  EXPECT_EQ(left("tokens"), 20U);
  const Answer settled = settle(*reserved.receipt, 30);
  EXPECT_EQ(settled.results, "tokens done, requests done");
  EXPECT_EQ(settled.left, (std::vector<std::uint64_t>{70, 8})) << "a configured cost does not change";
  EXPECT_EQ(left("tokens"), 70U);
}

TEST_P(ReceiptsTest, SettledForMoreIsOwed) {
  const Answer reserved = reserve(chat(), 80);
  const Answer settled = settle(*reserved.receipt, 130);
  EXPECT_EQ(settled.lost.at(0), 0U);
  EXPECT_EQ(left("tokens"), 0U);
  advance(30s);
  EXPECT_EQ(left("tokens"), 0U);
  advance(1s);
  EXPECT_EQ(left("tokens"), 1U);
}

TEST_P(ReceiptsTest, CostBeyondTheMaximumDebtIsReportedAsLost) {
  const Answer reserved = reserve(chat(), 100);
  EXPECT_EQ(settle(*reserved.receipt, 100 + 100 + 7).lost.at(0), 7U);
}

TEST_P(ReceiptsTest, ReleasedAllComesBack) {
  const Answer reserved = reserve(chat(), 80);
  EXPECT_EQ(release(*reserved.receipt).results, "tokens done, requests done");
  EXPECT_EQ(left("tokens"), 100U);
  EXPECT_EQ(left("requests"), 10U) << "of a written cost, too";
}

TEST_P(ReceiptsTest, WhatIsRepeatedChangesNothing) {
  const Answer reserved = reserve(chat(), 80);
  std::ignore = settle(*reserved.receipt, 30);
  for (const Answer& again :
       {settle(*reserved.receipt, 1), release(*reserved.receipt), extend(*reserved.receipt, 1h)}) {
    EXPECT_EQ(again.results, not_open("tokens, requests"));
  }
  EXPECT_EQ(left("tokens"), 70U);
  EXPECT_EQ(left("requests"), 8U);
}

TEST_P(ReceiptsTest, WhatHasEndedStaysCharged) {
  const Answer reserved = reserve(chat(), 80);
  advance(10min);
  EXPECT_EQ(release(*reserved.receipt).results, not_open("tokens, requests"));
  EXPECT_EQ(left("requests"), 8U);
}

TEST_P(ReceiptsTest, ExtendedItEndsLater) {
  const Answer reserved = reserve(chat(), 80);
  advance(9min);
  const Answer extended = extend(*reserved.receipt, 20min);
  EXPECT_EQ(extended.results, "tokens done, requests done");
  EXPECT_EQ(extended.lasts, (std::vector<Duration>{20min, 20min}));
  advance(19min);
  EXPECT_EQ(release(*reserved.receipt).results, "tokens done, requests done");
  EXPECT_EQ(left("requests"), 10U);
}

TEST_P(ReceiptsTest, AnIdOfTheCallersMakesItTheSameReserve) {
  const core::ReceiptId id = receipt_id_of("call-7");
  const Answer first = reserve(chat(), 60, id);
  const Answer second = reserve(chat(), 60, id);
  EXPECT_TRUE(second.verdict.admitted) << "whatever is left";
  EXPECT_EQ(second.results, "tokens repeated, requests repeated");
  ASSERT_TRUE(second.receipt);
  EXPECT_EQ(left("tokens"), 40U);
  EXPECT_EQ(settle(*second.receipt, 10).results, "tokens done, requests done");
  EXPECT_EQ(settle(*first.receipt, 10).results, not_open("tokens, requests"));
  EXPECT_EQ(left("tokens"), 90U);
}

TEST_P(ReceiptsTest, ADeniedReserveChargesNothingAndHasNoReceipt) {
  std::ignore = reserve(chat(), 80);
  const Answer denied = reserve(chat(), 30);
  EXPECT_FALSE(denied.verdict.admitted);
  EXPECT_FALSE(denied.receipt);
  EXPECT_EQ(denied.results, "");
  EXPECT_EQ(left("requests"), 8U);
}

TEST_P(ReceiptsTest, AReportIsChargedWhateverIsLeft) {
  const Answer reported = ask(chat(), {.action = Action::report}, 150);
  EXPECT_TRUE(reported.verdict.admitted);
  EXPECT_FALSE(reported.receipt);
  EXPECT_EQ(reported.results, "tokens done") << "requests have a cost of their own, and are charged when they come";
  EXPECT_EQ(reported.left, (std::vector<std::uint64_t>{0}));
  advance(50s);
  EXPECT_EQ(left("tokens"), 0U);
  EXPECT_FALSE(passes(Request::to("POST /chat").by("ada")));
  const Answer more = ask(chat(), {.action = Action::report}, 1'000);
  EXPECT_EQ(more.lost.at(0), 900U);
}

TEST_P(ReceiptsTest, AReportWithAnIdCountsOnce) {
  const ReceiptRequest once{.action = Action::report, .id = receipt_id_of("run-1")};
  EXPECT_EQ(ask(chat(), once, 10).results, "tokens done");
  EXPECT_EQ(ask(chat(), once, 10).results, "tokens repeated");
  EXPECT_EQ(left("tokens"), 90U);
  EXPECT_EQ(left("requests"), 10U);
}

TEST_P(ReceiptsTest, TheTierOfTheReserveIsThatOfTheSettlement) {
  const Answer reserved = reserve(chat().from("127.0.0.1").with("X-Plan", "pro"), 800);
  ASSERT_TRUE(reserved.verdict.admitted) << "by the numbers of its tier";
  const Answer settled = settle(*reserved.receipt, 100);
  EXPECT_EQ(settled.left.at(0), 900U);
  EXPECT_EQ(left("tokens", "pro"), 900U);
}

TEST_P(ReceiptsTest, AShadowLimitIsSettledToo) {
  const Answer reserved = reserve(Request::to("GET /try").by("ada"), 40);
  EXPECT_EQ(reserved.results, "tried done, next done");
  EXPECT_EQ(left("tried"), 10U);
  EXPECT_EQ(settle(*reserved.receipt, 5).results, "tried done, next done");
  EXPECT_EQ(left("tried"), 45U);
}

TEST_P(AnsweredReceiptsTest, ACandidateIsSettledByTheSameReceipt) {
  const Request tries = Request::to("GET /try").by("ada");
  const Answer reserved = reserve(tries, 30);
  const auto candidate_of = [](const Answer& answer) { return answer.verdict.outcomes.back().candidate->admitted; };
  EXPECT_TRUE(candidate_of(reserved));
  std::ignore = settle(*reserved.receipt, 10);
  EXPECT_EQ(left("next"), 90U);
  const Answer again = reserve(tries, 20);
  EXPECT_TRUE(candidate_of(again)) << "20 of 30 are left to it";
  EXPECT_FALSE(candidate_of(reserve(tries, 1)));
}

// Redis stores receipts in a separate value.
TEST_P(ReceiptsTest, ALogHasReceiptsAsEveryOther) {
  const Request call = Request::to("GET /log").by("ada");
  const Answer down = reserve(call, 60);
  EXPECT_EQ(down.results, "calls done");
  advance(1s);
  const Answer up = reserve(call, 30);
  EXPECT_EQ(left("calls"), 10U);
  EXPECT_EQ(extend(*down.receipt, 1h).results, "calls done");
  EXPECT_EQ(settle(*down.receipt, 20).left, (std::vector<std::uint64_t>{50}));
  EXPECT_EQ(settle(*down.receipt, 0).results, not_open("calls"));
  const Answer owed = settle(*up.receipt, 30 + 50 + 100 + 7);
  EXPECT_EQ(owed.results, "calls done");
  EXPECT_EQ(owed.lost, (std::vector<std::uint64_t>{7}));
  EXPECT_EQ(left("calls"), 0U);
  advance(24h);
  EXPECT_EQ(left("calls"), 100U) << "what was settled upward counts from its own instant";
  EXPECT_EQ(ask(call, {.action = Action::report, .id = {1, 2}}, 5).results, "calls done");
  EXPECT_EQ(ask(call, {.action = Action::report, .id = {1, 2}}, 5).results, "calls repeated");
  const Answer released = reserve(call, 10);
  EXPECT_EQ(release(*released.receipt).left, (std::vector<std::uint64_t>{95}));
}

TEST_P(AnsweredReceiptsTest, AResetForgetsTheReceiptsOfALog) {
  const Request call = Request::to("GET /log").by("ada");
  const Answer reserved = reserve(call, 60);
  ASSERT_TRUE(reset({.limit = "calls", .consumer = "ada"}));
  EXPECT_EQ(settle(*reserved.receipt, 90).results, "calls ended");
  EXPECT_EQ(left("calls"), 100U);
}

TEST_P(ReceiptsTest, ALimitThatAReloadRemovedIsUnknown) {
  const Answer reserved = reserve(chat(), 80);
  reload(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: tokens, routes: [POST /chat], consumer_key: user, algorithm: token_bucket, rate: 1/s, burst: 120 }
)");
  const Answer settled = settle(*reserved.receipt, 30);
  EXPECT_EQ(settled.results, "tokens done, gone unknown");
  EXPECT_EQ(settled.left.at(0), 90U) << "by the numbers that hold now";
}

TEST_P(ReceiptsTest, AReceiptOfATierThatAReloadRemovedIsSettled) {
  const Answer reserved = reserve(chat().from("127.0.0.1").with("X-Plan", "pro"), 80);
  ASSERT_TRUE(reserved.receipt);
  reload(R"(
version: 1
limits:
  - { name: tokens, routes: [POST /chat], consumer_key: user, algorithm: token_bucket, rate: 1/s, burst: 100 }
)");
  EXPECT_EQ(extend(*reserved.receipt, 1h).results, "tokens done, gone unknown");
  const Answer settled = settle(*reserved.receipt, 30);
  EXPECT_EQ(settled.results, "tokens done, gone unknown");
  EXPECT_EQ(settled.left.at(0), 70U) << "by the numbers that hold now";
  EXPECT_EQ(settle(*reserved.receipt, 30).results, not_open("tokens") + ", gone unknown");
}

// Tiers share states only with tiers of the same window.
TEST_P(AnsweredReceiptsTest, AReceiptOfARemovedTierIsFoundBesideAnyOtherTier) {
  const std::string day_for_two = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: quota
    consumer_key: user
    algorithm: fixed_window
    rate: 10/h
    tier_overrides: { pro: { rate: 100/day }, staff: { rate: 50/day } }
)";
  std::string day_for_one = day_for_two;
  day_for_one.replace(day_for_one.find("pro: { rate: 100/day }, "), 24, "");
  std::string no_day = day_for_one;
  no_day.replace(no_day.find("    tier_overrides"), std::string::npos, "");
  const Request request = Request::to("GET /").by("ada").from("127.0.0.1").with("X-Plan", "pro");
  reload(day_for_two);
  const Answer first = reserve(request, 20);
  const Answer second = reserve(request, 20);
  ASSERT_TRUE(first.receipt && second.receipt);
  reload(day_for_one);
  EXPECT_EQ(settle(*first.receipt, 5).results, "quota done");
  EXPECT_EQ(left("quota", "staff"), 25U);
  reload(no_day);
  EXPECT_EQ(settle(*second.receipt, 5).results, "quota ended") << "its states are gone";
}

TEST_P(ReceiptsTest, HoldsEndByReleaseAndByTheirLease) {
  const Answer first = ask(stream(), {.action = Action::hold});
  const Answer second = ask(stream(), {.action = Action::hold});
  ASSERT_TRUE(first.receipt && second.receipt);
  EXPECT_EQ(first.lasts, (std::vector<Duration>{30s}));
  const Answer third = ask(stream(), {.action = Action::hold});
  EXPECT_FALSE(third.verdict.admitted);
  EXPECT_FALSE(third.receipt);
  EXPECT_EQ(third.verdict.retry_after, std::optional<Duration>(30s));
  EXPECT_EQ(release(*first.receipt).results, "at-once done");
  EXPECT_TRUE(ask(stream(), {.action = Action::hold}).verdict.admitted);
  EXPECT_EQ(release(*first.receipt).results, not_open("at-once"));
  advance(30s);
  EXPECT_EQ(release(*second.receipt).results, not_open("at-once"));
  EXPECT_TRUE(ask(stream(), {.action = Action::hold}).verdict.admitted);
}

TEST_P(ReceiptsTest, AHoldThatCouldNotBeReleasedIsDenied) {
  const Verdict verdict = send(stream());
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.reason, Reason::needs_receipt);
  EXPECT_EQ(limit_of(verdict), "at-once");
}

constexpr auto bounded = R"(
version: 1
limits:
  - { name: tokens, routes: [POST /chat], consumer_key: user, algorithm: token_bucket, rate: 1/s, burst: 100, max_reserve: 40 }
  - { name: quota, routes: [POST /chat], consumer_key: user, algorithm: fixed_window, rate: 1000/day }
  - { name: tried, routes: [POST /chat], consumer_key: user, algorithm: fixed_window, rate: 999/day, max_reserve: 10, mode: shadow }
)";

TEST_P(ReceiptsTest, ReservationAboveTheMaximumIsDeniedAndChargesNothing) {
  load(bounded);
  const Answer denied = reserve(chat(), 41);
  EXPECT_FALSE(denied.verdict.admitted);
  EXPECT_EQ(denied.verdict.reason, Reason::reserve_too_large);
  EXPECT_EQ(limit_of(denied.verdict), "tokens");
  EXPECT_EQ(denied.verdict.retry_after, std::nullopt) << "waiting never helps";
  EXPECT_FALSE(denied.receipt);
  EXPECT_EQ(left("tokens"), 100U);
  EXPECT_EQ(left("quota"), 1000U);
}

TEST_P(ReceiptsTest, ReservationUpToTheMaximumIsAdmitted) {
  load(bounded);
  const Answer admitted = reserve(chat(), 40);
  EXPECT_TRUE(admitted.verdict.admitted) << "a shadow limit denies nothing";
  ASSERT_TRUE(admitted.receipt);
  EXPECT_EQ(left("tokens"), 60U);
}

TEST_P(ReceiptsTest, ChecksAndReportsAreNotBoundedByTheMaximumOfAReservation) {
  load(bounded);
  EXPECT_TRUE(send(chat().costing(60)).admitted);
  EXPECT_TRUE(ask(chat(), {.action = Action::report}, 60).verdict.admitted);
}

TEST_P(ReceiptsTest, WhoOnlyHoldsReservesNothingElse) {
  const Answer held = ask(chat(), {.action = Action::hold}, 10);
  EXPECT_TRUE(held.verdict.admitted);
  EXPECT_FALSE(held.receipt);
  EXPECT_EQ(left("tokens"), 90U);
}

TEST_P(ReceiptsTest, LimitsThatDoNotFitIntoAReceiptAreDenied) {
  for (const std::string_view algorithm : {"fixed_window, rate: 9/day", "concurrency, limit: 9, lease: 1min"}) {
    std::string policy = "version: 1\nlimits:\n";
    for (int i = 0; i < 25; ++i) {
      policy +=
          "  - { name: l" + std::to_string(i) + ", consumer_key: user, algorithm: " + std::string(algorithm) + " }\n";
    }
    load(policy);
    const Answer refused = ask(chat(), {.action = algorithm[0] == 'f' ? Action::reserve : Action::hold});
    EXPECT_FALSE(refused.verdict.admitted);
    EXPECT_EQ(refused.verdict.reason, Reason::too_many_limits);
    EXPECT_FALSE(refused.receipt);
    EXPECT_EQ(left("l0"), 9U) << "nothing was charged";
  }
}

}  // namespace
}  // namespace weir::engine
