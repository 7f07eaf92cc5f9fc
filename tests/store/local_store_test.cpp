// The store in this process's memory: groups on tables, at their own time.
#include "store/local/local_store.h"

#include <array>

#include "store/local/throttle_table.h"
#include "tests/store/groups.h"
#include "tests/store/receipt_suite.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;

class LocalStoreTest : public testing::Test {
 protected:
  // Decides a group of these checks now.
  Submitted& submit(std::vector<Check> checks, Operation operation = Operation::decide) {
    Submitted& group = *groups_.emplace_back(std::make_unique<Submitted>(std::move(checks), operation));
    group.now = now_;
    store_.submit(group);
    EXPECT_EQ(group.answers, 1);
    EXPECT_TRUE(group.decided);
    EXPECT_EQ(group.failure, Failure::none);
    return group;
  }
  std::uint64_t left(const BoundStates& states, const std::string& consumer) {
    return submit({states.check(consumer, 0)}, Operation::look).checks[0].decision.remaining;
  }

  Instant now_{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  LocalStore store_;
  BoundStates small_{*Limit::token_bucket({{1, Duration(1min)}, 2})};
  BoundStates large_{*Limit::fixed_window({10, Duration(1h)})};
  std::vector<std::unique_ptr<Submitted>> groups_;
};

TEST_F(LocalStoreTest, ChargesAllChecksOfAGroupOrNone) {
  for (int i = 0; i < 4; ++i) {
    const Submitted& group = submit({small_.check("alice"), large_.check("all", 3)});
    EXPECT_EQ(group.admitted, i < 2) << i;
    EXPECT_EQ(group.now, now_);
  }
  EXPECT_EQ(left(large_, "all"), 4U);
  const Submitted& denied = submit({small_.check("alice"), large_.check("all", 3)});
  EXPECT_FALSE(denied.checks[0].decision.admitted);
  EXPECT_TRUE(denied.checks[1].decision.admitted);
  EXPECT_EQ(denied.checks[1].decision.remaining, 4U) << "what is left uncharged";
}

TEST_F(LocalStoreTest, AGuardHasToAdmitAndIsNeverCharged) {
  const Submitted& first = submit({large_.check("all"), small_.guard("alice")});
  EXPECT_TRUE(first.admitted);
  EXPECT_EQ(first.checks[1].decision.remaining, 1U) << "what it would leave";
  EXPECT_EQ(left(small_, "alice"), 2U);
  std::ignore = submit({small_.check("alice", 2)});
  EXPECT_FALSE(submit({large_.check("all"), small_.guard("alice")}).admitted);
  EXPECT_EQ(left(large_, "all"), 9U);
}

TEST_F(LocalStoreTest, ALookSaysWhatDecidingWouldAndChargesNothing) {
  for (int i = 0; i < 3; ++i) {
    const Submitted& group = submit({small_.check("alice"), large_.check("all", 3)}, Operation::look);
    EXPECT_TRUE(group.admitted);
    EXPECT_EQ(group.checks[0].decision.remaining, 1U);
    EXPECT_EQ(group.checks[1].decision.remaining, 7U);
  }
  EXPECT_FALSE(submit({small_.check("alice", 3), large_.check("all")}, Operation::look).admitted);
}

TEST_F(LocalStoreTest, SettlesAndForgets) {
  const core::Charged charged = core::charged_by(submit({large_.check("all", 6)}).checks[0].decision);
  Submitted settled({large_.check("all")}, Operation::settle);
  settled.settlement = core::Settlement{Cost{6}, Cost{2}, charged};
  settled.now = now_;
  store_.submit(settled);
  EXPECT_TRUE(settled.admitted);
  EXPECT_EQ(left(large_, "all"), 8U);
  EXPECT_TRUE(submit({large_.check("all")}, Operation::forget).admitted);
  EXPECT_EQ(left(large_, "all"), 10U);
}

TEST_F(LocalStoreTest, TellsWhenMoreIsLeftWhereACheckWantsToKnow) {
  Check wanting = large_.check("all");
  wanting.wants_more_after = true;
  const Submitted& group = submit({wanting, small_.check("alice")});
  EXPECT_EQ(group.checks[0].decision.more_after, 1h);
  EXPECT_EQ(group.checks[1].decision.more_after, std::nullopt);
}

TEST_F(LocalStoreTest, DecidesACheckByTheRuleThatItBrings) {
  const core::Rule four = core::compile(*Limit::fixed_window({4, Duration(1h)}));
  Check check = large_.check("all", 3);
  check.rule = &four;
  EXPECT_EQ(submit({check}).checks[0].decision.remaining, 1U);
  EXPECT_FALSE(submit({check}).admitted);
}

TEST_F(LocalStoreTest, DecidesCLThrottleOnItsOwnTable) {
  const auto table = *ThrottleTable::create(std::size_t{4} << 20, {1, 2});
  States states;
  states.throttle = table.get();
  const core::Rule three = core::compile(*Limit::gcra({{1, Duration(1s)}, 3}));
  for (std::uint64_t left = 3; left-- > 0;) {
    Check check;
    check.states = &states;
    check.rule = &three;
    check.hash = table->seek("key");
    EXPECT_EQ(submit({check}).checks[0].decision.remaining, left);
  }
}

TEST_F(LocalStoreTest, GroupsOfABatchAreDecidedInOrderAndCalledBackBetween) {
  Submitted first({small_.check("alice")});
  Submitted second({small_.check("alice")});
  Submitted third({small_.check("alice")});
  first.now = second.now = third.now = now_;
  std::string order;
  first.then = [&] { order += "1"; };
  second.then = [&] { order += "2"; };
  third.then = [&] { order += "3"; };
  store_.submit(std::array<Group*, 3>{&first, &second, &third});
  EXPECT_EQ(order, "123");
  EXPECT_TRUE(first.admitted && second.admitted);
  EXPECT_FALSE(third.admitted);
}

TEST_F(LocalStoreTest, WhatACallbackSubmitsIsDecidedBeforeTheNextGroup) {
  Submitted first({small_.check("alice")});
  Submitted follower({small_.check("alice")});
  Submitted second({small_.check("alice")});
  first.now = follower.now = second.now = now_;
  first.then = [&] { store_.submit(follower); };
  store_.submit(std::array<Group*, 2>{&first, &second});
  EXPECT_TRUE(first.admitted && follower.admitted);
  EXPECT_FALSE(second.admitted);
}

TEST_F(LocalStoreTest, AGroupMayBeSubmittedAgainFromItsCallback) {
  Submitted group({large_.check("all")});
  group.now = now_;
  group.then = [&] {
    if (group.answers < 5) store_.submit(group);
  };
  store_.submit(group);
  EXPECT_EQ(group.answers, 5);
  EXPECT_EQ(left(large_, "all"), 5U);
}

TEST_F(LocalStoreTest, TakesAsManyChecksAsAGroupMayHave) {
  std::vector<Check> checks;
  for (std::size_t i = 0; i < Group::max_checks; ++i) checks.push_back(large_.check(std::to_string(i), i % 3));
  EXPECT_TRUE(submit(checks).admitted);
  EXPECT_EQ(left(large_, "5"), 8U);
  EXPECT_EQ(left(large_, "63"), 10U);
}

// Receipts

TEST_F(LocalStoreTest, ReceiptsMatchTheCore) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ReceiptSuite suite(seed);
    suite.run(200, [&](Group& group, Instant now) {
      group.now = now;
      store_.submit(group);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_F(LocalStoreTest, AReserveOpensItsReceiptsAllOrNothing) {
  core::ReceiptUse small_use{.id = {1, 2}, .lasts = 1min};
  core::ReceiptUse large_use{.id = {1, 2}, .lasts = 1min};
  Check small = small_.check("alice", 3);
  Check large = large_.check("all", 6);
  small.receipt = &small_use;
  large.receipt = &large_use;
  EXPECT_FALSE(submit({large, small}).admitted);
  EXPECT_EQ(large_use.result, core::ReceiptResult::none);
  EXPECT_EQ(left(large_, "all"), 10U);
  small.cost = Cost{2};
  EXPECT_TRUE(submit({large, small}).admitted);
  EXPECT_EQ(small_use.result, core::ReceiptResult::done);
  EXPECT_EQ(large_use.result, core::ReceiptResult::done);
  EXPECT_TRUE(submit({large, small}).admitted) << "the same again";
  EXPECT_EQ(large_use.result, core::ReceiptResult::repeated);
  EXPECT_EQ(left(large_, "all"), 4U);
  small_use.actual = large_use.actual = Cost{0};
  submit({large, small}, Operation::settle);
  EXPECT_EQ(large_use.result, core::ReceiptResult::done);
  EXPECT_EQ(left(large_, "all"), 10U);
  submit({large, small}, Operation::settle);
  EXPECT_EQ(large_use.result, core::ReceiptResult::ended);
}

}  // namespace
}  // namespace weir::store
