// Operations on any state: decide and peek with a queue's maximum wait, bringing a state within reach, and settling.
#pragma once

#include <type_traits>

#include "core/algorithm/buckets.h"
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

// Clamps a bucket state that is beyond the reach of these numbers to the reach. Such a state was written under other
// numbers, and would otherwise deny for as long as those numbers imply. Call it after a denial, on a store with one
// clock. Window states have no reach.
template <class A>
void bring_within_reach(const typename A::Limit& limit, typename A::State& state, Instant now) noexcept {
  if constexpr (std::is_same_v<typename A::State, ArrivalState>) A::bring_within_reach(limit, state, now);
}

// Identifies the charge of a decision. In a queue, the charge is at the request's turn.
[[nodiscard]] inline Charged charged_by(const Decision& decision) noexcept {
  return {.at = decision.charged_at, .full_at = decision.charged_at - decision.delay + decision.reset_after};
}

// A reservation's cost, its actual cost, and where it was charged.
struct Settlement {
  Cost reserved;
  Cost actual;
  Charged charged{};
};

// Corrects a charge; never denies. An excess reservation is refunded; a higher cost is charged now, into a debt of at
// most one capacity. Returns what a bucket got back.
template <class Algorithm>
FineSpan settle(const typename Algorithm::Limit& limit, typename Algorithm::State& state, const Settlement& settlement,
                Instant now) noexcept {
  const auto reserved = settlement.reserved.units();
  const auto actual = settlement.actual.units();
  if (actual > reserved) (void)Algorithm::owe(limit, state, Cost{actual - reserved}, now);
  if (actual >= reserved) return {};
  const Cost unused{reserved - actual};
  if constexpr (std::is_same_v<Algorithm, LeakyBucketQueue>) {
    return Algorithm::refund_part(limit, state, unused, settlement.reserved, settlement.charged, now);
  } else if constexpr (std::is_same_v<typename Algorithm::State, ArrivalState>) {
    return Algorithm::refund(limit, state, unused, settlement.charged, now);
  } else {
    Algorithm::refund(limit, state, unused, settlement.charged, now);
    return {};
  }
}

}  // namespace weir::core
