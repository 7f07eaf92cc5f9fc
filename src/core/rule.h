// A limit, ready to decide: the closed set of algorithms, and the shape that all of them have.
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

// decide: admits and charges, or denies and leaves the state as it was. peek: the same answer, no charge.
// refund: gives a charge back where it still counts. owe: charges without asking, into a bounded debt, and says how
// much there was no room for. carry_over: applies these numbers to a state written under others. forget_at: from when
// on the state is as good as never seen. A State that is default-constructed was never used.
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

// Those that decide on their state alone. Concurrency takes receipts too.
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

// From nothing to all: how long a bucket takes to fill, rounded up; of a window, its length.
[[nodiscard]] Duration time_to_fill(const Rule& rule) noexcept;
[[nodiscard]] Duration time_to_fill(const Limit& limit) noexcept;

// For the states of a bucket that other rules wrote too: none of those that are in force lets one reach further ahead.
void bound_reach(Rule& rule, Duration slowest_to_fill) noexcept;

}  // namespace weir::core
