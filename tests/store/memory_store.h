// The core on a map: what every store has to decide, and a store in the test's own memory that decides so.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/operations.h"
#include "core/rule.h"
#include "core/until_more.h"
#include "store/store.h"

namespace weir::store {

[[nodiscard]] inline Check check_of(std::string key, const core::Rule& rule, std::uint64_t cost = 1) {
  Check check;
  check.key = std::move(key);
  check.rule = &rule;
  check.cost = Cost{cost};
  return check;
}

// States by the key of their check. One whose time is over is removed; of a log, what it counts and its receipts each
// by itself, as a store may keep them.
class CoreStates {
 public:
  // Fills in the answer.
  void decide(Group& group, Instant now) {
    for (const Check& check : group.checks) remove_if_over(check, now);
    group.failure = Failure::none;
    group.decided = group.admitted = true;
    group.now = now;
    switch (group.operation) {
      case Operation::forget:
        for (const Check& check : group.checks) {
          add_forgotten(check, now);
          states_.erase(check.key);
        }
        for (Check& check : group.checks) {
          check.decision = check.rule == nullptr ? Decision{} : decide_on(states_, check, Cost{0}, now);
        }
        return;
      case Operation::settle:
      case Operation::extend:
      case Operation::report:
        for (Check& check : group.checks) {
          lapse(check, now);
          correct(group, check, now);
          tell_uncharged(check, now);
        }
        return;
      case Operation::decide:
        for (const Check& check : group.checks) report(check, now);
        for (Check& check : group.checks) {
          if (check.charge_back > 0) lapse(check, now);
          charge_back(check, now);
        }
        for (const Check& check : group.checks) lapse(check, now);
        if (States after; decide_all(group, after, now)) {
          for (auto& [key, state] : after) states_[key] = std::move(state);
        } else {
          leave_uncharged(group, now);
        }
        for (const Check& check : group.checks) grant(check, now);
        return;
      case Operation::look: {
        for (const Check& check : group.checks) lapse(check, now);
        States after;
        (void)decide_all(group, after, now);
        for (const Check& check : group.checks) add_holdings(check, now);
        return;
      }
    }
  }

  // When the key ends, in milliseconds; 0 if it was never used.
  [[nodiscard]] std::int64_t forgotten_at(const Check& check) {
    const auto found = states_.find(check.key);
    if (found == states_.end() || check.rule == nullptr) return 0;
    return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      std::int64_t at = A::forget_at(of.limit, state_of<A>(found->second)).time_since_epoch().count();
      if constexpr (core::can_be_leased<A>) {
        at = std::max(at, found->second.ledger.template forget_at<A>(of.limit, state_of<A>(found->second)));
      }
      if constexpr (!is_log<A>) at = std::max(at, found->second.receipts.forget_at());
      return at <= 0 ? 0 : (at + 999) / 1000;
    });
  }

  // The slices of a key that are out.
  [[nodiscard]] core::Ledger& ledger(const std::string& key) { return states_[key].ledger; }

  // Keys that were written, and begin so.
  [[nodiscard]] std::size_t keys(std::string_view begin = {}) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(states_, [&](const auto& entry) { return entry.first.starts_with(begin); }));
  }
  [[nodiscard]] core::Receipts& receipts(const std::string& key) { return states_[key].receipts; }

  // As they are now.
  [[nodiscard]] CoreStates copy() const {
    CoreStates same;
    for (const auto& [key, state] : states_) same.states_.emplace(key, copy_of(state));
    return same;
  }

 private:
  // A key has states of one algorithm; which, its rules say.
  using Numbers = std::tuple<core::ArrivalState, core::FixedWindow::State, core::SlidingWindowCounter::State,
                             core::SlidingWindowLog::State, core::Concurrency::State>;
  struct State {
    Numbers numbers;
    core::Ledger ledger;
    core::Receipts receipts;
  };
  using States = std::map<std::string, State>;

  template <class A>
  static constexpr bool is_log = std::is_same_v<A, core::SlidingWindowLog>;

  template <class A>
  [[nodiscard]] static typename A::State& state_of(State& state) noexcept {
    return std::get<typename A::State>(state.numbers);
  }
  [[nodiscard]] static State copy_of(const State& state) {
    const auto& [arrival, fixed, counter, log, holds] = state.numbers;
    return {{arrival, fixed, counter,
             core::SlidingWindowLog::State{log.ring ? log.ring->copy(log.ring->capacity()) : core::LogRing::Handle{}},
             holds},
            state.ledger,
            state.receipts};
  }

  // A guard holds nothing.
  static const core::ReceiptUse* use_of(const Check& check) noexcept {
    return check.role == Check::Role::charge ? check.receipt : nullptr;
  }

  static Decision decide_on(States& states, const Check& check, Cost cost, Instant now) {
    return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      State& state = states[check.key];
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        return state.receipts.hold(of.limit, cost, use_of(check), 0, check.wants_more_after, core::micros(now));
      }
      if constexpr (core::can_be_leased<A>) {
        if (!state.ledger.slices.empty()) {
          return state.ledger.template decide<A>(of.limit, state_of<A>(state), cost, core::micros(now));
        }
      }
      return core::decide_state<A>(of.limit, state_of<A>(state), cost, check.max_wait, now);
    });
  }

  void lapse(const Check& check, Instant now) {
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      State& state = states_[check.key];
      if constexpr (core::can_be_leased<A>) {
        state.ledger.template lapse<A>(of.limit, state_of<A>(state), core::micros(now));
      }
    });
  }
  void report(const Check& check, Instant now) {
    if (check.exchange == nullptr) return;
    check.exchange->answer = {};
    check.exchange->answer.lapsed =
        states_[check.key].ledger.lapsed_of(check.exchange->message.holder, core::micros(now));
    lapse(check, now);
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      State& state = states_[check.key];
      if constexpr (core::can_be_leased<A>) {
        check.exchange->answer.taken =
            state.ledger.template report<A>(of.limit, state_of<A>(state), check.exchange->message, core::micros(now));
      }
    });
  }
  void grant(const Check& check, Instant now) {
    if (check.exchange == nullptr || !check.exchange->answer.taken) return;
    const std::uint64_t lapsed = check.exchange->answer.lapsed;
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      State& state = states_[check.key];
      if constexpr (core::can_be_leased<A>) {
        check.exchange->answer =
            state.ledger.template grant<A>(of.limit, state_of<A>(state), check.exchange->message, core::micros(now));
      }
    });
    check.exchange->answer.lapsed = lapsed;
  }
  static void tell_when_more(States& states, Check& check, Instant now) {
    if (!check.wants_more_after || core::is_concurrency(*check.rule)) return;
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      if constexpr (core::can_be_leased<A>) {
        State& state = states[check.key];
        if (!state.ledger.slices.empty()) {
          check.decision.more_after =
              state.ledger.template until_more<A>(of.limit, state_of<A>(state), check.decision, core::micros(now));
          return;
        }
      }
      check.decision.more_after =
          core::until_more_after<A>(of.limit, state_of<A>(states[check.key]), check.decision, check.max_wait, now);
    });
  }

  // One check after the other, on copies: a key that comes twice sees its first charge.
  bool decide_all(Group& group, States& after, Instant now) {
    for (const Check& check : group.checks) after[check.key] = copy_of(states_[check.key]);
    held_.clear();
    for (Check& check : group.checks) {
      State before = copy_of(after[check.key]);
      if (check.role == Check::Role::charge && check.receipt != nullptr) {
        reserve(after, check, now);
      } else {
        check.decision = decide_on(after, check, check.cost, now);
      }
      if (check.role == Check::Role::guard) after[check.key] = std::move(before);
      tell_when_more(after, check, now);
      group.admitted = group.admitted && check.decision.admitted;
    }
    if (!group.admitted || group.operation == Operation::look) {
      for (const Check& check : group.checks) {
        if (check.receipt != nullptr) check.receipt->result = core::ReceiptResult::none;
      }
    }
    return group.admitted;
  }
  void reserve(States& after, Check& check, Instant now) {
    core::ReceiptUse& use = *check.receipt;
    const bool was_open = states_[check.key].receipts.is_open(use.id, core::micros(now));
    const Cost cost = was_open ? Cost{0} : check.cost;
    if (const auto* const holds = std::get_if<core::RuleOf<core::Concurrency>>(check.rule)) {
      check.decision = states_[check.key].receipts.hold(holds->limit, cost, &use, held_[check.key],
                                                        check.wants_more_after, core::micros(now));
      held_[check.key] += cost.units();
    } else {
      check.decision = decide_on(after, check, cost, now);
    }
    if (was_open) core::admit_again(check.decision);
    if (!check.decision.admitted) return;
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      State& state = after[check.key];
      state.receipts.reserve(core::place_of_charge<A>(of.limit, state_of<A>(state), check.decision), check.cost,
                             was_open, use, core::micros(now));
    });
  }
  void leave_uncharged(Group& group, Instant now) {
    for (Check& check : group.checks) {
      if (check.cost > Cost{0}) bring_within_reach(check, now);
      if (check.decision.admitted) {
        check.decision = decide_on(states_, check, Cost{0}, now);
      } else {
        check.held_by_others = states_[check.key].ledger.held_by_others(check.holder);
      }
    }
    for (Check& check : group.checks) tell_when_more(states_, check, now);
  }
  void tell_uncharged(Check& check, Instant now) {
    check.decision = decide_on(states_, check, Cost{0}, now);
    tell_when_more(states_, check, now);
  }

  void add_holdings(const Check& check, Instant now) {
    if (check.holdings == nullptr) return;
    State& state = states_[check.key];
    std::uint64_t held = 0;
    for (const core::Receipt& receipt : state.receipts.open) {
      if (receipt.ends <= core::micros(now)) continue;
      check.holdings->open.push_back(receipt);
      held += receipt.cost;
    }
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      const Decision untouched = A::peek(of.limit, state_of<A>(state), Cost{0}, now);
      const bool is_held = std::is_same_v<A, core::Concurrency>;
      check.holdings->used += is_held ? std::min(held, untouched.limit) : untouched.limit - untouched.remaining;
    });
    for (const core::Slice& slice : state.ledger.slices) check.holdings->slices.push_back(slice);
    check.holdings->at = now;
    check.holdings->known = true;
  }
  void add_forgotten(const Check& check, Instant now) {
    if (check.holdings == nullptr) return;
    for (const core::Slice& slice : states_[check.key].ledger.slices) {
      if (slice.until > core::micros(now)) check.holdings->slices.push_back(slice);
    }
    check.holdings->at = now;
    check.holdings->known = true;
  }

  // One by one, for as long as they are admitted.
  void charge_back(Check& check, Instant now) {
    Check patient = check;
    patient.max_wait = Duration::max();
    check.not_charged_back = check.charge_back;
    for (; check.not_charged_back > 0; --check.not_charged_back) {
      if (!decide_on(states_, patient, Cost{1}, now)) return bring_within_reach(check, now);
    }
  }
  void bring_within_reach(const Check& check, Instant now) {
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      core::bring_within_reach<A>(of.limit, state_of<A>(states_[check.key]), now);
    });
  }

  // To see whether it is changed.
  static auto numbers_of(const State& state) {
    const auto& [arrival, fixed, counter, log, holds] = state.numbers;
    const bool has_log = !log.empty();
    return std::tuple(arrival.whole, arrival.nths, fixed.end, fixed.count, counter.start, counter.previous,
                      counter.current, has_log ? log.ring->size() : 0, has_log ? log.ring->newest() : 0,
                      has_log ? log.ring->cost_between(0, log.ring->size()) : 0);
  }
  // Settles, extends or reports.
  void correct(const Group& group, const Check& check, Instant now) {
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      State& whole = states_[check.key];
      auto& state = state_of<A>(whole);
      const auto before = numbers_of(whole);
      const core::Receipts receipts_before = whole.receipts;
      if (group.operation == Operation::extend) {
        whole.receipts.extend(*check.receipt, core::micros(now));
      } else if (group.operation == Operation::report) {
        core::ReceiptUse none;
        core::ReceiptUse& use = check.receipt == nullptr ? none : *check.receipt;
        whole.receipts.template report<A>(of.limit, state, check.cost, use, core::micros(now));
      } else if (check.receipt != nullptr) {
        whole.receipts.template settle<A>(of.limit, state, *check.receipt, core::micros(now));
      } else {
        whole.receipts.template settle<A>(of.limit, state, *group.settlement, core::micros(now));
      }
      const bool is_over = A::forget_at(of.limit, state) <= now;
      if constexpr (is_log<A>) {
        if (is_over && numbers_of(whole) != before) state = {};
        return;
      }
      if (!is_over || (numbers_of(whole) == before && whole.receipts == receipts_before)) return;
      whole.receipts.drop_ended(core::micros(now));
      if (whole.ledger.slices.empty() && whole.receipts.empty()) {
        states_.erase(check.key);
      } else {
        state = {};
      }
    });
  }
  void remove_if_over(const Check& check, Instant now) {
    // How long slices of a bucket matter depends on the rule.
    const bool is_bucket = check.rule != nullptr && core::visit_rule(*check.rule, []<class A>(const core::RuleOf<A>&) {
                             return std::is_same_v<typename A::State, core::ArrivalState>;
                           });
    if (is_bucket && !states_[check.key].ledger.slices.empty()) return;
    const auto is_over = [&](std::int64_t millis) { return millis > 0 && core::micros(now) / 1000 > millis; };
    const bool is_forgotten = is_over(forgotten_at(check));
    if (check.rule != nullptr && std::holds_alternative<core::RuleOf<core::SlidingWindowLog>>(*check.rule)) {
      State& state = states_[check.key];
      if (is_forgotten) state_of<core::SlidingWindowLog>(state) = {};
      if (!state.receipts.empty() && is_over((state.receipts.forget_at() + 999) / 1000)) state.receipts = {};
    } else if (is_forgotten) {
      states_.erase(check.key);
    }
  }

  States states_;
  std::map<std::string, std::uint64_t> held_;  // by the checks of one group
};

// Answers before submit() returns, or when the test says so: late, in another order, or not at all.
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

  Instant now{std::chrono::seconds(1'700'000'000)};  // by the clock of the store
  Failure failing = Failure::none;                   // of all that is submitted, at once
  bool holds = false;                                // what is submitted, until it is to be delivered

  // Keys that were written, and begin so.
  [[nodiscard]] std::size_t keys(std::string_view begin = {}) const { return states_.keys(begin); }

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] const std::deque<Group*>& groups() const noexcept { return waiting_; }

  // What waits, and what is submitted meanwhile, until nothing does.
  void deliver_all() {
    while (!waiting_.empty()) deliver();
  }
  // The one that has waited longest.
  void deliver() { fail(Failure::none); }
  void fail(Failure failure) {
    Group& group = *waiting_.front();
    waiting_.pop_front();
    answer(group, failure);
  }
  // The one that came last.
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
