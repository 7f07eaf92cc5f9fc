// The guarantees of a decision, for every algorithm in every small situation.
#include <tuple>

#include "tests/core/conformance.h"

namespace weir::core {
namespace {

template <class A>
class DecisionConformance : public Conformance<A> {
 protected:
  using typename Conformance<A>::Situation;
};

TYPED_TEST_SUITE(DecisionConformance, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(DecisionConformance, FreshStateHasTheFullCapacityAndNoMore) {
  for (const Numbers& numbers : this->small_numbers()) {
    for (const Instant now : {at(Duration{0}), at(Duration{-5}), at(Duration{1'700'000'000'000'003})}) {
      const Subject<TypeParam> fresh(limit_of<TypeParam>(numbers).value());
      const Decision look = fresh.peek(Cost{0}, now);
      EXPECT_TRUE(look.admitted);
      EXPECT_EQ(look.remaining, numbers.capacity);
      EXPECT_EQ(look.limit, numbers.capacity);
      EXPECT_EQ(look.reset_after, Duration{0});
      const Decision all = fresh.peek(Cost{numbers.capacity}, now);
      EXPECT_TRUE(all.admitted);
      EXPECT_EQ(all.remaining, 0U);
      EXPECT_EQ(all.delay, Duration{0});
      EXPECT_FALSE(fresh.peek(Cost{numbers.capacity + 1}, now).admitted);
    }
  }
}

TYPED_TEST(DecisionConformance, EveryNumberIsThatOfTheModel) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    Decision actual = situation.subject.peek(cost, situation.now);
    const Decision expected = oracle::peek(situation.model, cost, situation.micros());
    actual.charged_at = expected.charged_at;
    ASSERT_EQ(actual, expected) << "cost " << cost.units();
  });
}

TYPED_TEST(DecisionConformance, DenialLeavesTheStateAsItWas) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto after = situation.copy();
    if (after.subject.decide(cost, situation.now).admitted) return;
    ASSERT_TRUE(after.subject.has_the_state_of(situation.subject)) << "cost " << cost.units();
    TestFixture::expect_alike(after.seen(), situation.seen());
  });
}

TYPED_TEST(DecisionConformance, AdmissionOfSomethingIsSeen) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto after = situation.copy();
    const bool admitted = after.subject.decide(cost, situation.now).admitted;
    if (!admitted || cost == Cost{0}) return;
    ASSERT_EQ(after.subject.peek(Cost{0}, situation.now).remaining,
              situation.subject.peek(Cost{0}, situation.now).remaining - cost.units());
  });
}

TYPED_TEST(DecisionConformance, PeekAnswersWhatDecideWould) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto other = situation.copy();
    const Decision peeked = situation.subject.peek(cost, situation.now);
    ASSERT_EQ(peeked, other.subject.decide(cost, situation.now)) << "cost " << cost.units();
  });
}

TYPED_TEST(DecisionConformance, CostZeroIsAdmittedUnlessInDebtAndNeverWrites) {
  this->in_every_situation([](const auto& situation) {
    auto after = situation.copy();
    const bool in_debt = situation.model.room(situation.micros()) < 0;
    ASSERT_EQ(after.subject.decide(Cost{0}, situation.now).admitted, !in_debt);
    ASSERT_TRUE(after.subject.has_the_state_of(situation.subject));
  });
}

TYPED_TEST(DecisionConformance, RemainingIsTheLargestCostThatIsAdmittedNow) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto after = situation.copy();
    const Decision decision = after.subject.decide(cost, situation.now);
    if (decision.remaining > 0) {
      ASSERT_TRUE(after.subject.peek(Cost{decision.remaining}, situation.now).admitted);
    }
    ASSERT_FALSE(after.subject.peek(Cost{decision.remaining + 1}, situation.now).admitted);
  });
}

TYPED_TEST(DecisionConformance, RetryAfterIsTheFirstInstantAtWhichItIsAdmitted) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    const Decision denied = situation.subject.peek(cost, situation.now);
    if (denied.admitted || !denied.retry_after) return;
    ASSERT_GT(*denied.retry_after, Duration{0});
    for (Duration wait{0}; wait < *denied.retry_after; wait += microsecond) {
      ASSERT_FALSE(situation.subject.peek(cost, situation.now + wait).admitted) << "after " << wait.count();
    }
    ASSERT_TRUE(situation.subject.peek(cost, situation.now + *denied.retry_after).admitted);
  });
}

TYPED_TEST(DecisionConformance, RetryAfterIsEmptyOnlyForWhatCanNeverFitAndZeroWhenAdmitted) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    const Decision decision = situation.subject.peek(cost, situation.now);
    ASSERT_EQ(decision.retry_after.has_value(), cost.units() <= situation.subject.capacity());
    ASSERT_EQ(decision.retry_after == Duration{0}, decision.admitted);
  });
}

TYPED_TEST(DecisionConformance, ResetAfterIsTheFirstInstantAtWhichEverythingIsBack) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto after = situation.copy();
    const Decision decision = after.subject.decide(cost, situation.now);
    const Instant reset = situation.now + decision.reset_after;
    ASSERT_GE(decision.reset_after, Duration{0});
    ASSERT_EQ(after.subject.peek(Cost{0}, reset).remaining, decision.limit);
    if (decision.reset_after == Duration{0}) return;
    ASSERT_LT(after.subject.peek(Cost{0}, reset - microsecond).remaining, decision.limit);
  });
}

TYPED_TEST(DecisionConformance, TwoAdmittedHalvesLeaveTheStateOfTheWhole) {
  this->for_every_cost([](const auto& situation, Cost whole) {
    if (!situation.subject.peek(whole, situation.now).admitted) return;
    auto at_once = situation.copy();
    std::ignore = at_once.subject.decide(whole, situation.now);
    for (std::uint64_t half = 1; half < whole.units(); ++half) {
      auto in_two = situation.copy();
      ASSERT_TRUE(in_two.subject.decide(Cost{half}, situation.now).admitted);
      ASSERT_TRUE(in_two.subject.decide(Cost{whole.units() - half}, situation.now).admitted);
      ASSERT_TRUE(in_two.subject.has_the_state_of(at_once.subject));
    }
  });
}

TYPED_TEST(DecisionConformance, OnlyTheQueueMakesAnyoneWait) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    const Decision decision = situation.subject.peek(cost, situation.now);
    const bool may_wait = std::is_same_v<TypeParam, LeakyBucketQueue> && decision.admitted;
    ASSERT_TRUE(decision.delay == Duration{0} || may_wait);
    ASSERT_EQ(decision.charged_at, situation.now + decision.delay);
  });
}

}  // namespace
}  // namespace weir::core
