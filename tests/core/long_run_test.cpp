// Long runs: what is admitted never deviates from rate x time + burst by a whole token.
//
// The burst is at least two tokens, and two microseconds' worth: instants are whole microseconds, so a smaller bucket
// overflows between two of them, and the overflow is lost by definition.
#include <cstdint>
#include <random>

#include "tests/core/oracle.h"
#include "tests/core/rows.h"
#include "tests/sanitized.h"

namespace weir::core {
namespace {

using oracle::Int;

// Takes seconds in an optimised build.
constexpr Duration a_year = 24h * static_cast<int>(cases(365));

const Instant start = at(1'700'000'000'000'003us);

// The total number of tokens `elapsed` after a start with a full bucket.
Int tokens_by(const weir::Limit& limit, Duration elapsed) {
  return Int{limit.capacity()} +
         oracle::floor_divide(Int{elapsed.count()} * limit.rate().count, limit.rate().per.count());
}

// The first microsecond by which that many tokens were available.
Duration time_of(const weir::Limit& limit, Int tokens) {
  const Int missing = std::max<Int>(0, tokens - Int{limit.capacity()});
  return Duration{
      static_cast<std::int64_t>(oracle::ceil_divide(missing * limit.rate().per.count(), limit.rate().count))};
}

template <class A>
class LongRun : public testing::Test {
 protected:
  static weir::Limit limit(std::uint64_t burst, Rate rate) {
    return limit_of<A>({.capacity = burst, .count = rate.count, .per = rate.per}).value();
  }

  // A lone caller that always returns exactly at retry_after.
  static void comes_when_told_for(Duration length, const weir::Limit& limit, std::uint64_t cost) {
    Subject<A> subject(limit);
    Int taken = 0;
    for (Instant now = start; now - start <= length;) {
      const Decision decision = subject.decide(Cost{cost}, now);
      if (decision.admitted) {
        taken += cost;
        ASSERT_TRUE(now - start == time_of(limit, taken)) << "at " << (now - start).count();
      } else {
        ASSERT_GT(*decision.retry_after, 0us);
        now += *decision.retry_after;
      }
    }
    EXPECT_TRUE(taken == tokens_by(limit, length) / cost * cost);
  }
};

using Buckets = testing::Types<TokenBucket, Gcra, LeakyBucketMeter>;
TYPED_TEST_SUITE(LongRun, Buckets);

TYPED_TEST(LongRun, SevenPerThreeSecondsDoNotDriftInAYear) {
  this->comes_when_told_for(a_year, this->limit(14, {7, 3s}), 5);
}

TYPED_TEST(LongRun, SevenPerThreeSecondsDoNotDriftInAWeekTakenOneByOne) {
  this->comes_when_told_for(7 * 24h, this->limit(2, {7, 3s}), 1);
}

TYPED_TEST(LongRun, AGreedyCallerGetsExactlyRateTimesTimePlusBurst) {
  const std::vector<Rate> rates{
      {1, 30 * 24h},          {1, 24h},        {3, 24h},     {7, 3s},          {1000, 1s},
      {999'983, 1s},          {1'000'003, 1s}, {48'611, 7h}, {49'999'999, 1s}, {50'000'000, 1s},
      {50'000'000, 999'983us}};
  for (const Rate& rate : rates) {
    const auto in_a_microsecond = rate.count / static_cast<std::uint64_t>(rate.per.count());
    const weir::Limit limit = this->limit(10 + 10 * in_a_microsecond, rate);
    Subject<TypeParam> subject(limit);
    // Less than a token is left at each visit, so the bucket never overflows.
    const Duration max_step = time_of(limit, 2 * Int{limit.capacity()} - 1) - 1us;
    std::mt19937_64 random(rate.count);
    Int taken = 0;
    Instant now = start;
    for (int visit = 0; visit < 20'000; ++visit) {
      const std::uint64_t remaining = subject.peek(Cost{0}, now).remaining;
      ASSERT_TRUE(subject.decide(Cost{remaining}, now).admitted);
      taken += remaining;
      ASSERT_TRUE(taken == tokens_by(limit, now - start)) << rate.count << " per " << rate.per.count() << " us";
      now += Duration{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max_step.count()))};
    }
    EXPECT_GT(taken, Int{20'000});
  }
}

TEST(LongRunOfAQueue, TurnsDoNotDriftInAYear) {
  const weir::Limit limit = weir::Limit::leaky_bucket(QueueNumbers{.rate = {7, 3s}, .queue = 14}).value();
  Subject<LeakyBucketQueue> subject(limit);
  Int taken = 0;
  for (Instant now = start; now - start <= a_year;) {
    const Decision decision = subject.decide(Cost{5}, now);
    if (decision.admitted) {
      const Int turn = oracle::ceil_divide(taken * 3'000'000, 7);
      ASSERT_TRUE((decision.charged_at - start).count() == turn) << "turn of " << static_cast<std::int64_t>(taken);
      taken += 5;
    } else {
      now += *decision.retry_after + 1s;  // the queue has become shorter by then, but is not empty
    }
  }
  EXPECT_TRUE(taken > Int{static_cast<std::int64_t>(cases(70'000'000))});
}

// The bucket of one token is full for a fraction of a microsecond before a request can arrive.
TEST(LongRunOfASingleToken, IsOnePerWholeMicrosecondsOfAToken) {
  expect_rows<Gcra>(weir::Limit::gcra({.rate = {7, 3s}, .burst = 1}).value(),
                    {
                        {0us, 1, admitted(0, 428'572us)},
                        {428'572us, 1, admitted(0, 428'572us)},
                        {857'143us, 1, denied(0, 1us, 1us)},
                        {857'144us, 1, admitted(0, 428'572us)},
                    });
}

}  // namespace
}  // namespace weir::core
