// What a shared store keeps for one key: the state of one algorithm, its leased slices (core/ledger.h), and its open
// receipts (core/receipts.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "core/ledger.h"
#include "core/receipts.h"
#include "core/rule.h"

namespace weir::store {

struct SharedState {
  // Only the state of the rule's algorithm is in use.
  using Numbers = std::tuple<core::ArrivalState, core::FixedWindow::State, core::SlidingWindowCounter::State,
                             core::SlidingWindowLog::State, core::Concurrency::State>;

  Numbers numbers;
  core::Ledger ledger;
  core::Receipts receipts;

  template <class A>
  [[nodiscard]] typename A::State& of() noexcept {
    return std::get<typename A::State>(numbers);
  }
  template <class A>
  [[nodiscard]] const typename A::State& of() const noexcept {
    return std::get<typename A::State>(numbers);
  }
  [[nodiscard]] bool has_slices() const noexcept { return !ledger.empty(); }

  [[nodiscard]] Numbers copy_of_numbers() const {
    const auto& [arrival, fixed, counter, log, holds] = numbers;
    auto ring = log.ring ? log.ring->copy(log.ring->capacity()) : core::LogRing::Handle{};
    return {arrival, fixed, counter, core::SlidingWindowLog::State{std::move(ring)}, holds};
  }
  [[nodiscard]] SharedState copy() const { return {copy_of_numbers(), ledger, receipts}; }

  // When the numbers and slices can be forgotten. Receipts::forget_at is the same for receipts.
  [[nodiscard]] std::int64_t forget_at(const core::Rule& rule) const {
    return core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of_rule) {
      std::int64_t at = core::micros(A::forget_at(of_rule.limit, of<A>()));
      if constexpr (core::can_be_leased<A>) {
        if (has_slices()) at = std::max(at, ledger.forget_at<A>(of_rule.limit, of<A>()));
      }
      return at;
    });
  }
};

}  // namespace weir::store
