// Time until more than decision.remaining is available if no other request arrives. Never too early, and for buckets at
// most a microsecond too late. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/rule.h"

namespace weir::core {

namespace until_more_detail {

// Time until a bucket that needs `used_for` to fill has `tokens`.
inline Duration until_tokens(const ArrivalLimit& limit, Duration used_for, std::uint64_t tokens) noexcept {
  const FineSpan used{used_for.count(), 0};
  return limit.difference(limit.sum(used, limit.worth(tokens)), limit.fill).rounded_up();
}

// Returns the time until a queue has more than decision.remaining. Nothing remains for a caller that cannot wait for
// the next turn.
inline Duration until_turn(const ArrivalLimit& limit, const Decision& decision, Duration max_wait) noexcept {
  max_wait = std::max(max_wait, Duration::zero());
  const Duration used_for = decision.reset_after;
  if (used_for <= max_wait) return until_tokens(limit, used_for, decision.remaining + 1);
  return std::max(used_for - max_wait, until_tokens(limit, used_for, 1));
}

}  // namespace until_more_detail

// Returns nothing if the full limit is available. `max_wait` is the one that the decision was made with. `peek(cost)`
// must peek at the state after the decision.
template <class A, class Peek>
[[nodiscard]] std::optional<Duration> until_more(const typename A::Limit& limit, const Decision& decision,
                                                 Duration max_wait, Peek&& peek) noexcept {
  if (decision.remaining >= decision.limit) return std::nullopt;
  if constexpr (std::is_same_v<A, LeakyBucketQueue>) {
    return until_more_detail::until_turn(limit, decision, max_wait);
  } else if constexpr (std::is_base_of_v<ArrivalLimit, typename A::Limit>) {
    return until_more_detail::until_tokens(limit, decision.reset_after, decision.remaining + 1);
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    return decision.reset_after;
  } else if constexpr (std::is_same_v<A, Concurrency>) {
    return std::nullopt;  // Receipts::hold sets it; without a receipt more is never available
  } else {
    const Decision next = peek(Cost{decision.remaining + 1});
    return next.retry_after.value_or(decision.reset_after);
  }
}

// True if until_more() needs the state besides the decision.
template <class A>
inline constexpr bool more_after_needs_state =
    std::is_same_v<A, SlidingWindowLog> || std::is_same_v<A, SlidingWindowCounter>;

// `state` is the state after the decision: an admitted cost has been charged.
template <class A>
[[nodiscard, gnu::noinline]] std::optional<Duration> until_more_after(const typename A::Limit& limit,
                                                                      const typename A::State& state,
                                                                      const Decision& decision, Duration max_wait,
                                                                      Instant now) noexcept {
  return until_more<A>(limit, decision, max_wait, [&](Cost cost) { return A::peek(limit, state, cost, now); });
}

// `state` is the state before a hypothetical decision: an admitted cost has not been charged. A log is too long to copy
// and charge, so this peeks at the sum of both costs, which is equivalent because both have the same instant.
template <class A>
[[nodiscard, gnu::noinline]] std::optional<Duration> until_more_if_charged(const typename A::Limit& limit,
                                                                           const typename A::State& state, Cost cost,
                                                                           const Decision& decision, Duration max_wait,
                                                                           Instant now) noexcept {
  if constexpr (!more_after_needs_state<A>) {
    return until_more<A>(limit, decision, max_wait, [](Cost) { return Decision{}; });
  } else {
    if (!decision.admitted) return until_more_after<A>(limit, state, decision, max_wait, now);
    if constexpr (std::is_same_v<A, SlidingWindowLog>) {
      return until_more<A>(limit, decision, max_wait,
                           [&](Cost next) { return A::peek(limit, state, Cost{cost.units() + next.units()}, now); });
    } else {
      typename A::State charged = state;
      (void)A::decide(limit, charged, cost, now);
      return until_more_after<A>(limit, charged, decision, max_wait, now);
    }
  }
}

}  // namespace weir::core
