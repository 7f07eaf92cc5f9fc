#include "engine/shared_judgement.h"

#include <algorithm>
#include <optional>

#include "engine/outage.h"
#include "engine/owed.h"
#include "table/together.h"

namespace weir::engine {
namespace {

using store::SharedAsk;
using store::SharedCheck;
using store::SharedOperation;
using store::StoreFailure;

void take(Outcome& outcome, const store::SharedAnswer& answer) noexcept {
  outcome.decision = answer.decision;
  outcome.is_shared = true;
  outcome.more_after = answer.more_after;
}

// Until its block ends a consumer has nothing left. Then more is left, if the limit has something now; if not, when it
// has. Before the decision is made that of a block.
void wait_for_block(Outcome& outcome, const std::optional<Duration>& block_wait) noexcept {
  const Duration wait = block_wait.value_or(Duration::zero());
  const Duration own = outcome.more_after.value_or(Duration::zero());
  outcome.more_after = outcome.decision.remaining > 0 ? wait : std::max(own, wait);
}

}  // namespace

void SharedJudgement::begin(const Plan& plan, bool peek) {
  plan_ = &plan;
  peek_ = peek;
  stage_ = Stage::live;
  over_ = too_many_ = blocked_ = false;
  verdict_ = {};
  verdict_.at = room_.clock.now();
  start();
  gather();
  if (!too_many_ && !live_.empty()) ask_live();
  go_on();
}

bool SharedJudgement::step() {
  switch (stage_) {
    case Stage::live:
      read_live();
      break;
    case Stage::warning:
      read_warning();
      break;
    case Stage::penalties:
      read_penalties();
      break;
    case Stage::blocks:
      read_blocks();
      break;
    case Stage::followers:
      read_followers();
      break;
  }
  return !over_;
}

void SharedJudgement::gather() {
  live_.clear();
  outcomes_.resize(coverage.covered.size());
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    begin_outcome(*plan_, coverage.covered[i], outcomes_[i]);
    if (outcomes_[i].standing != Standing::live || coverage.covered[i].live == nullptr) continue;
    too_many_ = live_.size() == table::most_together;
    if (!too_many_) live_.push_back(static_cast<std::uint32_t>(i));
  }
}

// The checks of the live limits, and behind them their blocks.
void SharedJudgement::ask_live() {
  SharedAsk& ask = new_ask(operation(!coverage.denied_outright));
  for (std::size_t c = 0; c < live_.size(); ++c) {
    SharedCheck& check = add_live(ask, c);
    if (room_.owes.load(std::memory_order_relaxed) && ask.operation == SharedOperation::decide)
      check.charge_back = take_owed(live_[c]);
  }
  subjects_.clear();
  for (const std::uint32_t i : live_) {
    const auto& block = limit_of(i).block;
    if (!block) continue;
    add_once(ask, i, *block).role = SharedCheck::Role::guard;
    subjects_.push_back(i);
  }
}

SharedCheck& SharedJudgement::add_live(SharedAsk& ask, std::size_t c) {
  const std::size_t i = live_[c];
  const Covered& covered = coverage.covered[i];
  SharedCheck& check = add_check(ask, *plan_, *covered.live, coverage.consumer_text(i));
  check.cost = covered.ask.cost;
  check.max_wait = covered.ask.max_wait;
  return check;
}

// The consumer where occasions are counted, not costs.
SharedCheck& SharedJudgement::add_once(SharedAsk& ask, std::size_t i, const TableRule& rule) {
  return add_check(ask, *plan_, rule, coverage.consumer_text(i));
}

// What this process admitted to the consumer while the store was away.
std::uint64_t SharedJudgement::take_owed(std::size_t i) noexcept {
  const TableRule* local = rule_of(limit_of(i).local, coverage.caller.tier);
  if (local == nullptr) return 0;
  return engine::take_owed({*local->table, local->rule, coverage.covered[i].ask.key}, room_.clock.now());
}

void SharedJudgement::read_live() {
  if (too_many_ || live_.empty()) return conclude_live();
  const SharedAsk& answer = ask(0);
  if (answer.failure != StoreFailure::none) return judge_locally(answer);
  verdict_.at = answer.now;
  for (std::size_t c = 0; c < live_.size(); ++c) {
    take(outcomes_[live_[c]], answer.answers[c]);
    if (!peek_) room_.paths.raise(StorePath::shared);
  }
  for (std::size_t b = 0; b < subjects_.size(); ++b) {
    const store::SharedAnswer& block = answer.answers[live_.size() + b];
    if (block.decision.admitted) continue;
    blocked_ = true;
    Outcome& outcome = outcomes_[subjects_[b]];
    wait_for_block(outcome, block.decision.retry_after);
    deny_for_block(outcome.decision, block.decision.retry_after);
  }
  conclude_live();
}

void SharedJudgement::judge_locally(const SharedAsk& failed) {
  const Instant now = room_.clock.now();
  verdict_ = judge_without_store(*plan_, coverage, peek_, now, outcomes_, room_.judgement, room_.paths);
  verdict_.at = now;
  over_ = true;
  if (left_the_store_unchanged(failed.failure) && !peek_) owe(failed, now);
}

// What was owed before, and what judge_without_store has charged to this process's share.
void SharedJudgement::owe(const SharedAsk& failed, Instant now) noexcept {
  for (std::size_t c = 0; c < live_.size(); ++c) {
    const std::size_t i = live_[c];
    const TableRule* local = coverage.covered[i].live;
    if (local == nullptr) continue;
    const bool is_charged = verdict_.admitted && outcomes_[i].decision.admitted;
    const std::uint64_t cost = is_charged ? coverage.covered[i].ask.cost.units() : 0;
    if (is_charged) room_.owes.store(true, std::memory_order_relaxed);
    engine::owe({*local->table, local->rule, coverage.covered[i].ask.key}, failed.checks[c].charge_back + cost, now);
  }
}

void SharedJudgement::conclude_live() {
  deniers_ = deniers_of(live_outcomes());
  const bool denied_outright{coverage.denied_outright};
  if (deniers_.count == 0 && !denied_outright && !too_many_) {
    reason_ = live_.empty() ? Reason::uncovered : Reason::within;
    return conclude(true);
  }
  reason_ = too_many_         ? Reason::too_many_limits
            : denied_outright ? coverage.denied_outright.reason
            : blocked_        ? Reason::blocked
                              : Reason::exceeded;
  if (reason_ != Reason::exceeded) return conclude(false);
  if (deniers_.count == 1 && limit_of(live_[deniers_.last]).warnings) return ask_warning();
  ask_penalties();
}

// The one limit that denies may let the first few pass. The others are charged, all or nothing with the warning; the
// limit itself is not.
void SharedJudgement::ask_warning() {
  stage_ = Stage::warning;
  clear_asks();
  SharedAsk& ask = new_ask(operation(true));
  for (std::size_t c = 0; c < live_.size(); ++c) {
    const std::size_t i = live_[c];
    if (c == deniers_.last) {
      add_once(ask, i, *limit_of(i).warnings);
    } else {
      add_live(ask, c);
    }
  }
}

void SharedJudgement::read_warning() {
  const SharedAsk& answer = ask(0);
  if (answer.failure != StoreFailure::none || !answer.admitted) return ask_penalties();
  for (std::size_t c = 0; c < live_.size(); ++c) {
    if (c != deniers_.last) take(outcomes_[live_[c]], answer.answers[c]);
  }
  reason_ = Reason::warned;
  conclude(true);
}

void SharedJudgement::ask_penalties() {
  stage_ = Stage::penalties;
  clear_asks();
  subjects_.clear();
  for (const std::uint32_t i : live_) {
    if (peek_ || outcomes_[i].decision.admitted || !limit_of(i).denials) continue;
    add_once(new_ask(SharedOperation::decide), i, *limit_of(i).denials);
    subjects_.push_back(i);
  }
}

// The denial that fills the count starts the block, and the count begins anew after it.
void SharedJudgement::read_penalties() {
  const std::size_t counted = subjects_.size();
  std::vector<std::uint32_t> full;
  for (std::size_t a = 0; a < counted; ++a) {
    const SharedAsk& answer = ask(a);
    if (answer.failure == StoreFailure::none && answer.answers[0].decision.remaining == 0) full.push_back(subjects_[a]);
  }
  stage_ = Stage::blocks;
  clear_asks();
  subjects_ = std::move(full);
  for (const std::uint32_t i : subjects_) add_once(new_ask(SharedOperation::decide), i, *limit_of(i).block);
  for (const std::uint32_t i : subjects_) add_once(new_ask(SharedOperation::forget), i, *limit_of(i).denials);
}

void SharedJudgement::read_blocks() {
  for (std::size_t a = 0; a < subjects_.size(); ++a) {
    const SharedAsk& answer = ask(a);
    if (answer.failure != StoreFailure::none) continue;
    const Decision& block = answer.answers[0].decision;
    const std::optional<Duration> wait = block.admitted ? block.reset_after : block.retry_after;
    wait_for_block(outcomes_[subjects_[a]], wait);
    begin_block(outcomes_[subjects_[a]].decision, wait);
  }
  conclude(false);
}

void SharedJudgement::conclude(bool admits) {
  const Instant at = verdict_.at;
  verdict_ = admits ? admitted_verdict(live_outcomes(), reason_, deniers_.last)
                    : denied_verdict(live_outcomes(), reason_, coverage.denied_outright.limit);
  verdict_.at = at;
  ask_followers(admits);
}

// A shadow limit is charged iff it and the live verdict admit; a candidate iff it and every other live limit admit,
// whatever its own live limit says.
void SharedJudgement::ask_followers(bool admits) {
  stage_ = Stage::followers;
  clear_asks();
  subjects_.clear();
  const auto follow = [&](std::size_t i, const TableRule& rule, bool charges) {
    SharedCheck& check = add_once(new_ask(operation(charges)), i, rule);
    check.cost = coverage.covered[i].ask.cost;
    check.max_wait = coverage.covered[i].ask.max_wait;
    subjects_.push_back(static_cast<std::uint32_t>(i));
  };
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const Covered& covered = coverage.covered[i];
    if (outcomes_[i].standing == Standing::shadow && covered.live != nullptr) follow(i, *covered.live, admits);
  }
  shadows_ = subjects_.size();
  if (too_many_ || coverage.denied_outright) return;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const Covered& covered = coverage.covered[i];
    if (covered.candidate == nullptr) continue;
    const bool is_live = outcomes_[i].standing == Standing::live && covered.live != nullptr;
    const bool own_denies = is_live && !outcomes_[i].decision.admitted;
    if (deniers_.count == (own_denies ? 1U : 0U)) follow(i, *covered.candidate, true);
  }
}

void SharedJudgement::read_followers() {
  for (std::size_t a = 0; a < subjects_.size(); ++a) {
    const SharedAsk& answer = ask(a);
    if (answer.failure != StoreFailure::none) continue;
    Outcome& outcome = outcomes_[subjects_[a]];
    if (a < shadows_) {
      take(outcome, answer.answers[0]);
    } else {
      outcome.candidate = answer.answers[0].decision;
    }
  }
  over_ = true;
}

}  // namespace weir::engine
