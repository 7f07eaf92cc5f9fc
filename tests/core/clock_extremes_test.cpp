// Every algorithm at the extremes of time and with the largest numbers: no overflow, no trap, no refill.
#include <limits>
#include <tuple>

#include "tests/core/rows.h"

namespace weir::core {
namespace {

constexpr std::uint64_t enormous = std::numeric_limits<std::uint64_t>::max();
constexpr Duration ten_years = std::chrono::days{3650};
constexpr std::uint64_t two_to_53 = std::uint64_t{1} << 53;

template <class A>
class ClockExtremes : public testing::Test {
 protected:
  // The smallest, the largest and the slowest valid limits.
  static std::vector<weir::Limit> limits() {
    constexpr bool is_log = std::is_same_v<A, SlidingWindowLog>;
    std::vector<weir::Limit> limits;
    for (const Numbers& numbers : std::vector<Numbers>{
             {.capacity = 1, .count = 1, .per = 1us},
             {.capacity = is_log ? 65'536U : 4'294'967'295U, .count = 2'000'000, .per = 1s},
             {.capacity = 1, .count = 1, .per = ten_years},
             {.capacity = is_log ? 3U : 300'000'000U, .count = 1'000'000'007, .per = 1'000'000'006s},
             {.capacity = is_log         ? 3U
                          : is_bucket<A> ? 1U
                                         : 4'294'967'295U,
              .count = two_to_53,
              .per = ten_years},
             {.capacity = is_log         ? 3U
                          : is_bucket<A> ? two_to_53
                                         : 9U,
              .count = 1'000,
              .per = 1ms},
         }) {
      const auto limit = limit_of<A>(numbers);
      if (limit) limits.push_back(*limit);
    }
    return limits;
  }

  static std::vector<Instant> instants() {
    const Instant today = at(1'800'000'000s);
    return {today,    Instant::max(),      today,          Instant::min(),   at(0us),
            at(-1us), Instant::min(),      Instant::max(), today + 876'000h, Instant::max() - 1us,
            at(-1h),  Instant::min() + 1us};
  }
};

TYPED_TEST_SUITE(ClockExtremes, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(ClockExtremes, AnyOrderOfExtremeInstantsIsDecidedWithinBounds) {
  const auto limits = this->limits();
  ASSERT_GE(limits.size(), 4U);
  for (const weir::Limit& limit : limits) {
    Subject<TypeParam> subject(limit);
    for (const Instant now : this->instants()) {
      for (const std::uint64_t cost : {std::uint64_t{0}, std::uint64_t{1}, limit.capacity(), enormous}) {
        const Decision decision = subject.decide(Cost{cost}, now);
        EXPECT_LE(decision.remaining, limit.capacity());
        EXPECT_GE(decision.reset_after, 0us);
        EXPECT_GE(decision.delay, 0us);
        EXPECT_EQ(decision.retry_after.has_value(), cost <= limit.capacity());
        EXPECT_GE(decision.retry_after.value_or(0us), 0us);
        subject.refund(Cost{cost}, {Instant::min(), Instant::min()}, now);
        subject.refund(Cost{cost}, {Instant::max(), Instant::max()}, now);
        subject.owe(Cost{cost}, now);
        subject.refund(Cost{enormous}, charged_by(decision), now);
        EXPECT_LE(subject.peek(Cost{0}, now).remaining, limit.capacity());
        std::ignore = subject.forget_at();
      }
    }
    subject.carry_over(Instant::min());
    subject.carry_over(Instant::max());
    EXPECT_LE(subject.peek(Cost{0}, Instant::max()).remaining, limit.capacity());
  }
}

TYPED_TEST(ClockExtremes, JumpOfACenturyRefillsEverythingAndNoMore) {
  const Instant today = at(1'800'000'000s);
  const Instant later = today + std::chrono::years{100};
  for (const weir::Limit& limit : this->limits()) {
    Subject<TypeParam> subject(limit);
    ASSERT_TRUE(subject.decide(Cost{limit.capacity()}, today).admitted);
    subject.owe(Cost{enormous}, today);
    EXPECT_EQ(subject.peek(Cost{0}, later).remaining, limit.capacity());
    ASSERT_TRUE(subject.decide(Cost{limit.capacity()}, later).admitted);
    EXPECT_EQ(subject.peek(Cost{0}, later).remaining, 0U);
  }
}

TYPED_TEST(ClockExtremes, StepBackOfACenturyRefillsNothing) {
  const Instant today = at(1'800'000'000s);
  for (const weir::Limit& limit : this->limits()) {
    Subject<TypeParam> subject(limit);
    ASSERT_TRUE(subject.decide(Cost{limit.capacity()}, today).admitted);
    for (const Instant earlier : {today - std::chrono::years{100}, Instant::min(), today - 1us, today}) {
      const Decision denied = subject.decide(Cost{1}, earlier);
      EXPECT_FALSE(denied.admitted);
      EXPECT_EQ(denied.remaining, 0U);
    }
    EXPECT_EQ(subject.peek(Cost{1}, today).reset_after, subject.forget_at() - today);
  }
}

// The largest products that occur.
TYPED_TEST(ClockExtremes, LargestDebtIsPaidExactly) {
  const Instant today = at(1'800'000'000s);
  for (const weir::Limit& limit : this->limits()) {
    Subject<TypeParam> subject(limit);
    subject.owe(Cost{enormous}, today);
    for (const std::uint64_t cost : {std::uint64_t{0}, std::uint64_t{1}, limit.capacity()}) {
      const Decision denied = subject.peek(Cost{cost}, today);
      ASSERT_TRUE(denied.retry_after.has_value());
      EXPECT_TRUE(subject.peek(Cost{cost}, today + *denied.retry_after).admitted);
      EXPECT_FALSE(subject.peek(Cost{cost}, today + *denied.retry_after - 1us).admitted);
    }
  }
}

}  // namespace
}  // namespace weir::core
