// The reference for all stores, the core on a map, and an in-memory store that decides with it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/rule.h"
#include "store/shared/shared_decider.h"
#include "store/store.h"

namespace weir::store {

[[nodiscard]] inline Check check_of(std::string key, const core::Rule& rule, std::uint64_t cost = 1) {
  Check check;
  check.key = std::move(key);
  check.rule = &rule;
  check.cost = Cost{cost};
  return check;
}

// The extension of a check, where the test is the wrapping store.
struct OwnExtension : CheckExtension {
  OwnExtension() = default;
  OwnExtension(const OwnExtension&) = delete;
  OwnExtension& operator=(const OwnExtension&) = delete;

  void send(const core::SliceMessage& its_message) {
    own_exchange = {its_message, {}};
    exchange = &own_exchange;
  }

  SliceExchange own_exchange;
};

// Copies an extension so that the check can be sent again, or to another store. `copies` owns it.
inline CheckExtension* copy_of(const CheckExtension* extension, std::deque<OwnExtension>& copies) {
  if (extension == nullptr) return nullptr;
  OwnExtension& copy = copies.emplace_back();
  copy.charge_back = extension->charge_back;
  if (extension->exchange == nullptr) return &copy;
  copy.send(extension->exchange->message);
  copy.own_exchange.is_sent = extension->exchange->is_sent;
  return &copy;
}

// States by the key of their check. Expired states are removed; the receipts of a state separately, as a store may keep
// them.
class CoreStates {
 public:
  // Fills in the answer.
  void decide(Group& group, Instant now) {
    expire_keys(group, now);
    decide_in_batch(group, now);
  }

  // Redis expires keys before a script runs, never during it: first expire the keys of all groups of a batch, then
  // decide each of them with decide_in_batch().
  void expire_keys(const Group& group, Instant now) {
    for (const Check& check : group.checks) remove_if_over(check, now);
  }
  void decide_in_batch(Group& group, Instant now) {
    group.failure = Failure::none;
    group.decided = true;
    group.now = now;
    std::vector<SharedState*> states;
    std::map<std::string, SharedState> before;
    const bool corrects = group.operation >= Operation::settle && group.operation != Operation::forget;
    for (const Check& check : group.checks) {
      states.push_back(&states_[check.key]);
      if (!corrects) continue;
      expire(check, now);
      before.emplace(check.key, states.back()->copy());
    }
    (void)decider_.decide(group, states, now);
    for (const Check& check : group.checks) {
      if (corrects) remove_if_given_back(check, before.at(check.key), now);
      if (group.operation == Operation::forget) states_.erase(check.key);
    }
  }

  // The expiration of the key in milliseconds, without receipts; 0 if it was never used.
  [[nodiscard]] std::int64_t forgotten_at(const Check& check) {
    const auto found = states_.find(check.key);
    if (found == states_.end() || check.rule == nullptr) return 0;
    const std::int64_t at = found->second.forget_at(*check.rule);
    return at <= 0 ? 0 : (at + 999) / 1000;
  }

  // The leased slices of a key.
  [[nodiscard]] core::Ledger& ledger(const std::string& key) { return states_[key].ledger; }

  // The number of written keys that start with `begin`.
  [[nodiscard]] std::size_t keys(std::string_view begin = {}) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(states_, [&](const auto& entry) { return entry.first.starts_with(begin); }));
  }
  [[nodiscard]] core::Receipts& receipts(const std::string& key) { return states_[key].receipts; }

  // A copy of the current states.
  [[nodiscard]] CoreStates copy() const {
    CoreStates same;
    for (const auto& [key, state] : states_) same.states_.emplace(key, state.copy());
    return same;
  }

 private:
  void expire(const Check& check, Instant now) {
    SharedState& state = states_[check.key];
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      if constexpr (core::can_be_leased<A>) state.ledger.expire<A>(of.limit, state.of<A>(), core::micros(now));
    });
  }

  // Used to detect changes.
  static auto numbers_of(const SharedState& state) {
    const auto& [arrival, fixed, counter, log, holds] = state.numbers;
    const bool has_log = !log.empty();
    return std::tuple(arrival.whole, arrival.nths, fixed.end, fixed.count, counter.start, counter.previous,
                      counter.current, has_log ? log.ring->size() : 0, has_log ? log.ring->newest() : 0,
                      has_log ? log.ring->cost_between(0, log.ring->size()) : 0);
  }

  // A state that was corrected and has expired is removed at once; an unchanged one stays until its expiration.
  void remove_if_given_back(const Check& check, const SharedState& before, Instant now) {
    const auto found = states_.find(check.key);
    if (found == states_.end()) return;
    SharedState& state = found->second;
    const bool is_over = core::visit_rule(
        *check.rule, [&]<class A>(const core::RuleOf<A>& of) { return A::forget_at(of.limit, state.of<A>()) <= now; });
    if (!is_over || numbers_of(state) == numbers_of(before)) return;
    state.numbers = {};
    if (!state.has_slices() && state.receipts.empty()) states_.erase(found);
  }

  void remove_if_over(const Check& check, Instant now) {
    // How long slices of a bucket matter depends on the rule.
    const bool is_bucket = check.rule != nullptr && core::visit_rule(*check.rule, []<class A>(const core::RuleOf<A>&) {
                             return std::is_same_v<typename A::State, core::ArrivalState>;
                           });
    const auto is_over = [&](std::int64_t millis) { return millis > 0 && core::micros(now) / 1000 > millis; };
    SharedState& state = states_[check.key];
    if (!state.receipts.empty() && is_over((state.receipts.forget_at() + 999) / 1000)) state.receipts = {};
    if (is_bucket && state.has_slices()) return;
    if (!is_over(forgotten_at(check))) return;
    state.numbers = {};
    state.ledger = {};
    if (state.receipts.empty()) states_.erase(check.key);
  }

  SharedDecider decider_;
  std::map<std::string, SharedState> states_;
};

// Answers before submit() returns, or when the test decides: late, in another order, or not at all.
class MemoryStore final : public Store {
 public:
  using Store::submit;
  void submit(Batch batch) override {
    for (Group* const group : batch) {
      if (failing != Failure::none) {
        answer(*group, failing);
      } else if (holds) {
        waiting_.push_back(group);
      } else {
        answer(*group, Failure::none);
      }
    }
  }

  Instant now{std::chrono::seconds(1'700'000'000)};  // by the store's clock
  Failure failing = Failure::none;                   // applied to all groups, at once
  bool holds = false;                                // keeps groups until they are delivered

  // The number of written keys that start with `begin`.
  [[nodiscard]] std::size_t keys(std::string_view begin = {}) const { return states_.keys(begin); }

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] const std::deque<Group*>& groups() const noexcept { return waiting_; }

  // Delivers waiting groups, including those submitted in the meantime, until none is left.
  void deliver_all() {
    while (!waiting_.empty()) deliver();
  }
  // Delivers the group that has waited longest.
  void deliver() { fail(Failure::none); }
  void fail(Failure failure) {
    Group& group = *waiting_.front();
    waiting_.pop_front();
    answer(group, failure);
  }
  // Delivers the group that came last.
  void deliver_last() {
    Group& group = *waiting_.back();
    waiting_.pop_back();
    answer(group, Failure::none);
  }

 private:
  void answer(Group& group, Failure failure) {
    if (failure == Failure::none) {
      states_.decide(group, now);
    } else {
      group.failure = failure;
      group.decided = group.admitted = false;
    }
    group.callback->answered(group);
  }

  CoreStates states_;
  std::deque<Group*> waiting_;
};

}  // namespace weir::store
