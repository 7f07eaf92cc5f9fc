// An algorithm with its limit and one state, with verbs. Copies even states that are not copyable.
#pragma once

#include <cstring>
#include <ostream>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/operations.h"
#include "core/rule.h"

namespace weir {

// How GoogleTest shows a decision.
inline void PrintTo(const Decision& decision, std::ostream* out) {
  *out << (decision.admitted ? "admitted" : "denied") << ", limit " << decision.limit << ", remaining "
       << decision.remaining << ", retry_after ";
  if (decision.retry_after) {
    *out << decision.retry_after->count();
  } else {
    *out << "never";
  }
  *out << ", reset_after " << decision.reset_after.count() << ", delay " << decision.delay.count() << ", charged_at "
       << decision.charged_at.time_since_epoch().count();
}

}  // namespace weir

namespace weir::core {

constexpr Instant at(Duration since_epoch) {
  return Instant{since_epoch};
}

inline SlidingWindowLog::State copy_of(const SlidingWindowLog::State& state) {
  return {state.ring ? state.ring->copy(state.ring->capacity()) : nullptr};
}

template <class State>
State copy_of(const State& state) {
  static_assert(std::is_trivially_copyable_v<State>);
  return state;
}

inline bool same_state(const SlidingWindowLog::State& a, const SlidingWindowLog::State& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  if (a.ring->size() != b.ring->size()) return false;
  for (std::uint32_t i = 0; i < a.ring->size(); ++i) {
    if (a.ring->time(i) != b.ring->time(i) || a.ring->cost(i) != b.ring->cost(i)) return false;
  }
  return true;
}

template <class State>
bool same_state(const State& a, const State& b) {
  static_assert(std::has_unique_object_representations_v<State>);
  return std::memcmp(&a, &b, sizeof(State)) == 0;
}

template <class A>
class Subject {
 public:
  explicit Subject(const weir::Limit& limit) : limit_(limit), capacity_(limit.capacity()) {}

  Decision decide(Cost cost, Instant now) { return A::decide(limit_, state_, cost, now); }
  Decision decide(Cost cost, Instant now, Duration max_wait) { return A::decide(limit_, state_, cost, now, max_wait); }
  [[nodiscard]] Decision peek(Cost cost, Instant now) const { return A::peek(limit_, state_, cost, now); }
  [[nodiscard]] Decision peek(Cost cost, Instant now, Duration max_wait) const {
    return A::peek(limit_, state_, cost, now, max_wait);
  }
  void refund(Cost cost, const Charged& charged, Instant now) { A::refund(limit_, state_, cost, charged, now); }
  void settle(const Settlement& settlement, Instant now) { core::settle<A>(limit_, state_, settlement, now); }
  void owe(Cost cost, Instant now) { settle({.reserved = Cost{0}, .actual = cost}, now); }
  [[nodiscard]] Instant forget_at() const { return A::forget_at(limit_, state_); }

  void carry_over(Instant now) { A::carry_over(limit_, state_, now); }

  // The same usage under other numbers.
  void carry_over_to(const weir::Limit& limit, Instant now) {
    limit_ = typename A::Limit(limit);
    capacity_ = limit.capacity();
    carry_over(now);
  }

  [[nodiscard]] Subject copy() const { return Subject(*this, copy_of(state_)); }

  // Never used, with the same numbers.
  [[nodiscard]] Subject fresh() const { return Subject(*this, {}); }

  [[nodiscard]] bool has_the_state_of(const Subject& other) const { return same_state(state_, other.state_); }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] const typename A::State& state() const { return state_; }

  // Everything observable of the state from `now` on: each cost that fits the capacity and one that does not, at each
  // of `steps` after now.
  [[nodiscard]] std::vector<Decision> seen_from(Instant now, const std::vector<Duration>& steps) const {
    std::vector<Decision> seen;
    for (const Duration step : steps) {
      for (std::uint64_t cost = 0; cost <= capacity_ + 1; ++cost) seen.push_back(peek(Cost{cost}, now + step));
    }
    return seen;
  }

 private:
  Subject(const Subject& other, typename A::State state)
      : limit_(other.limit_), state_(std::move(state)), capacity_(other.capacity_) {}

  typename A::Limit limit_;
  typename A::State state_;
  std::uint64_t capacity_;
};

// The numbers from which every algorithm can be built: a bucket has `capacity` and gains `count` per `per`; a window of
// length `per` has `capacity`.
struct Numbers {
  std::uint64_t capacity = 1;
  std::uint64_t count = 1;
  Duration per{1};
};

inline std::ostream& operator<<(std::ostream& out, const Numbers& numbers) {
  return out << "capacity " << numbers.capacity << ", " << numbers.count << " per " << numbers.per.count() << " us";
}

template <class A>
inline constexpr bool is_bucket = std::is_same_v<typename A::State, ArrivalState>;

template <class A>
Result<weir::Limit> limit_of(const Numbers& numbers) {
  const BucketNumbers bucket{.rate = {numbers.count, numbers.per}, .burst = numbers.capacity};
  const WindowNumbers window{.limit = numbers.capacity, .window = numbers.per};
  if constexpr (std::is_same_v<A, TokenBucket>) return weir::Limit::token_bucket(bucket);
  if constexpr (std::is_same_v<A, Gcra>) return weir::Limit::gcra(bucket);
  if constexpr (std::is_same_v<A, LeakyBucketMeter>) return weir::Limit::leaky_bucket(bucket);
  if constexpr (std::is_same_v<A, LeakyBucketQueue>) {
    return weir::Limit::leaky_bucket(QueueNumbers{.rate = bucket.rate, .queue = numbers.capacity - 1});
  }
  if constexpr (std::is_same_v<A, FixedWindow>) return weir::Limit::fixed_window(window);
  if constexpr (std::is_same_v<A, SlidingWindowLog>) return weir::Limit::sliding_window_log(window);
  if constexpr (std::is_same_v<A, SlidingWindowCounter>) return weir::Limit::sliding_window_counter(window);
}

}  // namespace weir::core
