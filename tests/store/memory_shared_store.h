// A shared store in the test's own memory: judges with the core when the test says so.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "core/decide_state.h"
#include "core/rule.h"
#include "core/settle.h"
#include "store/shared/shared_store.h"

namespace weir::store {

class MemorySharedStore final : public SharedStore {
 public:
  [[nodiscard]] bool ask(SharedAsk& ask) override {
    if (away) return false;
    waiting_.push_back(&ask);
    return true;
  }

  [[nodiscard]] AskDeadline deadline() const override { return AskDeadline::max(); }

  bool away = false;  // the breaker is open
  Instant now{std::chrono::seconds(1'700'000'000)};

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] const std::deque<SharedAsk*>& asks() const noexcept { return waiting_; }
  [[nodiscard]] std::size_t keys() const noexcept { return states_.size(); }

  // Judges and answers what waits, and what is asked meanwhile, until nothing does.
  void deliver_all() {
    while (!waiting_.empty()) deliver();
  }

  // The one that has waited longest.
  void deliver() {
    SharedAsk& ask = take();
    judge(ask);
    ask.asker->answered(ask);
  }

  // The one that came last.
  void deliver_last() {
    SharedAsk& ask = *waiting_.back();
    waiting_.pop_back();
    judge(ask);
    ask.asker->answered(ask);
  }

  void fail(StoreFailure failure) {
    SharedAsk& ask = take();
    ask.failure = failure;
    ask.answers.clear();
    ask.admitted = false;
    ask.asker->answered(ask);
  }

 private:
  // A key has states of one algorithm; which, its rules say.
  struct Held {
    core::ArrivalState arrival;
    core::FixedWindow::State fixed;
    core::SlidingWindowCounter::State counter;
    core::SlidingWindowLog::State log;

    template <class A>
    [[nodiscard]] typename A::State& of() noexcept {
      if constexpr (std::is_same_v<typename A::State, core::ArrivalState>)
        return arrival;
      else if constexpr (std::is_same_v<A, core::FixedWindow>)
        return fixed;
      else if constexpr (std::is_same_v<A, core::SlidingWindowCounter>)
        return counter;
      else
        return log;
    }
    [[nodiscard]] Held copy() const {
      return {arrival, fixed, counter, {log.ring ? log.ring->copy(log.ring->capacity()) : core::LogRing::Handle{}}};
    }
  };

  SharedAsk& take() {
    SharedAsk& ask = *waiting_.front();
    waiting_.pop_front();
    return ask;
  }

  template <class A>
  static Decision decide(const core::RuleOf<A>& of, typename A::State& state, const SharedCheck& check, Instant now) {
    return core::decide_state<A>(of.limit, state, check.cost, check.max_wait, now);
  }

  void charge_back(const SharedCheck& check) {
    if (check.charge_back == 0) return;
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      auto& state = states_[check.key].of<A>();
      const auto left = A::peek(of.limit, state, Cost{0}, now).remaining;
      (void)A::decide(of.limit, state, Cost{std::min(check.charge_back, left)}, now);
    });
  }

  void judge(SharedAsk& ask) {
    ask.failure = StoreFailure::none;
    ask.now = now;
    ask.answers.assign(ask.checks.size(), {});
    ask.admitted = true;
    if (ask.operation == SharedOperation::forget) {
      for (const SharedCheck& check : ask.checks) states_.erase(check.key);
      return;
    }
    if (ask.operation == SharedOperation::settle) {
      core::visit_rule(*ask.checks[0].rule, [&]<class A>(const core::RuleOf<A>& of) {
        core::settle<A>(of.limit, states_[ask.checks[0].key].of<A>(), *ask.settlement, now);
      });
      return;
    }
    for (const SharedCheck& check : ask.checks) charge_back(check);
    std::map<std::string, Held> after;
    const auto copy_of = [&](const std::string& key) -> Held& {
      const auto known = after.find(key);
      return known != after.end() ? known->second : after.emplace(key, states_[key].copy()).first->second;
    };
    for (std::size_t i = 0; i < ask.checks.size(); ++i) {
      const SharedCheck& check = ask.checks[i];
      core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
        Held spare = copy_of(check.key).copy();
        const bool only_looks = check.role == SharedCheck::Role::guard;
        ask.answers[i].decision = decide(of, (only_looks ? spare : copy_of(check.key)).template of<A>(), check, now);
      });
      ask.admitted = ask.admitted && ask.answers[i].decision.admitted;
    }
    if (ask.admitted && ask.operation == SharedOperation::decide) {
      for (auto& [key, held] : after) states_[key] = std::move(held);
      return;
    }
    if (ask.operation == SharedOperation::look) return;
    for (std::size_t i = 0; i < ask.checks.size(); ++i) {
      core::visit_rule(*ask.checks[i].rule, [&]<class A>(const core::RuleOf<A>& of) {
        if (ask.checks[i].cost.units() == 0) return;
        core::bring_within_reach<A>(of.limit, states_[ask.checks[i].key].of<A>(), now);
      });
      if (!ask.answers[i].decision.admitted) continue;
      SharedCheck nothing = ask.checks[i];
      nothing.cost = Cost{0};
      core::visit_rule(*nothing.rule, [&]<class A>(const core::RuleOf<A>& of) {
        ask.answers[i].decision = decide(of, states_[nothing.key].of<A>(), nothing, now);
      });
    }
  }

  std::map<std::string, Held> states_;
  std::deque<SharedAsk*> waiting_;
};

}  // namespace weir::store
