// Reserve, settle, release, extend and report in any order, against models that are plain lists of charges; and bounds
// on what was admitted and not given back, in any range of time.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "core/receipts.h"
#include "tests/core/generators.h"

namespace weir::core {
namespace {

using oracle::Int;

// Charges in line. Time consumes the first one; what is left of a charge can be given back at any position.
class LineOfCharges {
 public:
  explicit LineOfCharges(const weir::Limit& limit)
      : capacity_(limit.capacity()), count_(limit.rate().count), per_(limit.rate().per.count()) {}

  [[nodiscard]] Int capacity() const { return capacity_; }
  [[nodiscard]] Int room(Int now) {
    pass(now);
    return oracle::floor_divide(full() - used(), per_);
  }
  Int charge(Int cost, Int now) {
    pass(now);
    left_.push_back(cost * per_);
    return static_cast<Int>(left_.size()) - 1;
  }
  Int owe(Int cost, Int now) {
    const Int fits = std::clamp<Int>(capacity_ + room(now), 0, cost);
    left_.push_back(std::min(cost * per_, std::max<Int>(0, 2 * full() - used())));
    return cost - fits;
  }
  // Returns what was given back, in parts of a token.
  Int give_back(Int cost, Int where, Int now) {
    pass(now);
    Int& left = left_[static_cast<std::size_t>(where)];
    const Int back = std::min(left, cost * per_);
    left -= back;
    return back;
  }
  [[nodiscard]] bool is_newest(Int where) const {
    return std::all_of(left_.begin() + static_cast<std::ptrdiff_t>(where) + 1, left_.end(),
                       [](Int left) { return left == 0; });
  }

  [[nodiscard]] Int full() const { return capacity_ * per_; }
  [[nodiscard]] Int per() const { return per_; }
  [[nodiscard]] Int count() const { return count_; }

 private:
  void pass(Int now) {
    Int flown = (now - last_) * count_;
    last_ = now;
    for (Int& left : left_) {
      const Int taken = std::min(left, flown);
      left -= taken;
      flown -= taken;
    }
  }
  [[nodiscard]] Int used() const {
    Int sum = 0;
    for (const Int left : left_) sum += left;
    return sum;
  }

  Int capacity_, count_, per_;
  Int last_ = oracle::long_ago;
  std::vector<Int> left_;
};

// The models of windows already know where a charge was made.
template <class Model>
class WithGiveBack : public Model {
 public:
  using Model::Model;

  Int owe(Int cost, Int now) {
    const Int fits = std::clamp<Int>(Model::capacity() + Model::room(now), 0, cost);
    Model::owe(cost, now);
    return cost - fits;
  }
  Int give_back(Int cost, Int where, Int now) {
    const Int before = Model::room(now);
    Model::refund(cost, where, now);
    return Model::room(now) - before;
  }
};

template <class A>
struct ChargesOf {
  using Type = WithGiveBack<typename ModelOf<A>::Type>;
};
template <class A>
  requires is_bucket<A>
struct ChargesOf<A> {
  using Type = LineOfCharges;
};

template <class A>
class Reserving {
 public:
  Reserving(const weir::Limit& limit, Instant start) : limit_(limit), model_(limit), now_(start), whole_(limit) {}

  void pass(Duration step) { now_ += step; }

  void reserve(std::uint64_t id, std::uint64_t cost, Duration lasts) {
    const bool was_open = receipts_.is_open(id_of(id), now());
    const auto before = state_now();
    Decision decision = A::decide(limit_, state_, Cost{was_open ? 0 : cost}, now_);
    const bool fits = Int{cost} <= model_.room(now());
    if (was_open) {
      RC_ASSERT(remaining(before) == remaining(state_now()));
    } else {
      RC_ASSERT(decision.admitted == fits);
    }
    if (!was_open && !fits) return;
    ReceiptUse use{.id = id_of(id), .lasts = lasts};
    receipts_.reserve(charge_position<A>(limit_, state_, decision), Cost{cost}, was_open, use, now());
    RC_ASSERT(use.result == (was_open ? ReceiptResult::repeated : ReceiptResult::done));
    if (was_open) {
      RC_ASSERT(use.cost.units() == open_.at(id).cost);
      return;
    }
    const Int where = cost == 0 ? -1 : model_.charge(cost, now());
    open_[id] = {cost, where, core::Receipts::end_of(lasts, now()), admitted_.size()};
    admitted_.push_back({now(), Int{cost}});
    compare();
  }

  void settle(std::uint64_t id, std::optional<std::uint64_t> actual) {
    ReceiptUse use{.id = id_of(id)};
    if (actual) use.actual = Cost{*actual};
    const auto found = open_.find(id);
    const bool is_open = found != open_.end() && found->second.ends > now();
    if (is_open && actual && *actual > found->second.cost && is_a_full_log()) return;
    receipts_.template settle<A>(limit_, state_, use, now());
    RC_ASSERT(use.result == (is_open ? ReceiptResult::done : ReceiptResult::ended));
    if (found == open_.end()) return;
    const Open receipt = found->second;
    open_.erase(found);
    if (!is_open) return;
    const std::uint64_t cost = actual.value_or(receipt.cost);
    if (cost > receipt.cost) RC_ASSERT(Int{use.lost} == model_.owe(Int{cost - receipt.cost}, now()));
    if (cost < receipt.cost && can_give_back(receipt.where)) {
      const Int back = model_.give_back(Int{receipt.cost - cost}, receipt.where, now());
      if constexpr (is_bucket<A>) given_back_.push_back({receipt.number, back});
      if constexpr (!is_bucket<A>) admitted_[receipt.number].cost -= Int{receipt.cost - cost};
    }
    compare();
  }

  void extend(std::uint64_t id, Duration lasts) {
    ReceiptUse use{.id = id_of(id), .lasts = lasts};
    receipts_.extend(use, now());
    const auto found = open_.find(id);
    const bool is_open = found != open_.end() && found->second.ends > now();
    RC_ASSERT(use.result == (is_open ? ReceiptResult::done : ReceiptResult::ended));
    if (!is_open) return;
    found->second.ends = std::max(found->second.ends, core::Receipts::end_of(lasts, now()));
    RC_ASSERT(micros(use.ends) == found->second.ends);
  }

  void report(std::uint64_t id, std::uint64_t cost) {
    if (is_a_full_log()) return;
    ReceiptUse use{.id = id == 0 ? ReceiptId{} : id_of(id)};
    receipts_.template report<A>(limit_, state_, Cost{cost}, use, now());
    const auto known = reported_.find(id);
    const bool is_known = id != 0 && known != reported_.end() && known->second + Receipts::remembered.count() > now();
    RC_ASSERT(use.result == (is_known ? ReceiptResult::repeated : ReceiptResult::done));
    if (is_known) return;
    reported_[id] = now();
    RC_ASSERT(Int{use.lost} == model_.owe(Int{cost}, now()));
    compare();
  }

  // What was admitted in any range, and not given back since, is within the limit.
  void check_bound() {
    if constexpr (is_bucket<A>) {
      std::vector<Int> parts;
      for (const Admitted& one : admitted_) parts.push_back(one.cost * model_.per());
      for (const auto& [number, back] : given_back_) parts[number] -= back;
      for (std::size_t first = 0; first < admitted_.size(); ++first) {
        Int sum = 0;
        for (std::size_t i = first; i < admitted_.size(); ++i) {
          sum += parts[i];
          RC_ASSERT(sum <= model_.full() + (admitted_[i].at - admitted_[first].at) * model_.count());
        }
      }
    } else if constexpr (!std::is_same_v<A, SlidingWindowCounter>) {  // its estimate is compared at each admission
      const Int window = whole_.rate().per.count();
      for (std::size_t first = 0; first < admitted_.size(); ++first) {
        Int sum = 0;
        for (std::size_t i = first; i < admitted_.size() && is_with(admitted_[i].at, admitted_[first].at, window);
             ++i) {
          sum += admitted_[i].cost;
        }
        RC_ASSERT(sum <= model_.capacity());
      }
    }
  }

 private:
  struct Open {
    std::uint64_t cost = 0;
    Int where = 0;
    std::int64_t ends = 0;
    std::size_t number = 0;
  };
  struct Admitted {
    Int at;
    Int cost;  // final
  };

  [[nodiscard]] static ReceiptId id_of(std::uint64_t id) { return {1, id}; }
  [[nodiscard]] std::int64_t now() const { return micros(now_); }
  [[nodiscard]] static bool is_with(Int at, Int first, Int window) {
    if constexpr (std::is_same_v<A, FixedWindow>) {
      return oracle::floor_divide(at, window) == oracle::floor_divide(first, window);
    }
    return at < first + window;
  }
  [[nodiscard]] Decision state_now() const { return A::peek(limit_, state_, Cost{0}, now_); }
  [[nodiscard]] static std::uint64_t remaining(const Decision& decision) { return decision.remaining; }
  [[nodiscard]] bool can_give_back(Int where) const {
    if constexpr (std::is_same_v<A, LeakyBucketQueue>) return model_.is_newest(where);
    return true;
  }
  // A full log adds a debt to its newest entry; its model does not.
  [[nodiscard]] bool is_a_full_log() const {
    if constexpr (std::is_same_v<A, SlidingWindowLog>) return model_.instants(now()) >= model_.capacity();
    return false;
  }
  void compare() {
    const Int room = model_.room(now());
    RC_ASSERT(Int{state_now().remaining} == std::max<Int>(0, room));
    RC_ASSERT(state_now().admitted == (room >= 0));
  }

  typename A::Limit limit_;
  typename A::State state_;
  typename ChargesOf<A>::Type model_;
  Receipts receipts_;
  Instant now_;
  weir::Limit whole_;
  std::map<std::uint64_t, Open> open_;
  std::map<std::uint64_t, std::int64_t> reported_;
  std::vector<Admitted> admitted_;
  std::vector<std::pair<std::size_t, Int>> given_back_;
};

template <class A>
class ReceiptsProperty : public testing::Test {};

TYPED_TEST_SUITE(ReceiptsProperty, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(ReceiptsProperty, NoOrderOfOperationsAdmitsMoreThanTheLimit) {
  EXPECT_TRUE(rc::check([] {
    const Numbers numbers = any_numbers();
    const auto limit = limit_of<TypeParam>(numbers);
    RC_PRE(limit.has_value());
    RC_LOG() << numbers;
    Reserving<TypeParam> reserving(*limit, Instant{std::chrono::seconds(any_between(1, 4'000'000'000))});
    for (const Operation& operation : any_trace(numbers)) {
      reserving.pass(std::max(operation.step, Duration{0}));
      const std::uint64_t id = any_count(1, 6);
      const auto lasts = Duration{any_between(1, 1 + 2 * any_landmark(numbers))};
      switch (any_between(0, 9)) {
        case 0:
        case 1:
        case 2:
        case 3:
          reserving.reserve(id, operation.cost, lasts);
          break;
        case 4:
        case 5:
          reserving.settle(id, 0);
          break;
        case 6:
          reserving.settle(id, operation.cost);
          break;
        case 7:
          reserving.settle(id, std::nullopt);
          break;
        case 8:
          reserving.extend(id, lasts);
          break;
        default:
          reserving.report(any_count(0, 3), operation.cost);
      }
    }
    reserving.check_bound();
  }));
}

}  // namespace
}  // namespace weir::core
