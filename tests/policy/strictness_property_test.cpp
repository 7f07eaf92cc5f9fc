// Verifies strictness against the algorithms themselves.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/rule.h"
#include "policy/tools/strictness.h"

namespace weir::policy {
namespace {

std::int64_t any_between(std::int64_t low, std::int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(low, high + 1));
}

std::uint64_t any_count(std::int64_t low, std::int64_t high) {
  return static_cast<std::uint64_t>(any_between(low, high));
}

// A few microseconds, so that a short trace reaches every edge case.
Limit any_limit() {
  const std::uint64_t count = any_count(1, 4);
  const Duration length{any_between(1, 12)};
  const std::uint64_t capacity = any_count(1, 8);
  const BucketNumbers bucket{.rate = {count, length}, .burst = capacity};
  const WindowNumbers window{.limit = capacity, .window = length};
  switch (any_between(0, 5)) {
    case 0:
      return *Limit::token_bucket(bucket);
    case 1:
      return *Limit::leaky_bucket(bucket);
    case 2:
      return *Limit::leaky_bucket(QueueNumbers{.rate = {count, length}, .queue = capacity - 1});
    case 3:
      return *Limit::fixed_window(window);
    case 4:
      return *Limit::sliding_window_log(window);
    default:
      return *Limit::sliding_window_counter(window);
  }
}

// A limit with its state.
template <class A>
struct Evaluated {
  typename A::Limit limit;
  typename A::State state{};

  static constexpr bool waits = std::is_same_v<A, core::LeakyBucketQueue>;

  [[nodiscard]] Decision peek(Cost cost, Instant now, Duration max_wait) const {
    if constexpr (waits) return A::peek(limit, state, cost, now, max_wait);
    return A::peek(limit, state, cost, now);
  }
  Decision decide(Cost cost, Instant now, Duration max_wait) {
    if constexpr (waits) return A::decide(limit, state, cost, now, max_wait);
    return A::decide(limit, state, cost, now);
  }
};

// The same for any algorithm.
class Judge {
 public:
  explicit Judge(const Limit& limit) : evaluated_(make(core::compile(limit))) {}

  [[nodiscard]] bool would_admit(Cost cost, Instant now, Duration max_wait) const {
    return std::visit([&](const auto& evaluated) { return evaluated.peek(cost, now, max_wait).admitted; }, evaluated_);
  }

  void charge(Cost cost, Instant now, Duration max_wait) {
    const auto decide = [&](auto& evaluated) { return evaluated.decide(cost, now, max_wait).admitted; };
    const bool is_admitted = std::visit(decide, evaluated_);
    RC_ASSERT(is_admitted);
  }

 private:
  // A concurrency limit, which never occurs here, is a rule too.
  template <class... As>
  using EvaluatedVariant = std::variant<Evaluated<As>..., Evaluated<core::Concurrency>>;
  using AnyEvaluated = core::AllAlgorithms::Apply<EvaluatedVariant>;

  static AnyEvaluated make(core::Rule rule) {
    return std::visit(
        [](auto& ruled) -> AnyEvaluated {
          using A = typename std::remove_reference_t<decltype(ruled)>::Algorithm;
          return AnyEvaluated(std::in_place_type<Evaluated<A>>, Evaluated<A>{std::move(ruled.limit)});
        },
        rule);
  }

  AnyEvaluated evaluated_;
};

RC_GTEST_PROP(StrictnessProperty, WhatTheStricterAdmitsTheOtherAdmitsToo, ()) {
  int tried = 0;
  for (int pair = 0; pair < 20; ++pair) {
    const Limit a = any_limit();
    const Limit b = any_limit();
    if (!at_least_as_strict(a, b)) continue;
    ++tried;
    Judge stricter(a);
    Judge other(b);
    Instant now{Duration{any_between(0, 100)}};
    for (int i = 0; i < 60; ++i) {
      now += Duration{any_between(0, 1) * any_between(0, 6)};
      const Cost cost{any_count(1, any_between(1, 3))};
      const Duration max_wait = any_between(0, 1) == 0 ? Duration{0} : Duration{any_between(0, 50)};
      if (!stricter.would_admit(cost, now, max_wait)) continue;
      RC_ASSERT(other.would_admit(cost, now, max_wait));
      stricter.charge(cost, now, max_wait);
      other.charge(cost, now, max_wait);
    }
  }
  RC_CLASSIFY(tried == 0, "no pair to try");
}

RC_GTEST_PROP(StrictnessProperty, EveryLimitIsAsStrictAsItself, ()) {
  const Limit limit = any_limit();
  RC_ASSERT(at_least_as_strict(limit, limit));
}

}  // namespace
}  // namespace weir::policy
