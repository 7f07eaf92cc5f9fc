// How long until more remains than a decision says, if nobody else asks meanwhile. Never too early, and for buckets at
// most a microsecond too late. Pure; callable from anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/rule.h"

namespace weir::core {

namespace until_more_detail {

// When a bucket with `used_for` until it is full again holds `tokens`.
inline Duration until_tokens(const ArrivalLimit& limit, Duration used_for, std::uint64_t tokens) noexcept {
  const FineSpan used{used_for.count(), 0};
  return limit.difference(limit.sum(used, limit.worth(tokens)), limit.fill).rounded_up();
}

// Nothing remains to who cannot wait for the turn that would be next.
inline Duration until_turn(const ArrivalLimit& limit, const Decision& decision, Duration max_wait) noexcept {
  max_wait = std::max(max_wait, Duration::zero());
  const Duration used_for = decision.reset_after;
  if (used_for <= max_wait) return until_tokens(limit, used_for, decision.remaining + 1);
  return std::max(used_for - max_wait, until_tokens(limit, used_for, 1));
}

}  // namespace until_more_detail

// Nothing if all is there. `max_wait` is what the decision was asked with; `peek(cost)` tells of a state as it is after
// the decision.
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
    return std::nullopt;  // Receipts::hold tells it; without a receipt there never is more
  } else {
    const Decision next = peek(Cost{decision.remaining + 1});
    return next.retry_after.value_or(decision.reset_after);
  }
}

// Whether it takes more than the decision to tell.
template <class A>
inline constexpr bool more_after_needs_state =
    std::is_same_v<A, SlidingWindowLog> || std::is_same_v<A, SlidingWindowCounter>;

// What `peek` above is for a state that the decision was made on, and has been charged to if it admits.
template <class A>
[[nodiscard, gnu::noinline]] std::optional<Duration> until_more_after(const typename A::Limit& limit,
                                                                      const typename A::State& state,
                                                                      const Decision& decision, Duration max_wait,
                                                                      Instant now) noexcept {
  return until_more<A>(limit, decision, max_wait, [&](Cost cost) { return A::peek(limit, state, cost, now); });
}

// The same if the decision was only imagined: what it admits has not been charged. A log is too long to copy: charged
// at one instant, costs count as their sum.
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
