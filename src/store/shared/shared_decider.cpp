#include "store/shared/shared_decider.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/operations.h"
#include "core/until_more.h"

namespace weir::store {
namespace {

// Replaces a log whose state the caller knows only as it is after the group. It charges the units that the script
// reported.
struct CorrectedLog {
  using Limit = core::SlidingWindowLog::Limit;
  struct State {
    std::uint64_t charged;
  };

  static void refund(const Limit& /*limit*/, State& /*state*/, Cost /*cost*/, const core::Charged& /*made*/,
                     Instant /*now*/) noexcept {}
  static std::uint64_t owe(const Limit& /*limit*/, State& state, Cost cost, Instant /*now*/) noexcept {
    const std::uint64_t charged = std::min(state.charged, cost.units());
    state.charged -= charged;
    return cost.units() - charged;
  }
};

// One check and its state.
struct SharedCheck {
  Check& check;
  SharedState& state;
  Instant at;
  std::int64_t now;  // the same in microseconds

  [[nodiscard]] bool is_charged() const noexcept { return check.role == Check::Role::charge; }
  [[nodiscard]] bool reserves() const noexcept { return is_charged() && check.receipt != nullptr; }

  // Calls `work` with the rule and the state of its algorithm.
  template <class Work>
  decltype(auto) visit(const Work& work) const {
    return core::visit_rule(
        *check.rule, [&]<class A>(const core::RuleOf<A>& of) -> decltype(auto) { return work(of, state.of<A>()); });
  }

  void expire() const {
    if (!state.has_slices()) return;
    visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
      if constexpr (core::can_be_leased<A>) state.ledger.expire<A>(of.limit, numbers, now);
    });
  }

  void report(SliceExchange& exchange) const {
    exchange.answer = {.expired = state.ledger.expired_of(exchange.message.holder, now)};
    expire();
    visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
      if constexpr (core::can_be_leased<A>) {
        exchange.answer.taken = state.ledger.report<A>(of.limit, numbers, exchange.message, now);
      }
    });
  }

  void grant(SliceExchange& exchange) const {
    if (!exchange.answer.taken) return;
    const std::uint64_t expired = exchange.answer.expired;
    visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
      if constexpr (core::can_be_leased<A>) {
        exchange.answer = state.ledger.grant<A>(of.limit, numbers, exchange.message, now);
      }
    });
    exchange.answer.expired = expired;
  }

  [[nodiscard]] Decision peek(Cost cost) const {
    return visit([&]<class A>(const core::RuleOf<A>& of, const typename A::State& numbers) {
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        const core::ReceiptUse* const use = is_charged() ? check.receipt : nullptr;  // a guard holds nothing
        return state.receipts.hold(of.limit, cost, use, 0, check.wants_more_after, now);
      }
      if constexpr (core::can_be_leased<A>) {
        if (state.has_slices()) return state.ledger.peek<A>(of.limit, numbers, cost, now);
      }
      return core::peek_state<A>(of.limit, numbers, cost, check.max_wait, at);
    });
  }

  [[nodiscard]] Decision charge() const {
    return visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
      if constexpr (core::can_be_leased<A>) {
        if (state.has_slices()) return state.ledger.decide<A>(of.limit, numbers, check.cost, now);
      }
      return core::decide_state<A>(of.limit, numbers, check.cost, check.max_wait, at);
    });
  }

  // Charges as many units as fit, and returns their number.
  [[nodiscard]] std::uint64_t charge_back(std::uint64_t units) const {
    expire();
    return visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
      std::uint64_t charged = 0;
      bool is_leased = false;
      if constexpr (core::can_be_leased<A>) {
        is_leased = state.has_slices();
        if (is_leased) {
          charged = std::min(units, state.ledger.peek<A>(of.limit, numbers, Cost{0}, now).remaining);
          (void)state.ledger.decide<A>(of.limit, numbers, Cost{charged}, now);
        }
      }
      if (!is_leased) {
        charged = std::min(units, A::peek(of.limit, numbers, Cost{0}, at).remaining);
        (void)A::decide(of.limit, numbers, Cost{charged}, at);
      }
      if (charged < units) core::bring_within_reach<A>(of.limit, numbers, at);
      return charged;
    });
  }

  void set_more_after() const {
    if (!check.wants_more_after || core::is_concurrency(*check.rule)) return;
    check.decision.more_after = visit([&]<class A>(const core::RuleOf<A>& of, const typename A::State& numbers) {
      if constexpr (core::can_be_leased<A>) {
        if (state.has_slices()) return state.ledger.until_more<A>(of.limit, numbers, check.decision, now);
      }
      return core::until_more_after<A>(of.limit, numbers, check.decision, check.max_wait, at);
    });
  }

  // If another check of the group denies, the remaining units stay as they were.
  void leave_uncharged() const {
    if (check.cost > Cost{0}) {
      visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
        core::bring_within_reach<A>(of.limit, numbers, at);
      });
    }
    if (check.decision.admitted) {
      check.decision = peek(Cost{0});
    } else if (SliceExchange* const exchange = check.exchange()) {
      const core::Ledger& ledger = state.ledger;
      const auto own = std::ranges::find(ledger.slices, exchange->message.holder, &core::Slice::holder);
      const bool has_own = exchange->is_sent && own != ledger.slices.end();
      exchange->leased_to_others = ledger.totals.units - std::min(ledger.totals.units, has_own ? own->units : 0);
    }
  }

  void add_holdings() const {
    if (check.holdings == nullptr) return;
    Holdings& holdings = *check.holdings;
    const core::ReceiptUse any{.id = {1, 0}};  // a hold needs an id to report what remains
    const Decision untouched = visit([&]<class A>(const core::RuleOf<A>& of, const typename A::State& numbers) {
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        return state.receipts.hold(of.limit, Cost{0}, &any, 0, false, now);
      } else {
        return A::peek(of.limit, numbers, Cost{0}, at);
      }
    });
    holdings.used += untouched.limit - untouched.remaining;
    std::ranges::copy_if(state.receipts.open, std::back_inserter(holdings.open),
                         [&](const core::Receipt& receipt) { return receipt.ends > now; });
    add_slices();
  }
  // An expired slice is not listed, even if it has not been charged.
  void add_slices() const {
    if (check.holdings == nullptr) return;
    std::vector<core::Slice>& slices = check.holdings->slices;
    const auto known = static_cast<std::ptrdiff_t>(slices.size());
    std::ranges::copy_if(state.ledger.slices, std::back_inserter(slices),
                         [&](const core::Slice& slice) { return slice.until > now; });
    std::ranges::sort(slices.begin() + known, slices.end(), {}, &core::Slice::holder);
    check.holdings->at = at;
    check.holdings->known = true;
  }

  // Settles, extends or reports. Returns true if something was done; empty if the log cannot have been charged as much
  // as `log_charge` claims.
  [[nodiscard]] std::optional<bool> correct(const Group& group, const std::uint64_t* log_charge) const {
    core::ReceiptUse without_id;
    core::ReceiptUse& use = check.receipt == nullptr ? without_id : *check.receipt;
    const bool is_plain = group.operation == Operation::settle && check.receipt == nullptr;
    const bool is_possible = visit([&]<class A>(const core::RuleOf<A>& of, typename A::State& numbers) {
      const auto correct_state = [&]<class B>(typename B::State& its_numbers) {
        if (is_plain) {
          state.receipts.settle<B>(of.limit, its_numbers, *group.settlement, now);
        } else if (group.operation == Operation::settle) {
          state.receipts.settle<B>(of.limit, its_numbers, use, now);
        } else if (group.operation == Operation::extend) {
          state.receipts.extend(use, now);
        } else {
          state.receipts.report<B>(of.limit, its_numbers, check.cost, use, now);
        }
      };
      if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
        if (log_charge != nullptr) {
          CorrectedLog::State log{*log_charge};
          correct_state.template operator()<CorrectedLog>(log);
          return log.charged == 0;
        }
      }
      const bool was_over = A::forget_at(of.limit, numbers) <= at;
      correct_state.template operator()<A>(numbers);
      // A fully refunded window may be in the future if the clock has stepped back since. It is not kept.
      if (!was_over && A::forget_at(of.limit, numbers) <= at) numbers = {};
      return true;
    });
    if (!is_possible) return {};
    if (group.operation == Operation::report) return core::is_charged(use.result);
    return is_plain || use.result == core::ReceiptResult::done;
  }
};

}  // namespace

struct SharedDecider::Input {
  Group& group;
  std::span<SharedState* const> states;
  Instant now;

  [[nodiscard]] std::size_t size() const noexcept { return states.size(); }
  [[nodiscard]] SharedCheck operator[](std::size_t i) const noexcept {
    return {group.checks[i], *states[i], now, core::micros(now)};
  }
  template <class Work>
  void for_each(const Work& work) const {
    for (std::size_t i = 0; i < size(); ++i) work((*this)[i]);
  }

  // True if a check must see the changes of earlier ones.
  [[nodiscard]] bool needs_steps() const noexcept {
    for (std::size_t i = 0; i < size(); ++i) {
      if (group.checks[i].receipt != nullptr) return true;
      if (std::find(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(i), states[i]) !=
          states.begin() + static_cast<std::ptrdiff_t>(i)) {
        return true;
      }
    }
    return false;
  }

  std::uint64_t decide_at_once() const;
  std::uint64_t correct(std::span<const std::uint64_t> log_charges) const;
  std::uint64_t forget() const;
};

std::uint64_t SharedDecider::decide(Group& group, std::span<SharedState* const> states, Instant now,
                                    std::span<const std::uint64_t> log_charges) {
  const Input input{group, states, now};
  group.admitted = true;
  switch (group.operation) {
    case Operation::decide:
      return decide_with_messages(input);
    case Operation::look:
      return decide_in_steps(input);
    case Operation::settle:
    case Operation::extend:
    case Operation::report:
      return input.correct(log_charges);
    case Operation::forget:
      break;
  }
  return input.forget();
}

std::uint64_t SharedDecider::decide_with_messages(const Input& input) {
  input.for_each([](const SharedCheck& one) {
    if (SliceExchange* const exchange = one.check.message()) one.report(*exchange);
  });
  input.for_each([](const SharedCheck& one) {
    const std::uint64_t units = one.check.charge_back();
    if (units > 0) one.check.extension->not_charged_back = units - one.charge_back(units);
  });
  const std::uint64_t number = input.needs_steps() ? decide_in_steps(input) : input.decide_at_once();
  input.for_each([](const SharedCheck& one) {
    if (SliceExchange* const exchange = one.check.message()) one.grant(*exchange);
  });
  return number;
}

// The common group: each check has its own state, and none has a receipt, so nothing must be undone.
std::uint64_t SharedDecider::Input::decide_at_once() const {
  for_each([&](const SharedCheck& one) {
    one.expire();
    one.check.decision = one.peek(one.check.cost);
    group.admitted = group.admitted && one.check.decision.admitted;
  });
  for_each([&](const SharedCheck& one) {
    if (!group.admitted) {
      one.leave_uncharged();
    } else if (one.is_charged()) {
      one.check.decision = one.charge();
    }
    one.set_more_after();
  });
  return group.admitted ? 1 : 0;
}

std::uint64_t SharedDecider::decide_in_steps(const Input& input) {
  const bool is_look = input.group.operation == Operation::look;
  input.for_each([&](const SharedCheck& one) {
    one.expire();
    if (!is_look && one.reserves() && one.check.receipt->id) one.state.receipts.drop_ended(one.now);
  });
  saved_.clear();
  for (const SharedState* const state : input.states) saved_.push_back(state->copy_of_numbers());
  steps_.assign(input.size(), {});
  for (std::size_t i = 0; i < input.size(); ++i) take_step(input, i);

  if (input.group.admitted && !is_look) return 1 + open_receipts(input);
  for (std::size_t i = 0; i < input.size(); ++i) input.states[i]->numbers = std::move(saved_[i]);
  input.for_each([&](const SharedCheck& one) { is_look ? one.add_holdings() : one.leave_uncharged(); });
  if (!is_look) input.for_each([](const SharedCheck& one) { one.set_more_after(); });
  return input.group.admitted ? 1 : 0;
}

void SharedDecider::take_step(const Input& input, std::size_t i) {
  const SharedCheck one = input[i];
  Check& check = one.check;
  Step& step = steps_[i];
  if (check.receipt != nullptr) check.receipt->result = core::ReceiptResult::none;
  step.was_open = one.reserves() && one.state.receipts.is_open(check.receipt->id, one.now);
  if (one.reserves() && core::is_concurrency(*check.rule)) {
    check.decision = hold(input, i, step.was_open ? Cost{0} : check.cost);
  } else if (one.is_charged() && !step.was_open) {
    check.decision = one.charge();
  } else {
    check.decision = one.peek(step.was_open ? Cost{0} : check.cost);
  }
  if (step.was_open) core::admit_again(check.decision);
  if (one.reserves()) {
    step.charged = one.visit([&]<class A>(const core::RuleOf<A>& of, const typename A::State& numbers) {
      return core::charge_position<A>(of.limit, numbers, check.decision);
    });
  }
  input.group.admitted = input.group.admitted && check.decision.admitted;
  one.set_more_after();
}

// Units that earlier checks of the group take from the same state are unavailable.
Decision SharedDecider::hold(const Input& input, std::size_t i, Cost cost) {
  const SharedCheck one = input[i];
  std::uint64_t pending = 0;
  for (std::size_t j = 0; j < i; ++j) pending += input.states[j] == input.states[i] ? steps_[j].holds : 0;
  steps_[i].holds = cost.units();
  const auto& limit = std::get<core::RuleOf<core::Concurrency>>(*one.check.rule).limit;
  return one.state.receipts.hold(limit, cost, one.check.receipt, pending, one.check.wants_more_after, one.now);
}

std::uint64_t SharedDecider::open_receipts(const Input& input) {
  std::uint64_t opened = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const SharedCheck one = input[i];
    if (!one.reserves()) continue;
    core::Receipts& receipts = one.state.receipts;
    const std::size_t before = receipts.open.size();
    receipts.reserve(steps_[i].charged, one.check.cost, steps_[i].was_open, *one.check.receipt, one.now);
    opened += receipts.open.size() - before;
  }
  return opened;
}

std::uint64_t SharedDecider::Input::correct(std::span<const std::uint64_t> log_charges) const {
  std::uint64_t done = 0;
  bool is_possible = true;
  for (std::size_t i = 0; i < size(); ++i) {
    const SharedCheck one = (*this)[i];
    one.expire();
    const auto is_done = one.correct(group, log_charges.empty() ? nullptr : &log_charges[i]);
    is_possible = is_possible && is_done.has_value();
    if (is_done.value_or(false)) ++done;
    one.check.decision = one.peek(Cost{0});
    one.set_more_after();
  }
  return is_possible ? done : impossible;
}

std::uint64_t SharedDecider::Input::forget() const {
  for_each([](const SharedCheck& one) {
    one.add_slices();
    one.state = {};
    one.check.decision = one.check.rule == nullptr ? Decision{} : one.peek(Cost{0});
  });
  return 1;
}

bool is_admitted_without_slices(const Check& check, const SharedState& state, Instant now) {
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    return core::peek_state<A>(of.limit, state.of<A>(), check.cost, check.max_wait, now).admitted;
  });
}

}  // namespace weir::store
