#include "engine/judgement.h"

#include <tuple>

namespace weir::engine {

void begin_outcome(const Plan& plan, const Covered& covered, Outcome& outcome) noexcept {
  const bool is_shadow = plan.limits()[covered.limit].source->mode == policy::Mode::shadow;
  outcome.limit = covered.limit;
  outcome.route = covered.route;
  outcome.standing = is_shadow ? Standing::shadow : Standing::live;
  outcome.consumer = covered.ask.key;
  outcome.cost = covered.ask.cost;
  outcome.max_wait = covered.ask.max_wait;
  outcome.decision = Decision{};
  outcome.decision.admitted = true;
  outcome.candidate.reset();
  outcome.only_looked = false;
  outcome.is_local_share = false;
  outcome.is_shared = false;
}

Verdict Judgement::pass() noexcept {
  gather();
  if (!too_many_) {
    find_blocks();
    judge_live();
  }
  deniers_ = deniers_of(live_outcomes());
  const bool denied_outright{coverage_.denied_outright};
  bool admits = deniers_.count == 0 && !denied_outright && !too_many_;
  reason_ = live_ == 0 ? Reason::uncovered : Reason::within;
  if (!admits) {
    reason_ = too_many_         ? Reason::too_many_limits
              : denied_outright ? coverage_.denied_outright.reason
              : blocked_        ? Reason::blocked
                                : Reason::exceeded;
    admits = reason_ == Reason::exceeded && admit_with_warning();
    if (admits) reason_ = Reason::warned;
    if (reason_ == Reason::exceeded && !peek_) count_toward_penalties();
  }
  const Verdict verdict = admits ? admitted_verdict(live_outcomes(), reason_, deniers_.last)
                                 : denied_verdict(live_outcomes(), reason_, coverage_.denied_outright.limit);
  judge_shadows(admits);
  judge_candidates();
  return verdict;
}

bool Judgement::is_live(std::size_t i) const noexcept {
  return outcomes_[i].standing == Standing::live && coverage_.covered[i].live != nullptr;
}

// The consumer in a table that counts occasions, not costs.
table::Ask Judgement::ask_once(std::size_t i) const noexcept {
  return {coverage_.covered[i].ask.key, Cost{1}, Duration::max()};
}

void Judgement::gather() noexcept {
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const Covered& covered = coverage_.covered[i];
    begin_outcome(plan_, covered, outcomes_[i]);
    outcomes_[i].only_looked = peek_;
    if (!is_live(i)) continue;
    too_many_ = live_ == table::most_together;
    if (too_many_) continue;
    checks_[live_] = {covered.live->table, &covered.live->rule, covered.ask};
    of_check_[live_++] = static_cast<std::uint32_t>(i);
  }
}

void Judgement::find_blocks() noexcept {
  for (std::size_t c = 0; c < live_; ++c) {
    const std::size_t i = of_check_[c];
    const auto& block = limit_of(i).block;
    if (!block) continue;
    const Decision decision = block->table->peek(block->rule, ask_once(i), now_);
    if (decision.admitted) continue;
    blocked_ = true;
    outcomes_[i].decision = decision;
  }
}

// A query that is denied outright only looks: its limits say when it could pass.
void Judgement::judge_live() noexcept {
  const bool only_look = peek_ || blocked_ || coverage_.denied_outright;
  if (only_look) {
    for (std::size_t c = 0; c < live_; ++c) {
      table::Ask ask = checks_[c].ask;
      decisions_[c] = checks_[c].table->peek(*checks_[c].rule, ask, now_);
      if (peek_ || !blocked_ || !decisions_[c].admitted) continue;
      ask.cost = Cost{0};  // the block denies it: what is left uncharged is told
      decisions_[c] = checks_[c].table->peek(*checks_[c].rule, ask, now_);
    }
  } else if (live_ > 0) {
    std::ignore = table::decide_together(checks_.first(live_), now_, decisions_.first(live_));
  }
  for (std::size_t c = 0; c < live_; ++c) {
    Decision& decision = outcomes_[of_check_[c]].decision;
    const bool is_blocked = !decision.admitted;
    const auto block_wait = decision.retry_after;
    decision = decisions_[c];
    if (is_blocked) deny_for_block(decision, block_wait);
  }
}

// The one limit that denies may let the first few pass. The others are charged, all or nothing with the warning;
// the limit itself is not.
bool Judgement::admit_with_warning() noexcept {
  const std::size_t denier = of_check_[deniers_.last];
  const auto& warnings = limit_of(denier).warnings;
  if (deniers_.count != 1 || !warnings) return false;
  table::Check& place = checks_[deniers_.last];
  place = {warnings->table, &warnings->rule, ask_once(denier)};
  if (peek_) return place.table->peek(*place.rule, place.ask, now_).admitted;
  if (!table::decide_together(checks_.first(live_), now_, decisions_.first(live_))) return false;
  for (std::size_t c = 0; c < live_; ++c) {
    if (c != deniers_.last) outcomes_[of_check_[c]].decision = decisions_[c];
  }
  return true;
}

// The denial that fills the count starts the block, and the count begins anew after it.
void Judgement::count_toward_penalties() noexcept {
  for (std::size_t c = 0; c < live_; ++c) {
    const std::size_t i = of_check_[c];
    const PlannedLimit& limit = limit_of(i);
    if (outcomes_[i].decision.admitted || !limit.denials) continue;
    const table::Ask ask = ask_once(i);
    const Decision counted = limit.denials->table->decide(limit.denials->rule, ask, now_);
    if (counted.remaining > 0) continue;
    std::ignore = limit.block->table->decide(limit.block->rule, ask, now_);
    limit.denials->table->reset(limit.denials->rule, ask.key, now_);
    begin_block(outcomes_[i].decision, limit.block->table->peek(limit.block->rule, ask, now_).retry_after);
  }
}

// A candidate is charged iff it and every other live limit admit, whatever its own live limit says.
void Judgement::judge_candidates() noexcept {
  const bool denied_outright = too_many_ || coverage_.denied_outright;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const Covered& covered = coverage_.covered[i];
    if (covered.candidate == nullptr) continue;
    const bool own_denies = is_live(i) && !outcomes_[i].decision.admitted;
    const bool others_admit = !denied_outright && deniers_.count == (own_denies ? 1U : 0U);
    const TableRule& rule = *covered.candidate;
    if (!others_admit) continue;  // the request fails elsewhere: neither agrees nor differs
    outcomes_[i].candidate =
        peek_ ? rule.table->peek(rule.rule, covered.ask, now_) : rule.table->decide(rule.rule, covered.ask, now_);
  }
}

// A shadow limit is charged iff it and the live verdict admit.
void Judgement::judge_shadows(bool admits) noexcept {
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const Covered& covered = coverage_.covered[i];
    if (outcomes_[i].standing != Standing::shadow || covered.live == nullptr) continue;
    const TableRule& rule = *covered.live;
    outcomes_[i].decision = admits && !peek_ ? rule.table->decide(rule.rule, covered.ask, now_)
                                             : rule.table->peek(rule.rule, covered.ask, now_);
  }
}

}  // namespace weir::engine
