// Refunds, settlements, forgetting, new numbers and clock steps, for every algorithm in every small situation.
#include <limits>

#include "tests/core/conformance.h"

namespace weir::core {
namespace {

constexpr Cost enormous{std::numeric_limits<std::uint64_t>::max()};

template <class A>
class CorrectionConformance : public Conformance<A> {};

TYPED_TEST_SUITE(CorrectionConformance, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(CorrectionConformance, RefundRestoresWhatWasCharged) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    for (const Duration later : {Duration{0}, Duration{1}, Duration{4}, Duration{25}}) {
      auto after = situation.copy();
      const Decision charge = after.subject.decide(cost, situation.now);
      if (!charge.admitted) return;
      after.subject.refund(cost, charged_by(charge), situation.now + later);
      TestFixture::expect_alike(after.seen_from(situation.now + later), situation.seen_from(situation.now + later));
    }
  });
}

TYPED_TEST(CorrectionConformance, RefundOfMoreThanWasEverChargedLeavesNoMoreThanTheCapacity) {
  this->in_every_situation([](const auto& situation) {
    auto after = situation.copy();
    after.subject.refund(enormous, {situation.now, Instant::max()}, situation.now);
    const Decision look = after.subject.peek(Cost{0}, situation.now);
    ASSERT_LE(look.remaining, look.limit);
    ASSERT_GE(look.remaining, situation.subject.peek(Cost{0}, situation.now).remaining);
    ASSERT_FALSE(after.subject.peek(Cost{look.limit + 1}, situation.now).admitted);
  });
}

TYPED_TEST(CorrectionConformance, SettlingWhatWasReservedChangesNothing) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto after = situation.copy();
    after.subject.settle({.reserved = cost, .actual = cost, .charged = {situation.now, Instant::max()}}, situation.now);
    ASSERT_TRUE(after.subject.has_the_state_of(situation.subject));
  });
}

TYPED_TEST(CorrectionConformance, SettlingToNothingIsARefund) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    auto settled = situation.copy();
    const Decision charge = settled.subject.decide(cost, situation.now);
    if (!charge.admitted) return;
    settled.subject.settle({.reserved = cost, .actual = Cost{0}, .charged = charged_by(charge)}, situation.now);
    TestFixture::expect_alike(settled.seen(), situation.seen());
  });
}

TYPED_TEST(CorrectionConformance, SettlingUpIsWhatAHigherCostWouldHaveBeen) {
  this->for_every_cost([](const auto& situation, Cost actual) {
    auto paid = situation.copy();
    if (!paid.subject.decide(actual, situation.now).admitted) return;
    for (std::uint64_t reserved = 1; reserved < actual.units(); ++reserved) {
      auto settled = situation.copy();
      const Decision charge = settled.subject.decide(Cost{reserved}, situation.now);
      settled.subject.settle({Cost{reserved}, actual, charged_by(charge)}, situation.now);
      TestFixture::expect_alike(settled.seen(), paid.seen());
    }
  });
}

TYPED_TEST(CorrectionConformance, DebtIsAtMostOneCapacity) {
  this->in_every_situation([](const auto& situation) {
    auto deep = situation.copy();
    deep.subject.owe(enormous, situation.now);
    deep.model.owe(1'000'000, situation.micros());
    ASSERT_EQ(deep.model.room(situation.micros()), -deep.model.capacity());
    const Decision look = deep.subject.peek(Cost{0}, situation.now);
    ASSERT_FALSE(look.admitted);
    ASSERT_EQ(look.remaining, 0U);
    auto deeper = deep.copy();
    deeper.subject.owe(Cost{1}, situation.now);
    TestFixture::expect_alike(deeper.seen(), deep.seen());
    if (std::is_same_v<TypeParam, SlidingWindowLog>) return;  // may be full: the model keeps more entries
    for (std::uint64_t cost = 0; cost <= look.limit; ++cost) {
      ASSERT_EQ(deep.subject.peek(Cost{cost}, situation.now).retry_after,
                oracle::peek(deep.model, Cost{cost}, situation.micros()).retry_after);
    }
  });
}

TYPED_TEST(CorrectionConformance, StateIsAsGoodAsFreshFromForgetAtOnAndNotBefore) {
  this->in_every_situation([](const auto& situation) {
    const Instant forgotten = situation.subject.forget_at();
    const Instant then = std::max(forgotten, situation.now);
    const auto& numbers = situation.subject;
    auto old = situation.copy();
    auto fresh = old.subject.fresh();
    TestFixture::expect_alike(old.subject.seen_from(then, {Duration{0}, microsecond}),
                              fresh.seen_from(then, {Duration{0}, microsecond}));
    ASSERT_EQ(old.subject.decide(Cost{1}, then), fresh.decide(Cost{1}, then));
    TestFixture::expect_alike(old.seen_from(then), fresh.seen_from(then, situation.sample_times()));
    if (forgotten <= situation.now) return;
    ASSERT_LT(numbers.peek(Cost{0}, forgotten - microsecond).remaining, numbers.capacity());
  });
}

TYPED_TEST(CorrectionConformance, NothingIsRefilledByAClockThatStepsBack) {
  this->in_every_situation([](const auto& situation) {
    const std::uint64_t remaining = situation.subject.peek(Cost{0}, situation.now).remaining;
    for (const Duration back : {Duration{1}, Duration{3}, Duration{10}, Duration{1000}}) {
      ASSERT_LE(situation.subject.peek(Cost{0}, situation.now - back).remaining, remaining);
    }
    ASSERT_EQ(situation.subject.peek(Cost{0}, situation.now).remaining, remaining);
  });
}

TYPED_TEST(CorrectionConformance, WaitAdvertisedAfterAStepBackIsExactToo) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    for (const Duration back : {Duration{1}, Duration{10}}) {
      const Instant earlier = situation.now - back;
      const Decision denied = situation.subject.peek(cost, earlier);
      if (denied.admitted || !denied.retry_after) continue;
      ASSERT_TRUE(situation.subject.peek(cost, earlier + *denied.retry_after).admitted);
      ASSERT_FALSE(situation.subject.peek(cost, earlier + *denied.retry_after - microsecond).admitted);
    }
  });
}

TYPED_TEST(CorrectionConformance, ChargeMadeAfterAStepBackCanBeRefunded) {
  this->for_every_cost([](const auto& situation, Cost cost) {
    const Instant earlier = situation.now - Duration{4};
    auto after = situation.copy();
    const Decision charge = after.subject.decide(cost, earlier);
    if (!charge.admitted) return;
    after.subject.refund(cost, charged_by(charge), earlier);
    TestFixture::expect_alike(after.seen_from(earlier), situation.seen_from(earlier));
  });
}

TYPED_TEST(CorrectionConformance, CenturyLaterEverythingIsBack) {
  this->in_every_situation([](const auto& situation) {
    const Instant later = situation.now + std::chrono::years{100};
    const auto fresh = situation.subject.fresh();
    TestFixture::expect_alike(situation.seen_from(later), fresh.seen_from(later, situation.sample_times()));
  });
}

TYPED_TEST(CorrectionConformance, SameNumbersCarriedOverChangeNothingButADebtOfABucket) {
  this->in_every_situation([](const auto& situation) {
    if (is_bucket<TypeParam> && situation.model.room(situation.micros()) < 0) return;
    auto after = situation.copy();
    after.subject.carry_over(situation.now);
    TestFixture::expect_alike(after.seen(), situation.seen());
  });
}

}  // namespace
}  // namespace weir::core
