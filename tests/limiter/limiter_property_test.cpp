// Limiter and KeyedLimiter are the core behind a clock: the same decisions on any trace.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/core/generators.h"
#include "weir/keyed_limiter.h"
#include "weir/limiter.h"

namespace weir::core {
namespace {

const std::vector<std::string> keys{"anna", "bert", "carl"};

template <class A>
class LimiterProperty : public testing::Test {
 protected:
  static weir::Limit valid_limit(const Numbers& numbers) {
    const auto limit = limit_of<A>(numbers);
    RC_PRE(limit.has_value());
    RC_LOG() << numbers;
    return *limit;
  }

  // Times that a table can pack: this century, including backward steps.
  static Instant any_time() { return Instant{std::chrono::seconds{any_between(1'600'000'000, 4'000'000'000)}}; }
};

TYPED_TEST_SUITE(LimiterProperty, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(LimiterProperty, OneLimiterIsTheCore) {
  EXPECT_TRUE(rc::check([this] {
    const Numbers numbers = any_numbers();
    const auto limit = this->valid_limit(numbers);
    const auto clock = std::make_shared<ManualClock>(this->any_time());
    Limiter limiter = Limiter::create(limit, clock).value();
    Subject<TypeParam> subject(limit);
    for (const Operation& operation : any_trace(numbers)) {
      clock->advance(operation.step);
      const Cost cost{operation.cost};
      RC_ASSERT(limiter.check(cost) == subject.decide(cost, clock->now()));
      RC_ASSERT(limiter.peek(Cost{1}) == subject.peek(Cost{1}, clock->now()));
    }
  }));
}

// Time only goes forward here: a table may reuse the cell of an expired state.
TYPED_TEST(LimiterProperty, EveryKeyIsTheCoreOnItsOwn) {
  EXPECT_TRUE(rc::check([this] {
    const Numbers numbers = any_numbers();
    const auto limit = this->valid_limit(numbers);
    const auto clock = std::make_shared<ManualClock>(this->any_time());
    KeyedLimiter limiter = KeyedLimiter::create(limit, clock).value();
    std::vector<Subject<TypeParam>> subjects;
    for (std::size_t i = 0; i < keys.size(); ++i) subjects.emplace_back(limit);
    for (const Operation& operation : any_trace(numbers)) {
      clock->advance(std::max(operation.step, Duration{0}) % std::chrono::years{1});
      const auto chosen = static_cast<std::size_t>(any_between(0, 2));
      const Cost cost{operation.cost};
      RC_ASSERT(limiter.peek(keys[chosen], cost) == subjects[chosen].peek(cost, clock->now()));
      RC_ASSERT(limiter.check(keys[chosen], cost) == subjects[chosen].decide(cost, clock->now()));
    }
  }));
}

TYPED_TEST(LimiterProperty, BatchEqualsItsRequestsCheckedInOrder) {
  EXPECT_TRUE(rc::check([this] {
    const Numbers numbers = any_numbers();
    const auto limit = this->valid_limit(numbers);
    const auto clock = std::make_shared<ManualClock>(this->any_time());
    KeyedLimiter batch = KeyedLimiter::create(limit, clock).value();
    KeyedLimiter one_by_one = KeyedLimiter::create(limit, clock).value();
    for (int round = 0; round < 3; ++round) {
      clock->advance(any_forward_step(numbers) % std::chrono::years{1});
      std::vector<KeyedLimiter::Request> requests;
      for (const Operation& operation : any_trace(numbers)) {
        requests.push_back({keys[static_cast<std::size_t>(any_between(0, 2))], Cost{operation.cost}});
      }
      std::vector<Decision> decisions(requests.size());
      batch.check(requests, decisions);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        RC_ASSERT(decisions[i] == one_by_one.check(requests[i].key, requests[i].cost));
      }
    }
  }));
}

}  // namespace
}  // namespace weir::core
