// What follows a verdict: shadow limits and candidates, descriptors that are charged whatever was decided, and what is
// given back.
#include <algorithm>
#include <utility>

#include "engine/evaluation.h"

namespace weir::engine {
namespace {

using store::Fallback;
using store::Group;
using store::Operation;
using store::States;

}  // namespace

// A descriptor that does not fit counts all the same if its hits are more than one: they tell of what was used already.
// One that fits is not charged by a call that is denied, unless its domain says so.
bool Evaluation::is_charged_unasked(std::size_t i, bool admits) const noexcept {
  const Part& part = parts_[i];
  if (!is_descriptors_ || options_.peek || is_report() || too_many_) return false;
  if (part.states == nullptr || part.gives_back || is_shadow(i) || part.was_open || part.was_closed) return false;
  if (charges_denied_ && !admits) return outcomes_[i].cost > Cost{0};
  return !outcomes_[i].decision.admitted && outcomes_[i].cost > Cost{1};
}

// A shadow limit is charged iff it and the live verdict admit; a candidate iff it and every other live limit admit,
// whatever its own live limit says. Where the request fails elsewhere a candidate neither agrees nor differs.
void Evaluation::ask_followers(bool admits) {
  followers_.clear();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (parts_[i].gives_back && parts_[i].candidate != nullptr) {
      follow(i, FollowerKind::candidate_give_back, Operation::look);
    }
    if (parts_[i].states == nullptr) continue;
    if (parts_[i].gives_back) {
      follow(i, FollowerKind::give_back, Operation::look);
    } else if (is_shadow(i) && !is_left_out(i)) {
      follow(i, FollowerKind::shadow, operation(admits));
    } else if (is_charged_unasked(i, admits)) {
      follow(i, FollowerKind::charge, Operation::report);
    }
  }
  if (is_descriptors_ || too_many_ || is_denied_outright() || by_share_ || is_give_back()) return;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (parts_[i].candidate == nullptr) continue;
    const bool own_denies = !is_shadow(i) && parts_[i].states != nullptr && !outcomes_[i].decision.admitted;
    if (deniers_.count == (own_denies ? 1U : 0U)) follow(i, FollowerKind::candidate, operation(true));
  }
}

void Evaluation::follow(std::size_t i, FollowerKind kind, Operation operation) {
  const bool is_candidate = kind == FollowerKind::candidate || kind == FollowerKind::candidate_give_back;
  const bool gives_back = kind == FollowerKind::give_back || kind == FollowerKind::candidate_give_back;
  // Descriptors are decided here if the store fails now, and so is a request that has asked it for nothing yet.
  const bool or_share = !is_candidate && (is_descriptors_ || live_.empty());
  const Fallback fallback = is_candidate ? Fallback::none : later(or_share ? Fallback::share : Fallback::none);
  Group& group = new_group(operation, fallback);
  const States& states = is_candidate ? *parts_[i].candidate : *parts_[i].states;
  const core::Rule& rule = is_candidate ? states.rule : *parts_[i].rule;
  add_check(group, i, states, rule, gives_back ? Cost{0} : outcomes_[i].cost);
  followers_.push_back({static_cast<std::uint32_t>(i), kind});
}

void Evaluation::read_followers() {
  stage_ = Stage::corrections;
  corrections_.clear();
  const std::size_t asked = std::exchange(used_, 0);
  for (std::size_t g = 0; g < asked; ++g) {
    const auto [i, kind] = followers_[g];
    if (!groups_[g].decided) continue;
    const Decision& decision = groups_[g].checks[0].decision;
    switch (kind) {
      case FollowerKind::candidate:
        outcomes_[i].candidate = decision;
        break;
      case FollowerKind::shadow:
        outcomes_[i].decision = decision;
        charge_shadow(i, groups_[g]);
        break;
      case FollowerKind::give_back:
        outcomes_[i].decision = decision;
        give_back(i, kind, groups_[g]);
        break;
      case FollowerKind::candidate_give_back:
        give_back(i, kind, groups_[g]);
        break;
      case FollowerKind::charge:
        read_charge(i, groups_[g]);
        break;
    }
  }
}

// What is left now. Whether it fitted has been said.
void Evaluation::read_charge(std::size_t i, const Group& group) {
  const Decision& after = group.checks[0].decision;
  Decision& decision = outcomes_[i].decision;
  decision.remaining = after.remaining;
  decision.reset_after = after.reset_after;
}

// Groups that were read are used again: the g-th correction takes a place no later than what it belongs to.

// A shadow descriptor that does not fit counts as one that is live.
void Evaluation::charge_shadow(std::size_t i, const Group& asked) {
  const bool is_charged = is_descriptors_ && !options_.peek && !is_report() && asked.operation == Operation::decide &&
                          !outcomes_[i].decision.admitted && outcomes_[i].cost > Cost{1};
  if (!is_charged) return;
  const store::Failure failure = asked.failure;
  const bool by_share = failure != store::Failure::none;
  Group& group = new_group(Operation::report, by_share ? Fallback::at_once : Fallback::none);
  group.failure = failure;
  add_check(group, i, *parts_[i].states, *parts_[i].rule, outcomes_[i].cost);
  corrections_.push_back({static_cast<std::uint32_t>(i), Cost{0}});
}

// As much as the state says was used, at most the hits; and says what is left then. Where nothing is left, more may
// have been used than the limit: the core gives back no more than that.
void Evaluation::give_back(std::size_t i, FollowerKind kind, const Group& looked) {
  const bool is_candidate = kind == FollowerKind::candidate_give_back;
  Decision of_candidate = looked.checks[0].decision;
  Decision& decision = is_candidate ? of_candidate : outcomes_[i].decision;
  const std::uint64_t used = decision.limit - decision.remaining;
  const Cost given{decision.remaining == 0 ? outcomes_[i].cost.units() : std::min(outcomes_[i].cost.units(), used)};
  const core::Charged charged = core::charged_by(decision);  // the newest
  decision.remaining += std::min(given.units(), used);
  if (decision.remaining == decision.limit) decision.reset_after = Duration::zero();
  core::admit_again(decision);
  if (given == Cost{0}) return;
  const store::Failure failure = looked.failure;
  const bool by_share = failure != store::Failure::none;
  Group& group = new_group(Operation::settle, by_share ? Fallback::at_once : Fallback::none);
  group.failure = failure;
  const States& states = is_candidate ? *parts_[i].candidate : *parts_[i].states;
  const core::Rule& rule = is_candidate ? states.rule : *parts_[i].rule;
  add_check(group, i, states, rule, Cost{1}).receipt = nullptr;
  group.settlement = core::Settlement{given, Cost{0}, charged};
  corrections_.push_back({static_cast<std::uint32_t>(i), is_candidate ? Cost{0} : given});
}

// The store says what is left: it takes back what it has charged, and not what others hold. What a refund that failed
// leaves is charged, as it was.
void Evaluation::read_corrections() {
  over_ = true;
  for (std::size_t g = 0; g < used_; ++g) {
    const Group& group = groups_[g];
    const auto [i, given] = corrections_[g];
    Decision& decision = outcomes_[i].decision;
    if (group.operation == Operation::report) {
      if (group.decided) read_charge(i, group);
    } else if (given == Cost{0}) {
      continue;  // a candidate's
    } else if (!group.decided) {
      decision.remaining -= std::min(decision.remaining, given.units());
    } else if (!core::is_concurrency(*group.checks[0].rule)) {
      decision.remaining = group.checks[0].decision.remaining;
    }
  }
}

// Of a query whose cost was given back, the limit with the least left is told, as of one that was admitted.
void Evaluation::tell_given_back() {
  live_.clear();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (parts_[i].states != nullptr && !is_shadow(i)) live_.push_back(static_cast<std::uint32_t>(i));
  }
  if (live_.empty() || is_denied_outright()) return;
  const Instant at = verdict_.at;
  verdict_ = admitted_verdict(live_outcomes(), Reason::within, 0);
  verdict_.at = at;
}

}  // namespace weir::engine
