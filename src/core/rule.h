// A limit, compiled for decisions: the closed set of algorithms and their common interface.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <variant>

#include "core/algorithm/buckets.h"
#include "core/algorithm/concurrency.h"
#include "core/algorithm/fixed_window.h"
#include "core/algorithm/sliding_window_counter.h"
#include "core/algorithm/sliding_window_log.h"
#include "weir/limit.h"

namespace weir::core {

// decide      admits and charges, or denies and leaves the state unchanged
// peek        gives the same answer without a charge
// refund      returns the part of a charge that still counts
// owe         charges without a decision, into a bounded debt; returns what did not fit
// carry_over  applies this limit to a state written under other numbers
// forget_at   returns when the state can be forgotten
// A default-constructed State was never used.
template <class A>
concept DecidingAlgorithm =
    std::constructible_from<typename A::Limit, const Limit&> && std::default_initializable<typename A::State> &&
    requires(const typename A::Limit& limit, typename A::State& state, const typename A::State& seen, Cost cost,
             const Charged& charged, Instant now) {
      { A::decide(limit, state, cost, now) } noexcept -> std::same_as<Decision>;
      { A::peek(limit, seen, cost, now) } noexcept -> std::same_as<Decision>;
      { A::refund(limit, state, cost, charged, now) } noexcept;
      { A::owe(limit, state, cost, now) } noexcept -> std::same_as<std::uint64_t>;
      { A::carry_over(limit, state, now) } noexcept;
      { A::forget_at(limit, seen) } noexcept -> std::same_as<Instant>;
    };

template <DecidingAlgorithm... As>
struct AlgorithmSet {
  template <template <class...> class Of>
  using Apply = Of<As...>;
};

// The algorithms that decide on their state alone. Concurrency also needs receipts.
using AllAlgorithms = AlgorithmSet<TokenBucket, Gcra, LeakyBucketMeter, LeakyBucketQueue, FixedWindow, SlidingWindowLog,
                                   SlidingWindowCounter>;

// An algorithm with its compiled numbers.
template <DecidingAlgorithm A>
struct RuleOf {
  using Algorithm = A;
  typename A::Limit limit;
};

template <class... As>
using RuleVariant = std::variant<RuleOf<As>...>;

using Rule =
    std::variant<RuleOf<TokenBucket>, RuleOf<Gcra>, RuleOf<LeakyBucketMeter>, RuleOf<LeakyBucketQueue>,
                 RuleOf<FixedWindow>, RuleOf<SlidingWindowLog>, RuleOf<SlidingWindowCounter>, RuleOf<Concurrency>>;

[[nodiscard]] inline bool is_concurrency(const Rule& rule) noexcept {
  return std::holds_alternative<RuleOf<Concurrency>>(rule);
}

// std::visit for the hot path: comparisons, which are predicted and inlined, instead of a table of functions.
template <std::size_t I = 0, class Work>
[[gnu::always_inline]] inline decltype(auto) visit_rule(const Rule& rule, Work&& work) {
  if (const auto* of = std::get_if<I>(&rule)) return work(*of);
  if constexpr (I + 1 < std::variant_size_v<Rule>) return visit_rule<I + 1>(rule, std::forward<Work>(work));
  __builtin_unreachable();
}

[[nodiscard]] Rule compile(const Limit& limit) noexcept;

// The time to fill an empty bucket, rounded up; for a window, its length.
[[nodiscard]] Duration time_to_fill(const Rule& rule) noexcept;
[[nodiscard]] Duration time_to_fill(const Limit& limit) noexcept;

// Sets the reach of a bucket rule: a state may be ahead of now by at most the time that the slowest active rule takes
// to fill. Required for states that are written under several rules.
void bound_reach(Rule& rule, Duration slowest_to_fill) noexcept;

}  // namespace weir::core
