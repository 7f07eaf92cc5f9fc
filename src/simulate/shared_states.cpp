#include "simulate/shared_states.h"

#include <algorithm>

#include "core/operations.h"

namespace weir::simulate {

using store::Check;
using store::Group;
using store::Operation;

template <class A>
typename A::State& SharedStates::numbers_of(State& state) {
  using Its = typename A::State;
  if (!std::holds_alternative<Its>(state.numbers)) state.numbers.template emplace<Its>();
  return std::get<Its>(state.numbers);
}

void SharedStates::decide(Group& group, Instant now) {
  make_room(now);
  group.failure = store::Failure::none;
  group.decided = group.admitted = true;
  group.now = now;
  find_parts(group);
  denied_by_held_.clear();
  switch (group.operation) {
    case Operation::decide:
      decide_all(group, now);
      break;
    case Operation::look:
      look(group, now);
      break;
    case Operation::settle:
      lapse(parts_[0], now);
      settle(parts_[0], *group.settlement, now);
      parts_[0].check.decision = peek(parts_[0], Cost{0}, now);
      break;
    case Operation::extend:
    case Operation::report:
      break;  // nodes have no receipts here: simulate() refuses what needs them
    case Operation::forget:
      for (Part part : parts_) {
        part.state = {};
        part.check.decision = peek(part, Cost{0}, now);
      }
      break;
  }
  std::ranges::for_each(parts_, note_end);
}

void SharedStates::find_parts(Group& group) {
  parts_.clear();
  for (Check& check : group.checks) parts_.push_back({check, states_[check.key]});
}

// In the order of core/ledger.h: lapse, report, decide, grant.
void SharedStates::decide_all(Group& group, Instant now) {
  for (const Part part : parts_) report(part, now);
  look(group, now);
  for (const Part part : parts_) {
    if (part.check.decision.admitted || !peek(part, part.check.cost, now, Held::ignored)) continue;
    denied_by_held_.push_back(&part.check);
  }
  for (const Part part : parts_) {
    Check& check = part.check;
    if (group.admitted) {
      if (check.role == Check::Role::charge) check.decision = charge(part, now);
    } else {
      if (check.cost > Cost{0}) bring_within_reach(part, now);
      if (check.decision.admitted) check.decision = peek(part, Cost{0}, now);
    }
  }
  for (const Part part : parts_) grant(part, now);
}

void SharedStates::look(Group& group, Instant now) {
  for (const Part part : parts_) {
    lapse(part, now);
    part.check.decision = peek(part, part.check.cost, now);
    group.admitted = group.admitted && part.check.decision.admitted;
  }
}

void SharedStates::lapse(Part part, Instant now) {
  core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      part.state.ledger.lapse<A>(of.limit, numbers_of<A>(part.state), core::micros(now));
    }
  });
}

void SharedStates::report(Part part, Instant now) {
  if (part.check.exchange == nullptr) return;
  store::SliceExchange& exchange = *part.check.exchange;
  exchange.answer = {};
  exchange.answer.lapsed = part.state.ledger.lapsed_of(exchange.message.holder, core::micros(now));
  lapse(part, now);
  core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      exchange.answer.taken =
          part.state.ledger.report<A>(of.limit, numbers_of<A>(part.state), exchange.message, core::micros(now));
    }
  });
}

void SharedStates::grant(Part part, Instant now) {
  if (part.check.exchange == nullptr || !part.check.exchange->answer.taken) return;
  store::SliceExchange& exchange = *part.check.exchange;
  const std::uint64_t lapsed = exchange.answer.lapsed;
  core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      exchange.answer =
          part.state.ledger.grant<A>(of.limit, numbers_of<A>(part.state), exchange.message, core::micros(now));
    }
  });
  exchange.answer.lapsed = lapsed;
}

Decision SharedStates::peek(Part part, Cost cost, Instant now, Held held) {
  return core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    const auto& numbers = numbers_of<A>(part.state);
    if constexpr (core::can_be_leased<A>) {
      const core::Ledger& ledger = part.state.ledger;
      if (held == Held::counted && !ledger.slices.empty())
        return ledger.peek<A>(of.limit, numbers, cost, core::micros(now));
    }
    return core::peek_state<A>(of.limit, numbers, cost, part.check.max_wait, now);
  });
}

Decision SharedStates::charge(Part part, Instant now) {
  return core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    auto& numbers = numbers_of<A>(part.state);
    if constexpr (core::can_be_leased<A>) {
      const core::Ledger& ledger = part.state.ledger;
      if (!ledger.slices.empty()) return ledger.decide<A>(of.limit, numbers, part.check.cost, core::micros(now));
    }
    return core::decide_state<A>(of.limit, numbers, part.check.cost, part.check.max_wait, now);
  });
}

void SharedStates::bring_within_reach(Part part, Instant now) {
  core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    core::bring_within_reach<A>(of.limit, numbers_of<A>(part.state), now);
  });
}

void SharedStates::settle(Part part, const core::Settlement& settlement, Instant now) {
  core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    core::settle<A>(of.limit, numbers_of<A>(part.state), settlement, now);
  });
}

void SharedStates::note_end(Part part) {
  part.state.over_at = core::visit_rule(*part.check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    const auto& numbers = numbers_of<A>(part.state);
    std::int64_t end = core::micros(A::forget_at(of.limit, numbers));
    if constexpr (core::can_be_leased<A>) {
      if (!part.state.ledger.slices.empty()) end = std::max(end, part.state.ledger.forget_at<A>(of.limit, numbers));
    }
    return end;
  });
}

// Now and then, what is over goes; so that the work is small for each state, and at most half of them are over.
void SharedStates::make_room(Instant now) {
  if (states_.size() < sweep_at_) return;
  std::erase_if(states_, [&](const auto& entry) { return entry.second.over_at <= core::micros(now); });
  has_too_many_ = has_too_many_ || states_.size() > most_;
  sweep_at_ = std::max(std::size_t{1} << 16, 2 * states_.size());
}

}  // namespace weir::simulate
