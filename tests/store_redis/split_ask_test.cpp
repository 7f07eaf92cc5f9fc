#include "store/redis/split_ask.h"

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
class SplitAskTest : public testing::Test, protected SplitAsk::Owner, protected SharedAsker {
 protected:
  SplitAskTest() : split_(static_cast<SplitAsk::Owner&>(*this)) {
    whole_.asker = this;
    whole_.checks = {{.key = "a", .rule = &rule_, .cost = Cost{2}},
                     {.key = "b", .rule = &rule_},
                     {.key = "c", .rule = &rule_, .cost = Cost{3}}};
  }

  void begin() { split_.begin(whole_, std::vector<Slot>{1, 2, 1}); }

  // As a lane would.
  void answer(std::size_t part, bool admitted, Duration at, StoreFailure failure = StoreFailure::none) {
    SharedAsk& ask = split_.parts()[part].ask;
    ask.failure = failure;
    ask.admitted = admitted;
    ask.now = Instant{at};
    ask.answers.assign(ask.checks.size(), {});
    for (SharedAnswer& answer : ask.answers) {
      answer.decision = {.admitted = admitted, .limit = 10, .remaining = 4, .delay = 1s, .charged_at = Instant{at}};
    }
    ask.asker->answered(ask);
  }

  void refund(const SharedCheck& charged, Instant charged_at, Slot slot) override {
    refunds_ += charged.key + " " + std::to_string(charged.cost.units()) + " at " +
                std::to_string(charged_at.time_since_epoch().count()) + " in " + std::to_string(slot) + "; ";
  }
  void on_done(SplitAsk& /*split*/) override { ++done_; }
  void answered(SharedAsk& /*ask*/) override { ++answered_; }

  core::Rule rule_ = slow_rule(10);
  SharedAsk whole_;
  SplitAsk split_;
  std::string refunds_;
  int done_ = 0;
  int answered_ = 0;
};

TEST_F(SplitAskTest, EachSlotHasItsChecks) {
  begin();
  ASSERT_EQ(split_.parts().size(), 2U);
  EXPECT_EQ(split_.parts()[0].slot, 1);
  ASSERT_EQ(split_.parts()[0].ask.checks.size(), 2U);
  EXPECT_EQ(split_.parts()[0].ask.checks[1].key, "c");
  EXPECT_EQ(split_.parts()[1].slot, 2);
  EXPECT_EQ(split_.parts()[1].ask.checks[0].key, "b");
}

TEST_F(SplitAskTest, WhenAllAdmitNothingIsGivenBack) {
  begin();
  answer(1, true, 7us);
  EXPECT_EQ(answered_, 0) << "one is still out";
  answer(0, true, 5us);
  EXPECT_EQ(answered_, 1);
  EXPECT_EQ(done_, 1);
  EXPECT_TRUE(whole_.admitted);
  EXPECT_EQ(whole_.failure, StoreFailure::none);
  EXPECT_EQ(whole_.now, Instant{7us}) << "the latest";
  ASSERT_EQ(whole_.answers.size(), 3U);
  EXPECT_EQ(whole_.answers[0].decision.charged_at, Instant{5us});
  EXPECT_EQ(whole_.answers[1].decision.charged_at, Instant{7us});
  EXPECT_EQ(whole_.checks[1].key, "b");
  EXPECT_EQ(refunds_, "");
}

TEST_F(SplitAskTest, WhenOneDeniesTheOthersAreGivenBack) {
  begin();
  answer(0, true, 5us);
  answer(1, false, 7us);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(whole_.failure, StoreFailure::none);
  EXPECT_EQ(refunds_, "a 2 at 5 in 1; c 3 at 5 in 1; ");
  ASSERT_EQ(whole_.answers.size(), 3U);
  EXPECT_EQ(whole_.answers[0].decision.remaining, 6U) << "uncharged";
  EXPECT_EQ(whole_.answers[0].decision.delay, 0s);
  EXPECT_FALSE(whole_.answers[1].decision.admitted);
  EXPECT_EQ(whole_.answers[2].decision.remaining, 7U);
}

TEST_F(SplitAskTest, WhenOneFailsTheOthersAreGivenBackAndTheWholeFails) {
  begin();
  answer(0, true, 5us);
  answer(1, false, 0us, StoreFailure::timeout);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(whole_.failure, StoreFailure::timeout);
  EXPECT_TRUE(whole_.answers.empty());
  EXPECT_EQ(refunds_, "a 2 at 5 in 1; c 3 at 5 in 1; ");
  EXPECT_EQ(whole_.checks[0].key, "a");
}

TEST_F(SplitAskTest, GuardsAndCostsOfNothingHaveNothingToGiveBack) {
  whole_.checks[0].role = SharedCheck::Role::guard;
  whole_.checks[2].cost = Cost{0};
  begin();
  answer(0, true, 5us);
  answer(1, false, 7us);
  EXPECT_EQ(refunds_, "");
}

TEST_F(SplitAskTest, LookingChargesNothingAndSoGivesNothingBack) {
  whole_.operation = SharedOperation::look;
  begin();
  answer(0, true, 5us);
  answer(1, false, 7us);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(refunds_, "");
  EXPECT_EQ(whole_.answers[0].decision.remaining, 4U);
}

TEST_F(SplitAskTest, MayBeUsedAgain) {
  begin();
  answer(0, true, 5us);
  answer(1, true, 7us);
  split_.begin(whole_, std::vector<Slot>{4, 4, 4});
  ASSERT_EQ(split_.parts().size(), 1U);
  answer(0, true, 9us);
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(whole_.checks[2].key, "c");
}

}  // namespace
}  // namespace weir::store::redis
