// Receipts on any trace: Limiter and KeyedLimiter agree with the core's receipts and state, and what was admitted and
// not given back stays within the limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/receipts.h"
#include "limiter/receipt_ids.h"
#include "tests/core/generators.h"
#include "weir/keyed_limiter.h"
#include "weir/limiter.h"

namespace weir::core {
namespace {

Instant any_time_of_this_century() {
  return Instant{std::chrono::seconds{any_between(1'600'000'000, 4'000'000'000)}};
}

// The reference for the limiters.
template <class A>
class PlainReceipts {
 public:
  explicit PlainReceipts(const weir::Limit& limit) : limit_(limit) {}

  Decision reserve(const std::string& id, Cost cost, Duration lasts, Instant now, ReceiptUse& use) {
    use = {.id = limiter::ReceiptIds::of(id), .lasts = lasts};
    const bool was_open = receipts_.is_open(use.id, micros(now));
    Decision decision = A::decide(limit_, state_, was_open ? Cost{0} : cost, now);
    if (was_open) admit_again(decision);
    if (decision.admitted) {
      receipts_.reserve(charge_position<A>(limit_, state_, decision), cost, was_open, use, micros(now));
    }
    return decision;
  }
  ReceiptUse settle(const std::string& id, Cost actual, Instant now) {
    ReceiptUse use{.id = limiter::ReceiptIds::of(id), .actual = actual};
    receipts_.template settle<A>(limit_, state_, use, micros(now));
    return use;
  }
  ReceiptUse extend(const std::string& id, Duration lasts, Instant now) {
    ReceiptUse use{.id = limiter::ReceiptIds::of(id), .lasts = lasts};
    receipts_.extend(use, micros(now));
    return use;
  }
  ReceiptUse report(const std::string& id, Cost cost, Instant now) {
    ReceiptUse use{.id = limiter::ReceiptIds::of(id)};
    receipts_.template report<A>(limit_, state_, cost, use, micros(now));
    return use;
  }
  [[nodiscard]] Decision peek(Instant now) { return A::peek(limit_, state_, Cost{1}, now); }

 private:
  typename A::Limit limit_;
  typename A::State state_;
  Receipts receipts_;
};

void expect_same(const ReceiptAnswer& answer, const ReceiptUse& use) {
  RC_ASSERT(answer.result == use.result);
  RC_ASSERT(answer.cost == use.cost);
  RC_ASSERT(answer.ends == use.ends);
  RC_ASSERT(answer.lost == use.lost);
}

void expect_same(const Reservation& reservation, const Decision& decision, const ReceiptUse& use) {
  RC_ASSERT(reservation.decision == decision);
  RC_ASSERT(reservation.result == use.result);
  RC_ASSERT(static_cast<bool>(reservation.receipt) == decision.admitted);
  RC_ASSERT(reservation.cost == use.cost);
  RC_ASSERT(reservation.ends == use.ends);
}

template <class A>
class LimiterReceiptsProperty : public testing::Test {};

TYPED_TEST_SUITE(LimiterReceiptsProperty, AllAlgorithms::Apply<testing::Types>);

// Time goes forward: a table may reuse the cell of an expired state.
TYPED_TEST(LimiterReceiptsProperty, BothLimitersAreTheCore) {
  EXPECT_TRUE(rc::check([] {
    const Numbers numbers = any_numbers();
    const auto limit = limit_of<TypeParam>(numbers);
    RC_PRE(limit.has_value());
    RC_LOG() << numbers;
    const auto clock = std::make_shared<ManualClock>(any_time_of_this_century());
    Limiter one = Limiter::create(*limit, clock).value();
    KeyedLimiter many = KeyedLimiter::create(*limit, clock).value();
    PlainReceipts<TypeParam> plain(*limit);
    std::map<std::string, std::pair<weir::Receipt, weir::Receipt>> receipts;
    for (const Operation& operation : any_trace(numbers)) {
      clock->advance(std::max(operation.step, Duration{0}) % std::chrono::years{1});
      const Instant now = clock->now();
      const std::string id(1, static_cast<char>(any_between('a', 'e')));
      const Cost cost{operation.cost};
      const Duration lasts{any_between(1, 1 + 2 * any_landmark(numbers))};
      std::ignore = many.check("bert", cost);
      auto& [of_one, of_many] = receipts[id];
      switch (any_between(0, 5)) {
        case 0:
        case 1: {
          ReceiptUse use;
          const Decision decision = plain.reserve(id, cost, lasts, now, use);
          const Reservation first = one.reserve(cost, lasts, id);
          const Reservation second = many.reserve("anna", cost, lasts, id);
          expect_same(first, decision, use);
          expect_same(second, decision, use);
          if (first.receipt) of_one = first.receipt;
          if (second.receipt) of_many = second.receipt;
          break;
        }
        case 2: {
          const ReceiptUse use = plain.settle(id, Cost{0}, now);
          expect_same(one.release(of_one), use);
          expect_same(many.release(of_many), use);
          break;
        }
        case 3: {
          const ReceiptUse use = plain.settle(id, cost, now);
          expect_same(one.settle(of_one, cost), use);
          expect_same(many.settle(of_many, cost), use);
          break;
        }
        case 4: {
          const ReceiptUse use = plain.extend(id, lasts, now);
          expect_same(one.extend(of_one, lasts), use);
          expect_same(many.extend(of_many, lasts), use);
          break;
        }
        default: {
          const ReceiptUse use = plain.report(id, cost, now);
          expect_same(one.report(cost, id), use);
          expect_same(many.report("anna", cost, id), use);
        }
      }
      RC_ASSERT(one.peek(Cost{1}) == plain.peek(now));
      RC_ASSERT(many.peek("anna", Cost{1}) == plain.peek(now));
    }
  }));
}

// Reserves and settles of one key in any order: what was admitted and when, less what was given back.
struct Kept {
  Instant at;
  std::int64_t amount = 0;
};

// `units` is the weight of one token, `used` the current usage in that unit.
template <class Used>
std::vector<Kept> reserve_and_settle(KeyedLimiter& limiter, ManualClock& clock, const Numbers& numbers,
                                     std::int64_t units, Used used) {
  struct Open {
    weir::Receipt receipt;
    std::uint64_t cost;
    std::size_t kept;
  };
  std::vector<Kept> kept;
  std::vector<Open> open;
  for (const Operation& operation : any_trace(numbers)) {
    clock.advance(Duration{any_between(0, 1 + any_landmark(numbers))});
    if (any_between(0, 1) == 0 || open.empty()) {
      const Reservation reservation = limiter.reserve("anna", Cost{operation.cost}, std::chrono::days{7});
      if (!reservation) continue;
      open.push_back({reservation.receipt, operation.cost, kept.size()});
      kept.push_back({clock.now(), static_cast<std::int64_t>(operation.cost) * units});
    } else {
      const auto chosen = open.begin() + any_between(0, static_cast<std::int64_t>(open.size()) - 1);
      const std::int64_t before = used();
      limiter.settle(chosen->receipt, Cost{any_count(0, static_cast<std::int64_t>(chosen->cost))});
      kept[chosen->kept].amount -= before - used();
      open.erase(chosen);
    }
  }
  return kept;
}

template <class A>
class BucketReceiptsProperty : public testing::Test {};
using Buckets = testing::Types<TokenBucket, Gcra, LeakyBucketMeter, LeakyBucketQueue>;
TYPED_TEST_SUITE(BucketReceiptsProperty, Buckets);

// One token takes a whole number of microseconds here, so that the usage can be derived from reset_after.
TYPED_TEST(BucketReceiptsProperty, NoRangeAdmitsMoreThanTheBurstAndTheRate) {
  EXPECT_TRUE(rc::check([] {
    const Numbers numbers{.capacity = any_count(1, 12), .count = 1, .per = Duration{any_between(1, 5'000'000)}};
    const auto clock = std::make_shared<ManualClock>(any_time_of_this_century());
    KeyedLimiter limiter = KeyedLimiter::create(limit_of<TypeParam>(numbers).value(), clock).value();
    const std::int64_t token = numbers.per.count();
    const std::vector<Kept> kept = reserve_and_settle(
        limiter, *clock, numbers, token, [&] { return limiter.peek("anna", Cost{0}).reset_after.count(); });
    for (std::size_t first = 0; first < kept.size(); ++first) {
      std::int64_t sum = 0;
      for (std::size_t i = first; i < kept.size(); ++i) {
        sum += kept[i].amount;
        RC_ASSERT(sum <= static_cast<std::int64_t>(numbers.capacity) * token + (kept[i].at - kept[first].at).count());
      }
    }
  }));
}

template <class A>
class WindowReceiptsProperty : public testing::Test {};
using Windows = testing::Types<FixedWindow, SlidingWindowLog>;
TYPED_TEST_SUITE(WindowReceiptsProperty, Windows);

TYPED_TEST(WindowReceiptsProperty, NoWindowAdmitsMoreThanTheLimit) {
  EXPECT_TRUE(rc::check([] {
    const Numbers numbers{.capacity = any_count(1, 12), .count = 1, .per = Duration{any_between(1, 5'000'000)}};
    const auto clock = std::make_shared<ManualClock>(any_time_of_this_century());
    KeyedLimiter limiter = KeyedLimiter::create(limit_of<TypeParam>(numbers).value(), clock).value();
    const auto limit = static_cast<std::int64_t>(limiter.peek("anna", Cost{0}).limit);
    const std::vector<Kept> kept = reserve_and_settle(limiter, *clock, numbers, 1, [&] {
      return limit - static_cast<std::int64_t>(limiter.peek("anna", Cost{0}).remaining);
    });
    const std::int64_t window = numbers.per.count();
    for (std::size_t first = 0; first < kept.size(); ++first) {
      const std::int64_t begin = micros(kept[first].at);
      const std::int64_t end = (std::is_same_v<TypeParam, FixedWindow> ? begin - begin % window : begin) + window;
      std::int64_t sum = 0;
      for (std::size_t i = first; i < kept.size() && micros(kept[i].at) < end; ++i) sum += kept[i].amount;
      RC_ASSERT(sum <= limit);
    }
  }));
}

TEST(LimiterHoldsProperty, NoMoreIsHeldAtAnyInstantThanTheLimit) {
  EXPECT_TRUE(rc::check([] {
    struct Hold {
      std::uint64_t cost = 0;
      Instant ends;
      weir::Receipt of_one, of_many;
    };
    const std::uint64_t most = any_count(1, 8);
    const weir::Limit limit = weir::Limit::concurrency({.limit = most, .lease = std::chrono::seconds{10}}).value();
    const auto clock = std::make_shared<ManualClock>(Instant{std::chrono::seconds{1'700'000'000}});
    Limiter one = Limiter::create(limit, clock).value();
    KeyedLimiter many = KeyedLimiter::create(limit, clock).value();
    std::map<std::string, Hold> holds;
    const auto held = [&] {
      std::uint64_t sum = 0;
      for (const auto& [id, hold] : holds) sum += hold.ends > clock->now() ? hold.cost : 0;
      return sum;
    };
    for (const int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
      clock->advance(Duration{any_between(0, 6'000'000)});
      const std::string id(1, static_cast<char>(any_between('a', 'h')));
      Hold& hold = holds[id];
      const bool was_open = hold.ends > clock->now();
      const Duration lasts{any_between(1, 20'000'000)};
      const Cost cost{any_count(1, static_cast<std::int64_t>(most) + 1)};
      if (what < 3) {
        const Reservation first = one.reserve(cost, lasts, id);
        const Reservation second = many.reserve("anna", cost, lasts, id);
        RC_ASSERT(first.decision == second.decision);
        RC_ASSERT(first.decision.admitted == (was_open || held() + cost.units() <= most));
        if (first && !was_open) hold = {cost.units(), first.ends, first.receipt, second.receipt};
      } else if (what < 5) {
        const auto expected = was_open ? weir::ReceiptResult::done : weir::ReceiptResult::ended;
        RC_ASSERT(one.settle(hold.of_one, cost).result == expected);
        RC_ASSERT(many.settle(hold.of_many, cost).result == expected);
        hold.ends = clock->now();
      } else {
        one.extend(hold.of_one, lasts);
        const Instant ends = many.extend(hold.of_many, lasts).ends;
        if (was_open) hold.ends = ends;
      }
      RC_ASSERT(one.peek(Cost{0}).remaining == most - held());
      RC_ASSERT(many.peek("anna", Cost{0}) == one.peek(Cost{0}));
    }
  }));
}

}  // namespace
}  // namespace weir::core
