#include "store/redis/replay.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/decide_state.h"
#include "core/until_more.h"
#include "store/redis/state_text.h"

namespace weir::store::redis {
namespace {

using core::decide_state;
using core::peek_state;

core::LogRing::Handle copy_of(const core::LogRing::Handle& ring) noexcept {
  return ring ? ring->copy(ring->capacity()) : core::LogRing::Handle{};
}

}  // namespace

bool LogExcerpt::is_sound() const noexcept {
  constexpr std::int64_t most_used = std::int64_t{1} << 32;
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (used <= 0 || used >= most_used || newest < 0 || newest >= exact) return false;
  Point before{0, 0};
  for (const Point& point : points) {
    if (point.cost <= before.cost || point.time < before.time) return false;
    before = point;
  }
  return before.cost < used ? before.time <= newest : before.cost == used && before.time == newest;
}

void Replay::begin(Instant now, std::size_t keys) {
  now_ = now;
  states_.clear();
  states_.resize(keys);
}

bool Replay::place_text(std::size_t key, const core::Rule& rule, std::string_view text) noexcept {
  return core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
      return false;
    } else {
      return read_state(text, of.limit, now_, std::get<typename A::State>(states_[key]));
    }
  });
}

// Every question that will be put to it is about one of the points, or about the newest entry. So the entries between
// two points may be one, and so may all that come behind the last. There is room for one more: all charges of a batch
// are of one instant.
void Replay::place_log(std::size_t key, const LogExcerpt& log) {
  auto ring = core::LogRing::create(static_cast<std::uint32_t>(log.points.size()) + 2);
  if (!ring) return;  // as if never used: the script is found to have decided otherwise
  std::int64_t before = 0;
  for (const LogExcerpt::Point& point : log.points) {
    ring->append(point.time, static_cast<std::uint32_t>(point.cost - before));
    before = point.cost;
  }
  if (before < log.used) ring->append(log.newest, static_cast<std::uint32_t>(log.used - before));
  std::get<core::SlidingWindowLog::State>(states_[key]).ring = std::move(ring);
}

Decision Replay::peek(const SharedCheck& check, std::uint32_t key, Cost cost) noexcept {
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    return peek_state<A>(of.limit, state<A>(key), cost, check.max_wait, now_);
  });
}

Decision Replay::charge(const SharedCheck& check, std::uint32_t key) noexcept {
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    return decide_state<A>(of.limit, state<A>(key), check.cost, check.max_wait, now_);
  });
}

void Replay::tell_when_more(const SharedCheck& check, std::uint32_t key, SharedAnswer& answer) noexcept {
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    const auto peek = [&](Cost cost) { return A::peek(of.limit, state<A>(key), cost, now_); };
    answer.more_after = core::until_more<A>(of.limit, answer.decision, check.max_wait, peek);
  });
}

void Replay::tell_when_more(SharedAsk& ask, std::span<const std::uint32_t> keys) noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) tell_when_more(ask.checks[i], keys[i], ask.answers[i]);
}

void Replay::bring_within_reach(const SharedCheck& check, std::uint32_t key) noexcept {
  if (check.cost.units() == 0) return;
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    core::bring_within_reach<A>(of.limit, state<A>(key), now_);
  });
}

// Where one denies, none is charged: what is left in the others is what was.
void Replay::leave_uncharged(SharedAsk& ask, std::span<const std::uint32_t> keys) noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    bring_within_reach(ask.checks[i], keys[i]);
    Decision& decision = ask.answers[i].decision;
    if (decision.admitted) decision = peek(ask.checks[i], keys[i], Cost{0});
  }
}

void Replay::decide(SharedAsk& ask, std::span<const std::uint32_t> keys) {
  ask.answers.resize(keys.size());
  ask.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ask.answers[i].decision = peek(ask.checks[i], keys[i], ask.checks[i].cost);
    ask.admitted = ask.admitted && ask.answers[i].decision.admitted;
  }
  if (ask.admitted) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (ask.checks[i].role == SharedCheck::Role::charged) ask.answers[i].decision = charge(ask.checks[i], keys[i]);
    }
  } else {
    leave_uncharged(ask, keys);
  }
  tell_when_more(ask, keys);
}

void Replay::decide_in_steps(SharedAsk& ask, std::span<const std::uint32_t> keys) {
  saved_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto& [arrival, fixed, counter, log] = states_[keys[i]];
    saved_[i] = States(arrival, fixed, counter, core::SlidingWindowLog::State{copy_of(log.ring)});
  }
  ask.answers.resize(keys.size());
  ask.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const SharedCheck& check = ask.checks[i];
    const bool is_guard = check.role == SharedCheck::Role::guard;
    ask.answers[i].decision = is_guard ? peek(check, keys[i], check.cost) : charge(check, keys[i]);
    ask.admitted = ask.admitted && ask.answers[i].decision.admitted;
    tell_when_more(check, keys[i], ask.answers[i]);
  }
  const bool is_look = ask.operation == SharedOperation::look;
  if (ask.admitted && !is_look) return;
  for (std::size_t i = 0; i < keys.size(); ++i) states_[keys[i]] = std::move(saved_[i]);
  if (is_look) return;
  leave_uncharged(ask, keys);
  tell_when_more(ask, keys);
}

void Replay::settle(SharedAsk& ask, std::uint32_t key) {
  const SharedCheck& check = ask.checks[0];
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (!std::is_same_v<A, core::SlidingWindowLog>) {
      core::settle<A>(of.limit, state<A>(key), *ask.settlement, now_);
      if (A::forget_at(of.limit, state<A>(key)) <= now_) state<A>(key) = {};
    }
  });
  ask.answers.resize(1);
  ask.answers[0].decision = peek(check, key, Cost{0});
  ask.admitted = true;
  tell_when_more(check, key, ask.answers[0]);
}

void Replay::forget(SharedAsk& ask, std::span<const std::uint32_t> keys) {
  ask.answers.resize(keys.size());
  ask.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    states_[keys[i]] = States{};
    ask.answers[i] = {};
    if (ask.checks[i].rule != nullptr) ask.answers[i].decision = peek(ask.checks[i], keys[i], Cost{0});
  }
}

std::uint64_t Replay::charge_back(const SharedCheck& check, std::uint32_t key) noexcept {
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    const std::uint64_t left = A::peek(of.limit, state<A>(key), Cost{0}, now_).remaining;
    const std::uint64_t units = std::min(check.charge_back, left);
    (void)A::decide(of.limit, state<A>(key), Cost{units}, now_);
    if (units < check.charge_back) core::bring_within_reach<A>(of.limit, state<A>(key), now_);
    return units;
  });
}

}  // namespace weir::store::redis
