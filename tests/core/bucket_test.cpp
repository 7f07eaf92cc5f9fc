// Token bucket, GCRA and leaky bucket as a meter: three names for one algorithm.
#include "tests/core/rows.h"

namespace weir::core {
namespace {

template <class A>
class BucketTest : public Story<A> {
 protected:
  static weir::Limit limit(std::uint64_t burst, std::uint64_t count, Duration per) {
    return limit_of<A>({.capacity = burst, .count = count, .per = per}).value();
  }
};

using Buckets = testing::Types<TokenBucket, Gcra, LeakyBucketMeter>;
TYPED_TEST_SUITE(BucketTest, Buckets);

TYPED_TEST(BucketTest, TakesItsBurstAtOnceAndThenOnePerToken) {
  expect_rows<TypeParam>(this->limit(3, 2, 10s), {
                                                     {0s, 1, admitted(2, 5s)},
                                                     {0s, 1, admitted(1, 10s)},
                                                     {0s, 1, admitted(0, 15s)},
                                                     {0s, 1, denied(0, 5s, 15s)},
                                                     {5s - 1us, 1, denied(0, 1us, 10s + 1us)},
                                                     {5s, 1, admitted(0, 15s)},
                                                     {5s, 1, denied(0, 5s, 15s)},
                                                     {100s, 1, admitted(2, 5s)},
                                                 });
}

TYPED_TEST(BucketTest, CostsAboveOneWaitForAllTheirTokens) {
  expect_rows<TypeParam>(this->limit(3, 1, 5s), {
                                                    {0s, 2, admitted(1, 10s)},
                                                    {0s, 2, denied(1, 5s, 10s)},
                                                    {0s, 3, denied(1, 10s, 10s)},
                                                    {2s, 2, denied(1, 3s, 8s)},
                                                    {5s, 2, admitted(0, 15s)},
                                                    {20s, 3, admitted(0, 15s)},
                                                });
}

TYPED_TEST(BucketTest, CostZeroLooksWithoutTaking) {
  expect_rows<TypeParam>(this->limit(2, 1, 5s), {
                                                    {0s, 0, admitted(2, 0s)},
                                                    {0s, 2, admitted(0, 10s)},
                                                    {0s, 0, admitted(0, 10s)},
                                                    {3s, 0, admitted(0, 7s)},
                                                    {5s, 0, admitted(1, 5s)},
                                                });
}

TYPED_TEST(BucketTest, CostAboveTheBurstNeverFits) {
  expect_rows<TypeParam>(this->limit(3, 1, 5s), {
                                                    {0s, 4, refused(3, 0s)},
                                                    {0s, 1, admitted(2, 5s)},
                                                    {0s, 4, refused(2, 5s)},
                                                    {0s, UINT64_MAX, refused(2, 5s)},
                                                });
}

// A token is worth 428,571 3/7 us: two are 857,142 6/7.
TYPED_TEST(BucketTest, KeepsTheFractionOfAMicrosecond) {
  expect_rows<TypeParam>(this->limit(2, 7, 3s), {
                                                    {0us, 2, admitted(0, 857'143us)},
                                                    {0us, 1, denied(0, 428'572us, 857'143us)},
                                                    {428'571us, 1, denied(0, 1us, 428'572us)},
                                                    {428'572us, 1, admitted(0, 857'143us)},  // 4/7 us late
                                                    {857'142us, 1, denied(0, 1us, 428'573us)},
                                                    {857'143us, 1, admitted(0, 857'143us)},  // 1/7 us late
                                                    {1'285'714us, 1, denied(0, 1us, 428'572us)},
                                                    {1'285'715us, 1, admitted(0, 857'143us)},  // 5/7 us late
                                                    {3'000'000us, 2, admitted(0, 857'143us)},
                                                });
}

TYPED_TEST(BucketTest, RateIsReducedToLowestTerms) {
  EXPECT_EQ(this->limit(1, 30, 60s).rate(), (Rate{1, 2s}));
  EXPECT_EQ(this->limit(1, 7, 3s).rate(), (Rate{7, 3s}));
  EXPECT_EQ(this->limit(1, 50'000'000, 1s).rate(), (Rate{50, 1us}));
}

TYPED_TEST(BucketTest, ManyTokensPerMicrosecondAreCountedExactly) {
  expect_rows<TypeParam>(this->limit(100, 50'000'000, 1s), {
                                                               {0us, 99, admitted(1, 2us)},
                                                               {0us, 2, denied(1, 1us, 2us)},
                                                               {1us, 51, admitted(0, 2us)},
                                                               {1us, 1, denied(0, 1us, 2us)},
                                                               {2us, 51, denied(50, 1us, 1us)},
                                                           });
}

TYPED_TEST(BucketTest, RefundGivesTokensBackButNeverMoreThanTheBurst) {
  this->limited_to(this->limit(5, 1, 10s));
  const Decision charge = this->charge(4, 0s);
  this->refund(1, charge, 0s);
  EXPECT_EQ(this->remaining(0s), 2U);
  EXPECT_EQ(this->reset_after(0s), 30s);
  this->refund(3, charge, 25s);  // two and a half of which have been refilled
  EXPECT_EQ(this->remaining(25s), 5U);
  EXPECT_EQ(this->reset_after(25s), 0s);
  this->use(5, 25s);
  EXPECT_EQ(this->wait_for(1, 25s), 10s);
}

TYPED_TEST(BucketTest, SettlingDownGivesTheDifferenceBack) {
  this->limited_to(this->limit(5, 1, 10s));
  const Decision charge = this->charge(5, 0s);
  this->settle(5, 2, charge, 1s);
  EXPECT_EQ(this->remaining(1s), 3U);
  EXPECT_EQ(this->reset_after(1s), 19s);
}

TYPED_TEST(BucketTest, SettlingUpGoesIntoDebtOfAtMostOneBurst) {
  this->limited_to(this->limit(3, 1, 10s));
  const Decision charge = this->charge(2, 0s);
  this->settle(2, 4, charge, 0s);  // one token of debt
  EXPECT_FALSE(this->peek(0, 0s).admitted);
  EXPECT_EQ(this->wait_for(0, 0s), 10s);
  EXPECT_EQ(this->wait_for(1, 0s), 20s);
  this->settle(2, 1'000'000, charge, 0s);
  EXPECT_EQ(this->wait_for(0, 0s), 30s);
  EXPECT_EQ(this->wait_for(3, 0s), 60s);
  EXPECT_EQ(this->reset_after(0s), 60s);
  EXPECT_TRUE(this->peek(0, 30s).admitted);
}

TYPED_TEST(BucketTest, RefundPaysADebtFirst) {
  this->limited_to(this->limit(3, 1, 10s));
  const Decision charge = this->charge(3, 0s);
  this->settle(3, 5, charge, 0s);
  this->refund(2, charge, 0s);
  EXPECT_EQ(this->remaining(0s), 0U);
  EXPECT_TRUE(this->peek(0, 0s).admitted);
  EXPECT_EQ(this->wait_for(1, 0s), 10s);
}

TYPED_TEST(BucketTest, ForgottenWhenFullAgain) {
  this->limited_to(this->limit(3, 7, 3s));
  EXPECT_LT(this->forget_at(), -1'000'000h);
  this->use(1, 1s);
  EXPECT_EQ(this->forget_at(), 1s + 428'572us);
}

TYPED_TEST(BucketTest, UsageStaysUnderNewNumbers) {
  this->limited_to(this->limit(10, 1, 1s));
  this->use(4, 0s);
  this->carry_over_to(this->limit(20, 1, 1s), 0s);
  EXPECT_EQ(this->remaining(0s), 16U);
  EXPECT_EQ(this->reset_after(0s), 4s);
  this->carry_over_to(this->limit(5, 1, 1s), 1s);
  EXPECT_EQ(this->remaining(1s), 2U);
}

TYPED_TEST(BucketTest, UsageBeyondTheNewTimeToFillIsClampedToIt) {
  this->limited_to(this->limit(10, 1, 60s));
  this->use(10, 0s);  // 600 s
  this->carry_over_to(this->limit(3, 1, 10s), 0s);
  EXPECT_EQ(this->remaining(0s), 0U);
  EXPECT_EQ(this->reset_after(0s), 30s);
  EXPECT_EQ(this->wait_for(1, 0s), 10s);
}

// One token at 7 per 3 s: 428,571 us and 3 sevenths, which is not a whole number of halves.
TYPED_TEST(BucketTest, FractionThatDoesNotFitTheNewRateRoundsUpOneMicrosecond) {
  this->limited_to(this->limit(10, 7, 3s));
  this->use(1, 0s);
  this->carry_over_to(this->limit(1000, 2, 1'000'001us), 0s);
  EXPECT_EQ(this->reset_after(0s), 428'572us);
  EXPECT_EQ(this->forget_at(), 428'572us);
}

TYPED_TEST(BucketTest, NewNumbersGrantNoNewBurst) {
  for (const std::uint64_t burst : {1U, 2U, 9U, 10U}) {
    this->limited_to(this->limit(10, 1, 1s));
    this->use(10, 0s);
    this->carry_over_to(this->limit(burst, 1, 1s), 0s);
    EXPECT_EQ(this->remaining(0s), 0U) << burst;
    EXPECT_EQ(this->wait_for(1, 0s), 1s) << burst;
  }
}

// A consumer used 600 s under other numbers; under these, at most 30 s are possible.
template <class A>
struct BeyondReach {
  explicit BeyondReach(const weir::Limit& numbers) : limit(numbers) {
    limit.reach = limit.fill;
    state.set_used({600'000'000, 0}, micros(start));
  }

  Decision decide(std::uint64_t cost, Duration at) {
    const Decision decision = A::decide(limit, state, Cost{cost}, start + at);
    if (!decision.admitted) A::bring_within_reach(limit, state, start + at);
    return decision;
  }

  Instant start{1'000h};
  typename A::Limit limit;
  ArrivalState state;
};

TYPED_TEST(BucketTest, AStateBeyondReachWaitsForOneTokenFromTheFirstDenialOn) {
  BeyondReach<TypeParam> consumer(this->limit(3, 1, 10s));
  const ArrivalState before = consumer.state;
  for (const Duration at : {0s, 100s}) {
    const Decision seen = TypeParam::peek(consumer.limit, consumer.state, Cost{1}, consumer.start + at);
    EXPECT_FALSE(seen.admitted);
    EXPECT_EQ(seen.retry_after, Duration{10s});
    EXPECT_EQ(seen.reset_after, Duration{30s});
    EXPECT_EQ(consumer.state, before) << "a look changes nothing";
  }
  EXPECT_TRUE(consumer.decide(0, 100s).admitted) << "that is no debt";
  EXPECT_EQ(consumer.state, before);

  EXPECT_EQ(consumer.decide(1, 100s).retry_after, Duration{10s});
  EXPECT_EQ(consumer.decide(1, 110s - 1us).retry_after, Duration{1us});
  EXPECT_TRUE(consumer.decide(1, 110s).admitted);
  EXPECT_FALSE(consumer.decide(1, 110s).admitted);
}

TYPED_TEST(BucketTest, WithinReachADenialLeavesTheStateAsItWas) {
  BeyondReach<TypeParam> consumer(this->limit(3, 7, 10s));
  for (const Duration used : {0us, 1us, 4'285'713us, 4'285'714us}) {
    consumer.state.set_used({used.count(), 1}, micros(consumer.start));
    const ArrivalState before = consumer.state;
    EXPECT_FALSE(TypeParam::bring_within_reach(consumer.limit, consumer.state, consumer.start));
    EXPECT_EQ(consumer.state, before);
  }
  consumer.state.set_used(consumer.limit.fill, micros(consumer.start));
  EXPECT_FALSE(TypeParam::bring_within_reach(consumer.limit, consumer.state, consumer.start));
  EXPECT_TRUE(TypeParam::bring_within_reach(consumer.limit, consumer.state, consumer.start - 1us));
}

TYPED_TEST(BucketTest, WithoutBoundAStateOfOtherNumbersStandsAsItIs) {
  BeyondReach<TypeParam> consumer(this->limit(3, 1, 10s));
  consumer.limit.reach = ArrivalLimit::unbounded;
  EXPECT_EQ(consumer.decide(1, 0s).retry_after, Duration{580s});
  EXPECT_EQ(consumer.decide(1, 100s).retry_after, Duration{480s});
}

TEST(BoundReach, IsTheTimeToFillOrThatOfAnotherRule) {
  Rule rule = compile(weir::Limit::gcra({{7, 10s}, 3}).value());
  EXPECT_EQ(time_to_fill(rule), Duration{4'285'715us});
  const auto reach = [&] { return std::get<RuleOf<Gcra>>(rule).limit.reach; };
  EXPECT_EQ(reach(), ArrivalLimit::unbounded);
  for (const Duration shorter : {Duration{0}, Duration{4'285'714us}, Duration{4'285'715us}}) {
    bound_reach(rule, shorter);
    EXPECT_EQ(reach(), (FineSpan{4'285'714, 2})) << "exactly what it takes to fill";
  }
  bound_reach(rule, 1h);
  EXPECT_EQ(reach(), (FineSpan{3'600'000'000, 0}));

  Rule window = compile(weir::Limit::fixed_window({3, 10s}).value());
  EXPECT_EQ(time_to_fill(window), Duration{10s});
  bound_reach(window, 1h);
}

TEST(TimeToFill, IsTheSameOfALimitAndOfItsRule) {
  using weir::Limit;
  for (const Limit& limit :
       {Limit::gcra({{7, 10s}, 3}).value(), Limit::token_bucket({{1, 1us}, 1}).value(),
        Limit::leaky_bucket(QueueNumbers{.rate = {3, 1h}, .queue = 6}).value(),
        Limit::leaky_bucket(BucketNumbers{{1'000'003, 1h}, 1'000'000}).value(), Limit::fixed_window({7, 1h}).value(),
        Limit::sliding_window_log({7, 1min}).value(), Limit::sliding_window_counter({7, 24h}).value()}) {
    EXPECT_EQ(time_to_fill(limit), time_to_fill(compile(limit))) << name_of(limit.algorithm());
  }
  EXPECT_EQ(time_to_fill(Limit::gcra({{7, 10s}, 3}).value()), Duration{4'285'715us});
  EXPECT_EQ(time_to_fill(Limit::sliding_window_log({7, 1min}).value()), Duration{1min});
}

}  // namespace
}  // namespace weir::core
