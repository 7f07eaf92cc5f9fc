// Advertised waits are exact, in any state that a random trace leads to, at every scale.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/core/generators.h"

namespace weir::core {
namespace {

constexpr Duration microsecond{1};

template <class A>
class WaitProperty : public testing::Test {
 protected:
  // Calls work(subject, numbers, now) after a random trace, including debts and steps back.
  template <class Work>
  static void after_any_trace(Work work) {
    EXPECT_TRUE(rc::check([&] {
      const Numbers numbers = any_numbers();
      const auto limit = limit_of<A>(numbers);
      RC_PRE(limit.has_value());
      RC_LOG() << numbers;
      Subject<A> subject(*limit);
      Instant now = any_start();
      for (const Operation& operation : any_trace(numbers)) {
        now += operation.step;
        if (operation.kind == Operation::Kind::settle_up) {
          subject.owe(Cost{operation.cost}, now);
        } else {
          std::ignore = subject.decide(Cost{operation.cost}, now);
        }
      }
      work(subject, numbers, now);
    }));
  }
};

TYPED_TEST_SUITE(WaitProperty, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(WaitProperty, LoneCallerIsAdmittedAtRetryAfterAndNotAMicrosecondEarlier) {
  this->after_any_trace([](const auto& subject, const Numbers& numbers, Instant now) {
    const Cost cost{any_cost(numbers)};
    const Decision decision = subject.peek(cost, now);
    if (decision.admitted || !decision.retry_after) return;
    RC_ASSERT(subject.peek(cost, now + *decision.retry_after).admitted);
    RC_ASSERT(!subject.peek(cost, now + *decision.retry_after - microsecond).admitted);
  });
}

TYPED_TEST(WaitProperty, WaitShrinksAsTimePasses) {
  this->after_any_trace([](const auto& subject, const Numbers& numbers, Instant now) {
    const Cost cost{any_cost(numbers)};
    const Decision decision = subject.peek(cost, now);
    if (decision.admitted || !decision.retry_after) return;
    const Duration passed{any_between(0, decision.retry_after->count() - 1)};
    RC_ASSERT(subject.peek(cost, now + passed).retry_after == *decision.retry_after - passed);
  });
}

TYPED_TEST(WaitProperty, EverythingIsBackAtResetAfterAndNotAMicrosecondEarlier) {
  this->after_any_trace([](const auto& subject, const Numbers& numbers, Instant now) {
    const Decision look = subject.peek(Cost{0}, now);
    RC_ASSERT(subject.peek(Cost{0}, now + look.reset_after).remaining == numbers.capacity);
    if (look.reset_after == Duration{0}) return;
    RC_ASSERT(subject.peek(Cost{0}, now + look.reset_after - microsecond).remaining < numbers.capacity);
    RC_ASSERT(subject.forget_at() == now + look.reset_after);
  });
}

TYPED_TEST(WaitProperty, RemainingIsTheLargestCostAdmittedNow) {
  this->after_any_trace([](const auto& subject, const Numbers& /*numbers*/, Instant now) {
    const std::uint64_t remaining = subject.peek(Cost{0}, now).remaining;
    if (remaining > 0) RC_ASSERT(subject.peek(Cost{remaining}, now).admitted);
    RC_ASSERT(!subject.peek(Cost{remaining + 1}, now).admitted);
  });
}

TYPED_TEST(WaitProperty, RefundWithinItsWindowRestoresWhatWasCharged) {
  this->after_any_trace([](const auto& subject, const Numbers& numbers, Instant now) {
    auto charged = subject.copy();
    const Cost cost{any_cost(numbers)};
    const Decision charge = charged.decide(cost, now);
    if (!charge.admitted) return;
    const Duration later{any_between(0, numbers.per.count())};
    charged.refund(cost, charged_by(charge), now + later);
    for (const Duration then :
         {later, later + microsecond, later + Duration{any_between(0, 3 * numbers.per.count())}}) {
      const Cost other{any_cost(numbers)};
      RC_ASSERT(charged.peek(other, now + then) == subject.peek(other, now + then));
    }
  });
}

TYPED_TEST(WaitProperty, TwoAdmittedHalvesLeaveTheStateOfTheWhole) {
  this->after_any_trace([](const auto& subject, const Numbers& /*numbers*/, Instant now) {
    const std::uint64_t remaining = subject.peek(Cost{0}, now).remaining;
    if (remaining < 2) return;
    const std::uint64_t whole = any_count(2, static_cast<std::int64_t>(remaining));
    const std::uint64_t half = any_count(1, static_cast<std::int64_t>(whole) - 1);
    auto at_once = subject.copy();
    auto in_two = subject.copy();
    RC_ASSERT(at_once.decide(Cost{whole}, now).admitted);
    RC_ASSERT(in_two.decide(Cost{half}, now).admitted);
    RC_ASSERT(in_two.decide(Cost{whole - half}, now).admitted);
    RC_ASSERT(in_two.has_the_state_of(at_once));
  });
}

}  // namespace
}  // namespace weir::core
