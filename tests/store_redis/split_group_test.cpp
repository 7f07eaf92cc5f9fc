#include "store/redis/split_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/rule.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;

// Three checks in two slots: 1, 2, 1.
class SplitGroupTest : public testing::Test, protected SplitGroup::Owner, protected Callback {
 protected:
  SplitGroupTest() : split_(static_cast<SplitGroup::Owner&>(*this)) {
    whole_.callback = this;
    whole_.checks = {check_of("a", rule_, 2), check_of("b", rule_), check_of("c", rule_, 3)};
  }

  void begin() { split_.begin(whole_, std::vector<Slot>{1, 2, 1}); }

  // Answers a part, like a queue.
  void answer(std::size_t part, bool admitted, Duration at, Failure failure = Failure::none) {
    Group& group = split_.parts()[part].forwarded.group;
    group.failure = failure;
    group.admitted = admitted;
    group.now = Instant{at};
    group.decided = failure == Failure::none;
    for (Check& check : group.checks) {
      check.decision = {.admitted = admitted, .limit = 10, .remaining = 4, .delay = 1s, .charged_at = Instant{at}};
    }
    group.callback->answered(group);
  }

  void refund(const store::Check& check, const core::Charged& charged, Slot slot) override {
    refunds_ += check.key + " " + std::to_string(check.cost.units()) + " at " +
                std::to_string(charged.at.time_since_epoch().count()) + " in " + std::to_string(slot) + "; ";
  }
  void on_done(SplitGroup& /*split*/) override { ++done_; }
  void answered(Group& /*group*/) override { ++answered_; }

  core::Rule rule_ = slow_rule(10);
  Group whole_;
  SplitGroup split_;
  std::string refunds_;
  int done_ = 0;
  int answered_ = 0;
};

TEST_F(SplitGroupTest, EachSlotHasItsChecks) {
  begin();
  ASSERT_EQ(split_.parts().size(), 2U);
  EXPECT_EQ(split_.parts()[0].slot, 1);
  ASSERT_EQ(split_.parts()[0].forwarded.group.checks.size(), 2U);
  EXPECT_EQ(split_.parts()[0].forwarded.group.checks[1].key, "c");
  EXPECT_EQ(split_.parts()[1].slot, 2);
  EXPECT_EQ(split_.parts()[1].forwarded.group.checks[0].key, "b");
}

TEST_F(SplitGroupTest, WhenAllAdmitNothingIsGivenBack) {
  begin();
  answer(1, true, 7us);
  EXPECT_EQ(answered_, 0) << "one is still out";
  answer(0, true, 5us);
  EXPECT_EQ(answered_, 1);
  EXPECT_EQ(done_, 1);
  EXPECT_TRUE(whole_.admitted);
  EXPECT_EQ(whole_.failure, Failure::none);
  EXPECT_EQ(whole_.now, Instant{7us}) << "the latest";
  EXPECT_TRUE(whole_.decided);
  EXPECT_EQ(whole_.checks[0].decision.charged_at, Instant{5us});
  EXPECT_EQ(whole_.checks[1].decision.charged_at, Instant{7us});
  EXPECT_EQ(whole_.checks[1].key, "b");
  EXPECT_EQ(refunds_, "");
}

TEST_F(SplitGroupTest, WhenOneDeniesTheOthersAreGivenBack) {
  begin();
  answer(0, true, 5us);
  answer(1, false, 7us);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(whole_.failure, Failure::none);
  EXPECT_EQ(refunds_, "a 2 at 5 in 1; c 3 at 5 in 1; ");
  EXPECT_TRUE(whole_.decided);
  EXPECT_EQ(whole_.checks[0].decision.remaining, 6U) << "uncharged";
  EXPECT_EQ(whole_.checks[0].decision.delay, 0s);
  EXPECT_FALSE(whole_.checks[1].decision.admitted);
  EXPECT_EQ(whole_.checks[2].decision.remaining, 7U);
}

TEST_F(SplitGroupTest, WhenOneFailsTheOthersAreGivenBackAndTheWholeFails) {
  begin();
  answer(0, true, 5us);
  answer(1, false, 0us, Failure::timeout);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(whole_.failure, Failure::timeout);
  EXPECT_FALSE(whole_.decided);
  EXPECT_EQ(refunds_, "a 2 at 5 in 1; c 3 at 5 in 1; ");
  EXPECT_EQ(whole_.checks[0].key, "a");
}

TEST_F(SplitGroupTest, GuardsAndCostsOfNothingHaveNothingToGiveBack) {
  whole_.checks[0].role = store::Check::Role::guard;
  whole_.checks[2].cost = Cost{0};
  begin();
  answer(0, true, 5us);
  answer(1, false, 7us);
  EXPECT_EQ(refunds_, "");
}

TEST_F(SplitGroupTest, LookingChargesNothingAndSoGivesNothingBack) {
  whole_.operation = store::Operation::look;
  begin();
  answer(0, true, 5us);
  answer(1, false, 7us);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(refunds_, "");
  EXPECT_EQ(whole_.checks[0].decision.remaining, 4U);
}

TEST_F(SplitGroupTest, MayBeUsedAgain) {
  begin();
  answer(0, true, 5us);
  answer(1, true, 7us);
  split_.begin(whole_, std::vector<Slot>{4, 4, 4});
  ASSERT_EQ(split_.parts().size(), 1U);
  answer(0, true, 9us);
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(whole_.checks[2].key, "c");
}

TEST_F(SplitGroupTest, WhatOnePartHasChargedBackIsNotChargedBackAgain) {
  CheckExtension first{.charge_back = 5};
  CheckExtension second{.charge_back = 5};
  whole_.checks[0].extension = &first;
  whole_.checks[1].extension = &second;
  begin();
  answer(0, true, 5us);
  answer(1, false, 0us, Failure::refused);
  EXPECT_EQ(whole_.failure, Failure::refused);
  EXPECT_EQ(refunds_, "a 2 at 5 in 1; c 3 at 5 in 1; ");
  EXPECT_EQ(first.charge_back, 0U);
  EXPECT_EQ(second.charge_back, 5U);
}

TEST_F(SplitGroupTest, TheFailureThatLeavesMostInDoubtCounts) {
  CheckExtension first{.charge_back = 5};
  whole_.checks[0].extension = &first;
  begin();
  answer(0, false, 0us, Failure::timeout);
  answer(1, false, 0us, Failure::unavailable);
  EXPECT_EQ(whole_.failure, Failure::timeout);
  EXPECT_EQ(first.charge_back, 0U);
  EXPECT_FALSE(whole_.decided);
}

}  // namespace
}  // namespace weir::store::redis
