// What the script has to decide: the core, on states in a map, one ask after the other.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/decide_state.h"
#include "core/until_more.h"
#include "store/shared/shared_store.h"

namespace weir::store::redis {

class ScriptOracle {
 public:
  struct Expected {
    bool admitted = true;
    std::vector<SharedAnswer> answers;
  };

  Expected judge(const SharedAsk& ask, Instant now) {
    for (const SharedCheck& check : ask.checks) {
      const std::int64_t over = forgotten_at(check);
      if (over > 0 && now.time_since_epoch().count() / 1000 > over) states_.erase(check.key);
    }
    Expected expected;
    switch (ask.operation) {
      case SharedOperation::forget:
        for (const SharedCheck& check : ask.checks) states_.erase(check.key);
        for (const SharedCheck& check : ask.checks) expected.answers.push_back({without_charge(check, now), {}});
        return expected;
      case SharedOperation::settle:
        settle(ask.checks[0], *ask.settlement, now);
        expected.answers.push_back({without_charge(ask.checks[0], now), {}});
        expected.answers[0].more_after = more_after(states_, ask.checks[0], expected.answers[0].decision, now);
        return expected;
      case SharedOperation::look:
      case SharedOperation::decide:
        break;
    }
    const bool is_look = ask.operation == SharedOperation::look;
    if (!is_look) {
      for (const SharedCheck& check : ask.checks) charge_back(check, now);
    }
    States after = copy(states_, ask);
    for (const SharedCheck& check : ask.checks) {
      States scratch = copy(after, ask);
      States& judged = check.role == SharedCheck::Role::guard ? scratch : after;
      expected.answers.push_back({decide(judged, check, check.cost, now), {}});
      SharedAnswer& answer = expected.answers.back();
      expected.admitted = expected.admitted && answer.decision.admitted;
      answer.more_after = more_after(after, check, answer.decision, now);
    }
    if (is_look) return expected;
    if (expected.admitted) {
      for (auto& [key, held] : after) states_[key] = std::move(held);
      return expected;
    }
    for (std::size_t i = 0; i < ask.checks.size(); ++i) {
      if (ask.checks[i].cost.units() > 0) bring_within_reach(ask.checks[i], now);
      Decision& decision = expected.answers[i].decision;
      if (decision.admitted) decision = without_charge(ask.checks[i], now);
      expected.answers[i].more_after = more_after(states_, ask.checks[i], decision, now);
    }
    return expected;
  }

  // When the key ends, in milliseconds; 0 if it was never used.
  [[nodiscard]] std::int64_t forgotten_at(const SharedCheck& check) {
    return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      const std::int64_t at = A::forget_at(of.limit, states_[check.key].of<A>()).time_since_epoch().count();
      return at <= 0 ? 0 : (at + 999) / 1000;
    });
  }

 private:
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
    [[nodiscard]] std::array<std::int64_t, 10> numbers() const {
      const bool has_log = !log.empty();
      return {arrival.whole,
              arrival.nths,
              fixed.end,
              static_cast<std::int64_t>(fixed.count),
              counter.start,
              static_cast<std::int64_t>(counter.previous),
              static_cast<std::int64_t>(counter.current),
              has_log ? log.ring->size() : 0,
              has_log ? log.ring->newest() : 0,
              has_log ? log.ring->cost_between(0, log.ring->size()) : 0};
    }
    [[nodiscard]] Held copy() const {
      return {arrival, fixed, counter, {log.ring ? log.ring->copy(log.ring->capacity()) : core::LogRing::Handle{}}};
    }
  };
  using States = std::map<std::string, Held>;

  static States copy(States& from, const SharedAsk& ask) {
    States copied;
    for (const SharedCheck& check : ask.checks) copied[check.key] = from[check.key].copy();
    return copied;
  }

  static Decision decide(States& states, const SharedCheck& check, Cost cost, Instant now) {
    return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      if constexpr (std::is_same_v<A, core::LeakyBucketQueue>) {
        return A::decide(of.limit, states[check.key].of<A>(), cost, now, check.max_wait);
      } else {
        return A::decide(of.limit, states[check.key].of<A>(), cost, now);
      }
    });
  }

  Decision without_charge(const SharedCheck& check, Instant now) { return decide(states_, check, Cost{0}, now); }

  static std::optional<Duration> more_after(States& states, const SharedCheck& check, const Decision& decision,
                                            Instant now) {
    return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      const auto peek = [&](Cost cost) { return A::peek(of.limit, states[check.key].of<A>(), cost, now); };
      return core::until_more<A>(of.limit, decision, check.max_wait, peek);
    });
  }

  void charge_back(const SharedCheck& check, Instant now) {
    SharedCheck patient = check;
    patient.max_wait = Duration::max();
    for (std::uint64_t i = 0; i < check.charge_back; ++i) {
      if (!decide(states_, patient, Cost{1}, now).admitted) return bring_within_reach(check, now);
    }
  }

  void bring_within_reach(const SharedCheck& check, Instant now) {
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      core::bring_within_reach<A>(of.limit, states_[check.key].of<A>(), now);
    });
  }

  // A state that is changed, and as good as never seen then, is not kept.
  void settle(const SharedCheck& check, const core::Settlement& settlement, Instant now) {
    core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      Held& held = states_[check.key];
      const auto before = held.numbers();
      core::settle<A>(of.limit, held.of<A>(), settlement, now);
      const bool is_over = A::forget_at(of.limit, held.of<A>()) <= now;
      if (is_over && held.numbers() != before) states_.erase(check.key);
    });
  }

  States states_;
};

}  // namespace weir::store::redis
