// A store that wraps one that can be unavailable: how long a request waits for it, which fallback applies, and what is
// charged to it afterwards.
#include "store/outage/outage_store.h"

#include <array>

#include "tests/set_clock.h"
#include "tests/store/groups.h"
#include "tests/store/memory_store.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;

constexpr std::array may_have_charged{Failure::timeout, Failure::lost, Failure::disagreement};
constexpr std::array has_done_nothing{Failure::unavailable, Failure::refused};

class OutageStoreTest : public testing::Test {
 protected:
  OutageStoreTest() { at(clock_.now()); }

  void at(Instant now) {
    clock_.set(now);
    inner_.now = now;
  }
  void pass(Duration time) { at(clock_.now() + time); }

  Submitted& submit(std::vector<Check> checks, Operation operation = Operation::decide,
                    Fallback fallback = Fallback::by_limit) {
    Submitted& group = *groups_.emplace_back(std::make_unique<Submitted>(std::move(checks), operation));
    group.fallback = fallback;
    store_.submit(group);
    EXPECT_EQ(group.answers, inner_.holds ? 0 : 1);
    return group;
  }
  // Submits while the inner store fails in this way.
  Submitted& submit_failing(Failure failure, std::vector<Check> checks, Operation operation = Operation::decide,
                            Fallback fallback = Fallback::by_limit) {
    inner_.failing = failure;
    Submitted& group = submit(std::move(checks), operation, fallback);
    inner_.failing = Failure::none;
    return group;
  }
  std::uint64_t left_there(const BoundStates& states, const std::string& consumer) {
    Submitted looked({states.check(consumer, 0)}, Operation::look);
    inner_.submit(looked);
    return looked.checks[0].decision.remaining;
  }

  SetClock clock_{Instant{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h}};
  MemoryStore inner_;
  std::atomic<bool> has_charges_{false};
  OutageStore store_{inner_, clock_, 10ms, has_charges_};
  BoundStates api_{*Limit::token_bucket({{6, Duration(1min)}, 10})};  // the share: five, at half the rate
  std::vector<std::unique_ptr<Submitted>> groups_;
};

// While it answers

TEST_F(OutageStoreTest, WhatTheInnerStoreDecidesIsTheAnswer) {
  const Submitted& group = submit({api_.check("alice", 3)});
  EXPECT_TRUE(group.decided && group.admitted);
  EXPECT_EQ(group.failure, Failure::none);
  EXPECT_EQ(group.checks[0].path, Path::store);
  EXPECT_EQ(group.checks[0].decision.remaining, 7U);
  EXPECT_FALSE(submit({api_.check("alice", 8)}).admitted) << "a denial is not a failure";
  EXPECT_FALSE(has_charges_);
}

TEST_F(OutageStoreTest, AGroupIsAnsweredWhenTheInnerStoreAnswersInWhateverOrder) {
  inner_.holds = true;
  Submitted& first = submit({api_.check("alice")});
  Submitted& second = submit({api_.check("bob")});
  EXPECT_EQ(first.answers + second.answers, 0);
  inner_.deliver_last();
  EXPECT_EQ(first.answers, 0);
  EXPECT_EQ(second.answers, 1);
  inner_.fail(Failure::timeout);
  EXPECT_EQ(first.answers, 1);
  EXPECT_EQ(first.checks[0].path, Path::share);
  EXPECT_EQ(second.checks[0].path, Path::store);
}

TEST_F(OutageStoreTest, AGroupIsWaitedForAsLongAsItsRequestHas) {
  inner_.holds = true;
  const Deadline before = Deadline::clock::now();
  Submitted& first = submit({api_.check("alice")});
  ASSERT_TRUE(first.deadline);
  EXPECT_GE(*first.deadline, before + 10ms);
  EXPECT_LE(*first.deadline, Deadline::clock::now() + 10ms);
  Submitted later({api_.check("bob")});
  later.deadline = first.deadline;
  store_.submit(later);
  EXPECT_EQ(later.deadline, first.deadline) << "all groups of a request together have the time of the first";
  inner_.deliver_all();
}

TEST_F(OutageStoreTest, ABatchIsOneBatchToTheInnerStore) {
  inner_.holds = true;
  Submitted first({api_.check("alice")});
  Submitted second({api_.check("bob")});
  store_.submit(std::array<Group*, 2>{&first, &second});
  ASSERT_EQ(inner_.waiting(), 2U);
  EXPECT_EQ(inner_.groups()[0]->checks[0].key, first.checks[0].key);
  EXPECT_EQ(inner_.groups()[1]->checks[0].key, second.checks[0].key);
  inner_.deliver_all();
  EXPECT_EQ(first.answers + second.answers, 2);
}

// While it does not answer

TEST_F(OutageStoreTest, EveryFailureIsDecidedByTheLimitsOwnChoice) {
  for (const Failure failure :
       {Failure::unavailable, Failure::timeout, Failure::lost, Failure::refused, Failure::disagreement}) {
    const std::string consumer = "consumer " + std::to_string(static_cast<int>(failure));
    for (int i = 0; i < 7; ++i) {
      const Submitted& group = submit_failing(failure, {api_.check(consumer)});
      EXPECT_TRUE(group.decided);
      EXPECT_EQ(group.failure, failure) << "why this process decided";
      EXPECT_EQ(group.admitted, i < 5) << i;
      EXPECT_EQ(group.checks[0].path, Path::share);
      EXPECT_EQ(group.checks[0].decision.limit, 5U);
      EXPECT_EQ(group.now, clock_.now());
      EXPECT_EQ(group.checks[0].rule, groups_.front()->checks[0].rule) << "the rule of the whole limit";
    }
  }
}

TEST_F(OutageStoreTest, AnOpenLimitIsNotAskedAndAClosedOneDenies) {
  BoundStates open(*Limit::fixed_window({1, Duration(1h)}));
  BoundStates closed(*Limit::fixed_window({8, Duration(1h)}));
  open.on_failure(OnFailure::open);
  closed.on_failure(OnFailure::closed);
  for (int i = 0; i < 5; ++i) {
    const Submitted& passed = submit_failing(Failure::unavailable, {open.check("alice")});
    EXPECT_TRUE(passed.admitted);
    EXPECT_EQ(passed.checks[0].path, Path::open);
  }
  const Submitted& denied = submit_failing(Failure::unavailable, {api_.check("alice"), closed.check("alice")});
  EXPECT_FALSE(denied.admitted);
  EXPECT_TRUE(denied.decided);
  EXPECT_EQ(denied.checks[1].path, Path::closed);
  EXPECT_EQ(denied.checks[1].decision.retry_after, closed_retry_after);
  EXPECT_EQ(denied.checks[1].decision.more_after, closed_retry_after);
  EXPECT_EQ(denied.checks[1].decision.limit, 8U);
  EXPECT_EQ(denied.checks[0].decision.remaining, 5U) << "the others are charged nothing";
  EXPECT_TRUE(submit({closed.check("alice")}).admitted) << "when it is back";
}

TEST_F(OutageStoreTest, AnOpenLimitDoesNotStandForTheOthers) {
  BoundStates open(*Limit::fixed_window({1, Duration(1h)}));
  open.on_failure(OnFailure::open);
  int passed = 0;
  for (int i = 0; i < 8; ++i) {
    passed += submit_failing(Failure::unavailable, {open.check("alice"), api_.check("alice")}).admitted ? 1 : 0;
  }
  EXPECT_EQ(passed, 5);
}

TEST_F(OutageStoreTest, AGuardIsDecidedAsItsLimitIs) {
  BoundStates block(*Limit::gcra({{1, Duration(10min)}, 1}));
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice"), block.guard("alice")}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {block.check("alice")}).admitted);
  const std::array<std::pair<OnFailure, Path>, 3> rows{
      {{OnFailure::share, Path::share}, {OnFailure::closed, Path::closed}, {OnFailure::open, Path::open}}};
  for (const auto& [choice, path] : rows) {
    block.on_failure(choice);
    const Submitted& group = submit_failing(Failure::unavailable, {api_.check("alice"), block.guard("alice")});
    EXPECT_EQ(group.admitted, choice == OnFailure::open) << "it is not asked then";
    EXPECT_EQ(group.checks[1].path, path);
    EXPECT_EQ(group.checks[0].decision.remaining, choice == OnFailure::open ? 3U : 4U);
  }
}

TEST_F(OutageStoreTest, AGroupMayHaveAsManyGuardsAsChecksThatAreCharged) {
  BoundStates block(*Limit::gcra({{1, Duration(10min)}, 1}));
  std::vector<Check> checks;
  for (std::size_t i = 0; i < Group::max_checks; ++i) checks.push_back(api_.check(std::to_string(i)));
  for (std::size_t i = 0; i < Group::max_checks; ++i) checks.push_back(block.guard(std::to_string(i)));
  for (const bool is_unavailable : {false, true}) {
    inner_.failing = is_unavailable ? Failure::unavailable : Failure::none;
    const Submitted& group = submit(checks);
    EXPECT_TRUE(group.admitted);
    for (std::size_t i = 0; i < checks.size(); ++i) {
      EXPECT_EQ(group.checks[i].path, is_unavailable ? Path::share : Path::store);
      EXPECT_EQ(group.checks[i].rule, checks[i].rule);
    }
  }
}

TEST_F(OutageStoreTest, WithoutAFallbackTheFailureIsReported) {
  const Submitted& group = submit_failing(Failure::timeout, {api_.check("alice")}, Operation::decide, Fallback::none);
  EXPECT_EQ(group.failure, Failure::timeout);
  EXPECT_FALSE(group.decided);
  EXPECT_FALSE(group.admitted);
  EXPECT_EQ(submit_failing(Failure::unavailable, {api_.check("alice")}).checks[0].decision.remaining, 4U)
      << "nothing was decided here";
}

TEST_F(OutageStoreTest, WithAShareItIsDecidedHereWhateverTheLimitsSay) {
  for (const OnFailure choice : {OnFailure::open, OnFailure::closed}) {
    BoundStates states(*Limit::fixed_window({4, Duration(1h)}));
    states.on_failure(choice);
    for (int i = 0; i < 4; ++i) {
      const Submitted& group =
          submit_failing(Failure::unavailable, {states.check("alice")}, Operation::decide, Fallback::share);
      EXPECT_EQ(group.admitted, i < 2);
      EXPECT_EQ(group.checks[0].path, Path::share);
    }
  }
}

TEST_F(OutageStoreTest, WhatIsToBeDecidedAtOnceDoesNotGoToTheInnerStore) {
  inner_.holds = true;
  Submitted group({api_.check("alice")});
  group.fallback = Fallback::at_once;
  group.failure = Failure::unavailable;
  store_.submit(group);
  EXPECT_EQ(group.answers, 1);
  EXPECT_EQ(inner_.waiting(), 0U);
  EXPECT_TRUE(group.decided && group.admitted);
  EXPECT_EQ(group.failure, Failure::unavailable) << "as its request failed before";
  EXPECT_EQ(group.checks[0].path, Path::share);
}

TEST_F(OutageStoreTest, LooksAndSettlementsAreDecidedHereToo) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  const Submitted& look = submit_failing(Failure::unavailable, {api_.check("alice", 0)}, Operation::look);
  EXPECT_EQ(look.checks[0].decision.remaining, 1U);
  Submitted settled({api_.check("alice")}, Operation::settle);
  settled.fallback = Fallback::at_once;
  settled.failure = Failure::unavailable;
  settled.settlement = core::Settlement{Cost{4}, Cost{1}, {clock_.now(), Instant::max()}};
  store_.submit(settled);
  EXPECT_EQ(settled.answers, 1);
  const Submitted& after = submit_failing(Failure::unavailable, {api_.check("alice", 0)}, Operation::look);
  EXPECT_EQ(after.checks[0].decision.remaining, 4U);
}

TEST_F(OutageStoreTest, OfALimitThatARequestBringsHalfIsAdmittedHere) {
  const core::Rule eight = core::compile(*Limit::fixed_window({8, Duration(1h)}));
  const core::Rule quick = core::compile(*Limit::gcra({{60, Duration(1min)}, 8}));
  BoundStates windows(*Limit::fixed_window({1000, Duration(1h)}));
  BoundStates buckets(*Limit::gcra({{1, Duration(1h)}, 1000}));
  for (const auto& [states, rule] : {std::pair{&windows, &eight}, std::pair{&buckets, &quick}}) {
    Check check = states->check("alice");
    check.rule = rule;
    for (int i = 0; i < 6; ++i) {
      const Submitted& group = submit_failing(Failure::unavailable, {check});
      EXPECT_EQ(group.admitted, i < 4) << i;
      EXPECT_EQ(group.checks[0].rule, rule);
    }
  }
}

TEST_F(OutageStoreTest, AReceiptGivenHereIsSettledHere) {
  core::ReceiptUse use{.id = {1, 2}, .lasts = 1h};
  Check check = api_.check("alice", 4);
  check.receipt = &use;
  EXPECT_TRUE(submit_failing(Failure::unavailable, {check}).admitted);
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  use.actual = Cost{1};
  const Submitted& settled = submit({check}, Operation::settle);  // the store is back and does not know it
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_EQ(settled.checks[0].path, Path::share);
  EXPECT_EQ(settled.checks[0].decision.remaining, 4U);
  submit({check}, Operation::settle);
  EXPECT_EQ(use.result, core::ReceiptResult::ended);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 8U) << "what was settled is charged back";
}

TEST_F(OutageStoreTest, AReceiptOfTheStoreIsNotSettledWhileItIsUnavailable) {
  core::ReceiptUse use{.id = {1, 2}, .lasts = 1h};
  Check check = api_.check("alice", 4);
  check.receipt = &use;
  EXPECT_TRUE(submit({check}).admitted);
  use.actual = Cost{0};
  const Submitted& settled = submit_failing(Failure::unavailable, {check}, Operation::settle);
  EXPECT_FALSE(settled.decided);
  EXPECT_EQ(use.result, core::ReceiptResult::none);
  submit({check}, Operation::settle);
  EXPECT_EQ(use.result, core::ReceiptResult::done) << "it may be repeated";
  EXPECT_EQ(left_there(api_, "alice"), 10U);
}

// Charges when it is back

TEST_F(OutageStoreTest, WhatWasAdmittedHereIsChargedOnceWithTheNextDecision) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  EXPECT_TRUE(has_charges_);
  EXPECT_EQ(submit({api_.check("bob")}).checks[0].decision.remaining, 9U) << "another consumer is not affected";
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 5U);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 4U);
}

TEST_F(OutageStoreTest, OfSeveralGroupsInABatchTheFirstCharges) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  Submitted first({api_.check("alice")});
  Submitted second({api_.check("alice")});
  store_.submit(std::array<Group*, 2>{&first, &second});
  EXPECT_EQ(first.checks[0].decision.remaining, 5U);
  EXPECT_EQ(second.checks[0].decision.remaining, 4U);
}

TEST_F(OutageStoreTest, ADeniedDecisionChargesBackToo) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  EXPECT_FALSE(submit({api_.check("alice", 9)}).admitted);
  EXPECT_EQ(left_there(api_, "alice"), 6U);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 5U) << "and not again";
}

TEST_F(OutageStoreTest, LooksGuardsAndSettlementsChargeNothingBack) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  EXPECT_EQ(submit({api_.check("alice", 0)}, Operation::look).checks[0].decision.remaining, 10U);
  BoundStates other(*Limit::fixed_window({4, Duration(1h)}));
  EXPECT_TRUE(submit({other.check("alice"), api_.guard("alice")}).admitted);
  Submitted settled({api_.check("alice")}, Operation::settle);
  settled.settlement = core::Settlement{Cost{1}, Cost{1}, {clock_.now(), Instant::max()}};
  store_.submit(settled);
  EXPECT_EQ(left_there(api_, "alice"), 10U);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 5U) << "it is still kept";
}

TEST_F(OutageStoreTest, WhatMayHaveBeenChargedThereIsNotChargedBack) {
  for (const Failure failure : may_have_charged) {
    const std::string consumer = "consumer " + std::to_string(static_cast<int>(failure));
    EXPECT_TRUE(submit_failing(failure, {api_.check(consumer, 4)}).admitted);
    EXPECT_EQ(submit({api_.check(consumer)}).checks[0].decision.remaining, 9U);
  }
  EXPECT_FALSE(has_charges_);
  for (const Failure failure : has_done_nothing) {
    const std::string consumer = "consumer " + std::to_string(static_cast<int>(failure));
    EXPECT_TRUE(submit_failing(failure, {api_.check(consumer, 4)}).admitted);
    EXPECT_EQ(submit({api_.check(consumer)}).checks[0].decision.remaining, 5U);
  }
}

TEST_F(OutageStoreTest, ChargesThatCouldNotBeSentAreKeptAndThoseThatMayHaveBeenAreNot) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 3)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::refused, {api_.check("alice", 1)}).admitted) << "that one is kept as well";
  EXPECT_EQ(submit({api_.check("alice", 0)}).checks[0].decision.remaining, 6U);

  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("bob", 3)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::timeout, {api_.check("bob", 1)}).admitted);
  EXPECT_EQ(submit({api_.check("bob", 0)}).checks[0].decision.remaining, 10U) << "as if it had been charged";
}

TEST_F(OutageStoreTest, WithoutAFallbackChargesThatCouldNotBeSentAreKeptToo) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 3)}).admitted);
  std::ignore = submit_failing(Failure::unavailable, {api_.check("alice")}, Operation::decide, Fallback::none);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 6U);
}

TEST_F(OutageStoreTest, RefilledUnitsAreNotChargedBack) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  pass(60s);  // three tokens, at half the rate
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 8U);
}

TEST_F(OutageStoreTest, ChargingBackNeverGoesIntoDebtAndDeniesNothingItself) {
  EXPECT_TRUE(submit({api_.check("alice", 8)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 5)}).admitted);
  const Submitted& denied = submit({api_.check("alice")});
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.checks[0].decision.retry_after, Duration(10s));
}

TEST_F(OutageStoreTest, WhatIsChargedBackStillCountsHereInTheNextOutage) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  EXPECT_TRUE(submit({api_.check("alice")}).admitted);
  EXPECT_EQ(submit_failing(Failure::unavailable, {api_.check("alice", 0)}).checks[0].decision.remaining, 0U)
      << "four, and the one that the store has admitted since";
}

TEST_F(OutageStoreTest, LimitsThatDoNotChargeBackKeepNothing) {
  BoundStates warnings(*Limit::fixed_window({8, Duration(1h)}));
  warnings.without_charge_back();
  EXPECT_TRUE(submit_failing(Failure::unavailable, {warnings.check("alice", 3)}).admitted);
  EXPECT_FALSE(has_charges_);
  EXPECT_EQ(submit({warnings.check("alice")}).checks[0].decision.remaining, 7U);
}

TEST_F(OutageStoreTest, AReportThatIsRepeatedHereIsChargedBackOnce) {
  EXPECT_TRUE(submit_failing(Failure::timeout, {api_.check("alice", 2)}).admitted) << "counts here, and is not owed";
  core::ReceiptUse use{.id = {1, 2}};
  Check report = api_.check("alice", 2);
  report.receipt = &use;
  submit_failing(Failure::unavailable, {report}, Operation::report);
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  submit_failing(Failure::unavailable, {report}, Operation::report);
  EXPECT_EQ(use.result, core::ReceiptResult::repeated);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 10U - 2 - 1);
}

// A group belongs to its submitter: the store submits a copy.
TEST_F(OutageStoreTest, AGroupStaysAsItIsUntilItIsAnswered) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  inner_.holds = true;
  Submitted& group = submit({api_.check("alice")});
  ASSERT_EQ(inner_.waiting(), 1U);
  EXPECT_NE(inner_.groups()[0], &group);
  EXPECT_EQ(inner_.groups()[0]->checks[0].charge_back(), 4U);
  EXPECT_EQ(group.callback, &group);
  EXPECT_EQ(group.checks[0].extension, nullptr);
  EXPECT_EQ(group.checks[0].key, api_.check("alice").key);
  inner_.deliver_all();
  EXPECT_EQ(group.checks[0].decision.remaining, 5U);
}

TEST_F(OutageStoreTest, WhatAnotherStoreOnTheSameTablesKeptIsCharged) {
  OutageStore other(inner_, clock_, 10ms, has_charges_);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  Submitted group({api_.check("alice")});
  other.submit(group);
  EXPECT_EQ(group.checks[0].decision.remaining, 5U);
}

TEST_F(OutageStoreTest, AConsumerThatIsForgottenIsForgottenHereToo) {
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 4)}).admitted);
  EXPECT_TRUE(submit({api_.check("alice")}, Operation::forget, Fallback::none).admitted);
  EXPECT_EQ(submit({api_.check("alice")}).checks[0].decision.remaining, 9U) << "nothing is charged back";
  EXPECT_EQ(submit_failing(Failure::unavailable, {api_.check("alice", 0)}).checks[0].decision.remaining, 4U)
      << "the one that the store has admitted since";
}

TEST_F(OutageStoreTest, ForgettingThatFailsIsReported) {
  const Submitted& group =
      submit_failing(Failure::unavailable, {api_.check("alice")}, Operation::forget, Fallback::none);
  EXPECT_EQ(group.failure, Failure::unavailable);
  EXPECT_FALSE(group.decided);
}

// Callbacks

TEST_F(OutageStoreTest, ACallbackMaySubmit) {
  for (const Failure failure : {Failure::none, Failure::unavailable}) {
    inner_.failing = failure;
    const std::string consumer = "consumer " + std::to_string(static_cast<int>(failure));
    Submitted first({api_.check(consumer)});
    Submitted second({api_.check(consumer)});
    Submitted third({api_.check(consumer)});
    Submitted last({api_.check(consumer)});
    first.then = [&] { store_.submit(second); };
    second.then = [&] { store_.submit(third); };
    store_.submit(std::array<Group*, 2>{&first, &last});
    EXPECT_EQ(first.answers + second.answers + third.answers + last.answers, 4);
    const std::uint64_t limit = failure == Failure::none ? 10 : 5;
    EXPECT_EQ(third.checks[0].decision.remaining, limit - 3);
    EXPECT_EQ(last.checks[0].decision.remaining, limit - 4) << "what a callback submits is decided first";
  }
}

TEST_F(OutageStoreTest, AGroupMayBeSubmittedAgainFromItsCallback) {
  inner_.holds = true;
  Submitted group({api_.check("alice")});
  group.then = [&] {
    group.deadline.reset();
    if (group.answers < 4) store_.submit(group);
  };
  store_.submit(group);
  inner_.deliver();
  inner_.fail(Failure::unavailable);
  inner_.deliver_all();
  EXPECT_EQ(group.answers, 4);
  inner_.holds = false;
  EXPECT_EQ(left_there(api_, "alice"), 6U) << "three there, one charged back";
}

TEST_F(OutageStoreTest, WhatIsDecidedAtOnceAndWhatIsForwardedMayComeInOneBatch) {
  Submitted here({api_.check("alice")});
  here.fallback = Fallback::at_once;
  here.failure = Failure::timeout;
  Submitted there({api_.check("bob")});
  store_.submit(std::array<Group*, 2>{&here, &there});
  EXPECT_EQ(here.checks[0].path, Path::share);
  EXPECT_EQ(there.checks[0].path, Path::store);
  EXPECT_EQ(here.answers + there.answers, 2);
}

// Shares divided by the number of nodes

TEST_F(OutageStoreTest, AShareFollowsTheNumberOfNodes) {
  std::atomic<std::uint32_t> nodes{4};
  OutageStore store(inner_, clock_, 10ms, has_charges_, &nodes);
  BoundStates login{*Limit::fixed_window({20, Duration(1min)})};
  login.divided();
  inner_.failing = Failure::unavailable;
  const auto passing = [&](const std::string& consumer) {
    int passed = 0;
    for (int i = 0; i < 30; ++i) {
      Submitted group({login.check(consumer)});
      store.submit(group);
      passed += group.admitted ? 1 : 0;
    }
    return passed;
  };
  EXPECT_EQ(passing("alice"), 5);
  nodes = 10;
  EXPECT_EQ(passing("bob"), 2);
  EXPECT_EQ(passing("alice"), 0) << "she has had more than that";
  nodes = 2;
  EXPECT_EQ(passing("alice"), 5) << "ten, less the five that she had";
  nodes = 1;
  EXPECT_EQ(passing("carol"), 10) << "at most a half";
}

TEST_F(OutageStoreTest, WhatWasAdmittedOnADividedShareIsChargedBack) {
  std::atomic<std::uint32_t> nodes{4};
  OutageStore store(inner_, clock_, 10ms, has_charges_, &nodes);
  BoundStates login{*Limit::fixed_window({20, Duration(1min)})};
  login.divided();
  inner_.failing = Failure::unavailable;
  for (int i = 0; i < 3; ++i) {
    Submitted group({login.check("alice")});
    store.submit(group);
  }
  inner_.failing = Failure::none;
  nodes = 8;
  Submitted group({login.check("alice")});
  store.submit(group);
  EXPECT_EQ(left_there(login, "alice"), 20U - 2 - 1) << "as much as the share has by now, and this one";
}

// A store that fails intermittently

TEST_F(OutageStoreTest, WhatAnUnsteadyStoreAdmitsCountsOnTheShareToo) {
  submit_failing(Failure::timeout, {api_.check("bob")});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(submit({api_.check("alice")}).admitted);
  inner_.failing = Failure::unavailable;
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += submit({api_.check("alice")}).admitted ? 1 : 0;
  EXPECT_EQ(passed, 5 - 3);
}

TEST_F(OutageStoreTest, OfMoreThanTheShareNothingIsLeftHere) {
  submit_failing(Failure::unavailable, {api_.check("bob")});
  EXPECT_TRUE(submit({api_.check("alice", 9)}).admitted);
  EXPECT_FALSE(submit_failing(Failure::unavailable, {api_.check("alice")}).admitted);
  EXPECT_EQ(left_there(api_, "alice"), 1U) << "and nothing is charged back for it";
}

TEST_F(OutageStoreTest, WhatAnUnsteadyStoreDeniesDoesNotCountHere) {
  submit_failing(Failure::unavailable, {api_.check("bob")});
  EXPECT_TRUE(submit({api_.check("alice", 2)}).admitted);
  EXPECT_FALSE(submit({api_.check("alice", 9)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 3)}).admitted);
}

TEST_F(OutageStoreTest, WhatOtherNodesUsedOfAnUnsteadyStoreCountsOnTheShare) {
  std::atomic<bool> others_charges{false};
  OutageStore other(inner_, clock_, 10ms, others_charges);
  submit_failing(Failure::unavailable, {api_.check("bob")});
  Submitted used({api_.check("alice", 7)});
  other.submit(used);
  EXPECT_FALSE(submit({api_.check("alice", 4)}).admitted) << "three are left of ten";
  const Submitted& here = submit_failing(Failure::unavailable, {api_.check("alice", 0)});
  EXPECT_EQ(here.checks[0].decision.remaining, 2U) << "half of the three, rounded up";
}

TEST_F(OutageStoreTest, WhatOtherNodesUsedOfASlidingWindowDoesNotCountHere) {
  const BoundStates login(*Limit::sliding_window_log({10, Duration(1h)}));
  submit_failing(Failure::unavailable, {login.check("bob")});
  Submitted used({login.check("alice", 10)});
  inner_.submit(used);
  EXPECT_FALSE(submit({login.check("alice")}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {login.check("alice", 5)}).admitted);
}

TEST_F(OutageStoreTest, AStoreThatHasNotFailedCountsAlone) {
  EXPECT_TRUE(submit({api_.check("alice", 9)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 5)}).admitted);
}

TEST_F(OutageStoreTest, WhatABucketHasNoRoomForIsChargedAsItRefills) {
  EXPECT_TRUE(submit({api_.check("alice", 10)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice", 3)}).admitted);
  EXPECT_FALSE(submit({api_.check("alice")}).admitted) << "nothing is left there, and no debt is made";
  pass(20s);  // two tokens there, one here
  EXPECT_FALSE(submit({api_.check("alice")}).admitted) << "they are charged";
  pass(20s);
  EXPECT_TRUE(submit({api_.check("alice")}).admitted) << "by then all three are charged or over";
}

// The store refills at the same time, and the same units must not refill twice.
TEST_F(OutageStoreTest, WhatAnEmptyShareAdmitsDoesNotRefillBeforeItIsCharged) {
  submit_failing(Failure::unavailable, {api_.check("bob")});
  EXPECT_TRUE(submit({api_.check("alice", 10)}).admitted) << "the share is empty now";
  for (int i = 0; i < 3; ++i) {
    pass(20s);  // one token here, two there
    EXPECT_TRUE(submit_failing(Failure::unavailable, {api_.check("alice")}).admitted);
  }
  EXPECT_EQ(submit({api_.check("alice", 0)}).checks[0].decision.remaining, 6U - 3U);
}

TEST_F(OutageStoreTest, WhatAWindowHasNoRoomForIsForgotten) {
  const BoundStates login(*Limit::fixed_window({4, Duration(1h)}));
  EXPECT_TRUE(submit({login.check("alice", 4)}).admitted);
  EXPECT_TRUE(submit_failing(Failure::unavailable, {login.check("alice", 2)}).admitted);
  EXPECT_FALSE(submit({login.check("alice")}).admitted);
  inner_.holds = true;
  Submitted& next = submit({login.check("alice")});
  ASSERT_EQ(inner_.waiting(), 1U);
  EXPECT_EQ(inner_.groups()[0]->checks[0].charge_back(), 0U) << "nothing is asked to be charged any more";
  inner_.deliver_all();
  EXPECT_FALSE(next.admitted);
}

}  // namespace
}  // namespace weir::store
