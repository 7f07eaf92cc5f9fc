// How much is admitted on any trace: bounds on every range of time, and the effect of a higher limit.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/core/generators.h"

namespace weir::core {
namespace {

using oracle::Int;

struct Arrival {
  Instant at;
  std::uint64_t cost;
};

// Requests in order of time. Many come at one instant, and many ask for everything.
std::vector<Arrival> any_arrivals(const Numbers& numbers) {
  std::vector<Arrival> arrivals;
  Instant now = any_start();
  for (const Operation& operation : any_trace(numbers)) {
    now += std::max(operation.step, Duration{0});
    arrivals.push_back({now, operation.cost});
  }
  return arrivals;
}

template <class A>
weir::Limit valid_limit(const Numbers& numbers) {
  const auto limit = limit_of<A>(numbers);
  RC_PRE(limit.has_value());
  return *limit;
}

// The admitted part of `arrivals`. A cost that is too high is repeated with what remains.
template <class A>
std::vector<Arrival> admitted_of(const weir::Limit& limit, const std::vector<Arrival>& arrivals) {
  Subject<A> subject(limit);
  std::vector<Arrival> admitted;
  for (const Arrival& arrival : arrivals) {
    const Decision decision = subject.decide(Cost{arrival.cost}, arrival.at);
    if (decision.admitted) {
      admitted.push_back(arrival);
    } else if (decision.remaining > 0) {
      RC_ASSERT(subject.decide(Cost{decision.remaining}, arrival.at).admitted);
      admitted.push_back({arrival.at, decision.remaining});
    }
  }
  return admitted;
}

// The maximum admitted in any range [t, t + length).
Int max_in_any_range(const std::vector<Arrival>& admitted, Duration length) {
  Int most = 0;
  for (std::size_t first = 0; first < admitted.size(); ++first) {
    Int sum = 0;
    for (std::size_t i = first; i < admitted.size() && admitted[i].at < admitted[first].at + length; ++i) {
      sum += admitted[i].cost;
    }
    most = std::max(most, sum);
  }
  return most;
}

template <class A>
class AdmissionProperty : public testing::Test {};

TYPED_TEST_SUITE(AdmissionProperty, AllAlgorithms::Apply<testing::Types>);

// Log: the limit. Fixed window: two limits, at a boundary. Counter: less than two. Buckets: the burst plus the refill.
TYPED_TEST(AdmissionProperty, NoRangeOfOneWindowExceedsTheDocumentedMaximum) {
  EXPECT_TRUE(rc::check([] {
    const Numbers numbers = any_numbers();
    const auto limit = valid_limit<TypeParam>(numbers);
    const auto admitted = admitted_of<TypeParam>(limit, any_arrivals(numbers));
    const Int capacity = limit.capacity();
    const Int most = max_in_any_range(admitted, limit.rate().per);
    if constexpr (is_bucket<TypeParam>) RC_ASSERT(most <= capacity + Int{limit.rate().count});
    if constexpr (std::is_same_v<TypeParam, SlidingWindowLog>) RC_ASSERT(most <= capacity);
    if constexpr (std::is_same_v<TypeParam, FixedWindow>) RC_ASSERT(most <= 2 * capacity);
    if constexpr (std::is_same_v<TypeParam, SlidingWindowCounter>) RC_ASSERT(most < 2 * capacity);
  }));
}

TYPED_TEST(AdmissionProperty, NoRangeAdmitsMoreThanItsRateAndOneBurst) {
  if constexpr (is_bucket<TypeParam>) {
    EXPECT_TRUE(rc::check([] {
      const Numbers numbers = any_numbers();
      const auto limit = valid_limit<TypeParam>(numbers);
      const auto admitted = admitted_of<TypeParam>(limit, any_arrivals(numbers));
      for (std::size_t first = 0; first < admitted.size(); ++first) {
        Int sum = 0;
        for (std::size_t i = first; i < admitted.size(); ++i) {
          sum += admitted[i].cost;
          const Int elapsed = (admitted[i].at - admitted[first].at).count();
          const Int per = limit.rate().per.count();
          RC_ASSERT(sum * per <= Int{limit.capacity()} * per + elapsed * Int{limit.rate().count});
        }
      }
    }));
  } else {
    // A window of any length holds at most its limit.
    EXPECT_TRUE(rc::check([] {
      const Numbers numbers = any_numbers();
      const auto limit = valid_limit<TypeParam>(numbers);
      const auto admitted = admitted_of<TypeParam>(limit, any_arrivals(numbers));
      std::map<Int, Int> sums;
      const Int window = limit.rate().per.count();
      for (const Arrival& arrival : admitted) {
        Int& sum = sums[oracle::floor_divide(arrival.at.time_since_epoch().count(), window)];
        sum += arrival.cost;
        RC_ASSERT(sum <= Int{limit.capacity()});
      }
    }));
  }
}

TYPED_TEST(AdmissionProperty, HigherLimitNeverAdmitsFewerOfTheSameUnitCosts) {
  EXPECT_TRUE(rc::check([] {
    const Numbers numbers = any_numbers();
    Numbers higher = numbers;
    higher.capacity += any_count(1, 5);
    const auto low = valid_limit<TypeParam>(numbers);
    const auto high = valid_limit<TypeParam>(higher);
    Subject<TypeParam> low_subject(low);
    Subject<TypeParam> high_subject(high);
    std::int64_t lead = 0;
    for (const Arrival& arrival : any_arrivals(numbers)) {
      for (std::uint64_t i = 0; i < 1 + arrival.cost % 8; ++i) {
        lead += high_subject.decide(Cost{1}, arrival.at).admitted ? 1 : 0;
        lead -= low_subject.decide(Cost{1}, arrival.at).admitted ? 1 : 0;
        RC_ASSERT(lead >= 0);
      }
    }
  }));
}

RC_GTEST_PROP(BucketProperty, FasterRateNeverAdmitsFewerOfTheSameUnitCosts, ()) {
  const Numbers numbers = any_numbers();
  Numbers faster = numbers;
  faster.count += any_count(1, 5);
  Subject<Gcra> slow_subject(valid_limit<Gcra>(numbers));
  Subject<Gcra> fast_subject(valid_limit<Gcra>(faster));
  std::int64_t lead = 0;
  for (const Arrival& arrival : any_arrivals(numbers)) {
    for (std::uint64_t i = 0; i < 1 + arrival.cost % 8; ++i) {
      lead += fast_subject.decide(Cost{1}, arrival.at).admitted ? 1 : 0;
      lead -= slow_subject.decide(Cost{1}, arrival.at).admitted ? 1 : 0;
      RC_ASSERT(lead >= 0);
    }
  }
}

RC_GTEST_PROP(BucketProperty, TokenBucketGcraAndMeterDecideAlike, ()) {
  const Numbers numbers = any_numbers();
  Subject<TokenBucket> token_bucket(valid_limit<TokenBucket>(numbers));
  Subject<Gcra> gcra(valid_limit<Gcra>(numbers));
  Subject<LeakyBucketMeter> meter(valid_limit<LeakyBucketMeter>(numbers));
  Instant now = any_start();
  for (const Operation& operation : any_trace(numbers)) {
    now += operation.step;
    const Decision expected = token_bucket.decide(Cost{operation.cost}, now);
    RC_ASSERT(gcra.decide(Cost{operation.cost}, now) == expected);
    RC_ASSERT(meter.decide(Cost{operation.cost}, now) == expected);
  }
}

}  // namespace
}  // namespace weir::core
