// decide and peek of any algorithm, with the wait that only a queue knows, and what a denial leaves behind.
#pragma once

#include <type_traits>

#include "core/algorithm/leaky_bucket.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::core {

template <class A>
[[gnu::always_inline]] inline Decision decide_state(const typename A::Limit& limit, typename A::State& state, Cost cost,
                                                    Duration max_wait, Instant now) noexcept {
  if constexpr (std::is_same_v<A, LeakyBucketQueue>) {
    return A::decide(limit, state, cost, now, max_wait);
  } else {
    return A::decide(limit, state, cost, now);
  }
}

template <class A>
Decision peek_state(const typename A::Limit& limit, const typename A::State& state, Cost cost, Duration max_wait,
                    Instant now) noexcept {
  if constexpr (std::is_same_v<A, LeakyBucketQueue>) {
    return A::peek(limit, state, cost, now, max_wait);
  } else {
    return A::peek(limit, state, cost, now);
  }
}

// Of who is denied, on a store with one clock: a bucket's state that is beyond the reach of these numbers is brought
// within it. It was written under others, and would deny for as long as those did. A window has no reach.
template <class A>
void bring_within_reach(const typename A::Limit& limit, typename A::State& state, Instant now) noexcept {
  if constexpr (std::is_same_v<typename A::State, ArrivalState>) A::bring_within_reach(limit, state, now);
}

}  // namespace weir::core
