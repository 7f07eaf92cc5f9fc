#include "engine/evaluation.h"

#include <algorithm>
#include <new>
#include <utility>

#include "match/consumer.h"
#include "table/together.h"

namespace weir::engine {
namespace {

static_assert(match::most_limits == table::most_together);

using store::Check;
using store::Fallback;
using store::Group;
using store::Operation;
using store::Path;
using store::States;

// Until its block ends a consumer has nothing left. Then more is left, if the limit has something now; if not, when it
// has. Before the decision is made that of a block.
void wait_for_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept {
  const Duration wait = block_wait.value_or(Duration::zero());
  const Duration own = decision.more_after.value_or(Duration::zero());
  decision.more_after = decision.remaining > 0 ? wait : std::max(own, wait);
}

Reason reason_of(match::Exemption outright) noexcept {
  return outright == match::Exemption::banned ? Reason::banned : Reason::key_missing;
}

// Who looks is told of holds what a reserve would be.
constexpr ReceiptAsk look_at_holds{.what = ReceiptAsk::What::hold};

// Of a store that neither answers nor says what holds then: nothing passes.
void close(Group& group) noexcept {
  for (Check& check : group.checks) {
    check.path = Path::closed;
    check.decision = {};
    check.decision.retry_after = check.decision.reset_after = store::closed_retry_after;
  }
}

}  // namespace

// --- what is asked

void Evaluation::start(const Bindings& bindings, Instant now, std::size_t outcomes) {
  bindings_ = &bindings;
  now_ = now;
  stage_ = Stage::live;
  over_ = is_descriptors_ = has_followers_ = charges_denied_ = false;
  is_known_domain_ = true;
  used_ = 0;
  deadline_.reset();
  by_share_ = false;
  failure_ = store::Failure::none;
  if (holdings_.known) holdings_ = {};
  if (!receipt_.parts.empty()) receipt_.clear();
  receipt_outcomes_.clear();
  if (outcomes_.size() != outcomes) {
    outcomes_.resize(outcomes);
    parts_.resize(outcomes);
  }
  live_.clear();
  quotas_ = full_quotas_ = 0;
  closed_.reset();
  banned_ = opened_ = too_many_ = blocked_ = quota_was_closed_ = false;
  verdict_.at = now;
}

void Evaluation::begin(const Bindings& bindings, Options options, Instant now) {
  options_ = options;
  if (options_.peek && options_.receipts == nullptr) options_.receipts = &look_at_holds;
  start(bindings, now, matched.limits.size());
  consumer_texts_.clear();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) begin_outcome(i);
  // Most policies have no holds, and need no more of it then.
  const auto holds = [](const Part& part) { return part.is_on_holds(); };
  const bool only_holds = options_.receipts != nullptr && options_.receipts->what == ReceiptAsk::What::hold;
  if (only_holds && std::ranges::none_of(parts_, holds)) options_.receipts = nullptr;
  if (options_.receipts != nullptr) prepare_receipts();
  if (too_many_) {  // none is asked
    for (Outcome& outcome : outcomes_) outcome.decision = {.admitted = true};
  } else if (!live_.empty()) {
    ask_live();
  }
}

// Filled in place, whatever was in it: it is large.
void Evaluation::begin_outcome(std::size_t i) {
  const match::MatchedLimit& limit = matched.limits[i];
  const BoundLimit& bound = bindings_->limits()[limit.limit];
  const States* const own = states_of(bound.live, matched.caller.tier);
  const States* const own_candidate = states_of(bound.candidate, matched.caller.tier);
  // What a limit writes as its cost was charged when the request came.
  const bool is_charged_already = is_report() && !limit.takes_cost;
  const States* const live = is_charged_already ? nullptr : own;
  const States* const candidate = is_charged_already ? nullptr : own_candidate;
  const bool gives_back = is_give_back();
  const bool is_live = bound.source->mode == policy::Mode::enforce;
  Outcome& outcome = outcomes_[i];
  outcome.limit = limit.limit;
  outcome.route = limit.route;
  outcome.standing = is_live ? Standing::live : Standing::shadow;
  outcome.consumer = (own != nullptr ? own : own_candidate)->table->hash(matched.key(i));
  outcome.cost = limit.cost;
  outcome.max_wait = options_.max_wait;
  if (!is_live || live == nullptr || gives_back) {  // it may not be asked
    outcome.decision = Decision{};
    outcome.decision.admitted = true;
  }
  outcome.candidate.reset();
  table::KeyHash consumer = outcome.consumer;
  if (bound.new_keys != nullptr && shares_key(bound, outcome, gives_back)) {
    consumer = (own != nullptr ? own : own_candidate)->table->hash(overflow_text_);
    consumer_texts_ += overflow_text_;
  } else if (bindings_->shared_keys() != nullptr) {
    match::append_shared_consumer(consumer_texts_, matched.key(i));
  }
  parts_[i] = {.states = live,
               .rule = live == nullptr ? nullptr : &live->rule,
               .candidate = candidate,
               .text_end = consumer_texts_.size(),
               .consumer = consumer,
               .gives_back = gives_back};
  if (candidate != nullptr || ((!is_live || gives_back) && live != nullptr)) has_followers_ = true;
  if (is_live && live != nullptr && !gives_back) add_live(i);
}

// Nothing is given back to a key that others were charged on. A look sends no key.
bool Evaluation::shares_key(const BoundLimit& bound, const Outcome& outcome, bool gives_back) {
  if (gives_back) return false;
  const bool is_admitted = options_.peek ? bound.new_keys->would_admit(outcome.consumer, now_)
                                         : bound.new_keys->admit(outcome.consumer, now_);
  if (!is_admitted) bound.new_keys->write_overflow(outcome.consumer, overflow_text_);
  return !is_admitted;
}

void Evaluation::begin(const Bindings& bindings, std::string_view domain, std::span<const match::DescriptorQuery> asks,
                       Options options, Instant now) {
  options_ = options;
  start(bindings, now, asks.size());
  is_descriptors_ = true;
  statuses_.resize(asks.size());
  const auto& domains = bindings.ruleset().domains;
  const auto found = std::ranges::find(domains, domain, &policy::Domain::name);
  if (found == domains.end()) {
    is_known_domain_ = false;
    std::ranges::fill(statuses_, DescriptorStatus{});
    std::ranges::fill(parts_, Part{});
    for (Outcome& outcome : outcomes_) outcome.limit = Verdict::no_limit;
    return;
  }
  charges_denied_ = found->charges_denied;
  descriptors_.match(bindings, *found, asks, statuses_);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const MatchedDescriptor& part = descriptors_[i];
    Outcome& outcome = outcomes_[i];
    outcome.limit = part.limit;
    outcome.standing = part.shadow ? Standing::shadow : Standing::live;
    outcome.consumer = part.hash;
    outcome.cost = part.hits;
    outcome.max_wait = Duration::zero();  // nobody waits here
    outcome.decision = Decision{};
    outcome.decision.admitted = true;
    table::KeyHash consumer = part.hash;
    const BoundLimit* const bound = part.limit == Verdict::no_limit ? nullptr : &bindings.limits()[part.limit];
    if (part.states != nullptr && bound != nullptr && bound->new_keys != nullptr &&
        shares_key(*bound, outcome, part.gives_back)) {
      consumer = part.states->table->hash(overflow_text_);
      descriptors_[i].consumer = overflow_text_;
    }
    parts_[i] = {.states = part.states,
                 .rule = part.rule,
                 .consumer = consumer,
                 .quota = part.quota,
                 .gives_back = part.gives_back,
                 .banned = part.banned};
    if (part.banned) {
      decide_banned(part, statuses_[i]);
      outcome.decision = statuses_[i].decision;
    }
    const bool is_live = !part.shadow && !part.gives_back;
    if (!is_live) has_followers_ = has_followers_ || part.states != nullptr;
    if (!is_live || (part.states == nullptr && !part.banned)) continue;
    const bool denies = part.banned && outcome.cost > Cost{0};
    if (part.quota) {
      ++quotas_;
      if (denies) ++full_quotas_;
    } else if (denies) {
      banned_ = true;
    }
    if (part.states != nullptr) add_live(i);
  }
  if (options_.receipts != nullptr) prepare_receipts();
  if (!too_many_ && !live_.empty()) ask_live();
}

// One group for each state: they are of one consumer, but a live limit's windows may differ between tiers. And one for
// each table of slices, so that what this process holds is not spent any more.
void Evaluation::begin_reset(const Bindings& bindings, const BoundLimit& limit, std::string_view key,
                             std::string_view consumer, Instant now) {
  options_ = {};
  start(bindings, now, 0);
  stage_ = Stage::reset;
  const auto forget = [&](const std::optional<States>& states) {
    if (!states) return;
    const auto is_known = [&](const Group& group) {
      const States& known = *group.checks[0].states;
      const store::SliceTable* const slices = store::slices_of(*states);
      return known.table == states->table && (slices == nullptr || store::slices_of(known) == slices);
    };
    if (std::ranges::any_of(groups(), is_known)) return;
    Group& group = new_group(Operation::forget, Fallback::none);
    group.checks.assign(1, {});
    checks_used_ = 1;
    Check& check = group.checks[0];
    check.states = &*states;
    check.rule = &states->rule;
    check.hash = states->table->hash(key);
    check.holdings = &holdings_;
    if (states->name != nullptr) bindings.shared_keys()->write(*states->name, consumer, check.key);
  };
  std::ranges::for_each(limit.live, forget);
  std::ranges::for_each(limit.candidate, forget);
  forget(limit.warnings);
  forget(limit.denials);
  forget(limit.block);
}

Group& Evaluation::new_group(Operation operation, Fallback fallback) {
  if (used_ == groups_.size()) groups_.emplace_back();
  trim_checks();
  Group& group = groups_[used_++];
  checks_used_ = 0;
  group.operation = operation;
  group.settlement.reset();
  group.fallback = fallback;
  group.deadline = deadline_;
  group.callback = this;
  group.failure = failure_;
  group.now = now_;
  pending_ = used_;
  return group;
}

std::string_view Evaluation::consumer_text(std::size_t i) const noexcept {
  if (is_descriptors_) return descriptors_[i].consumer;
  const std::size_t begin = i == 0 ? 0 : parts_[i - 1].text_end;
  return std::string_view(consumer_texts_).substr(begin, parts_[i].text_end - begin);
}

Check& Evaluation::add_check(Group& group, std::size_t i, const States& states, const core::Rule& rule, Cost cost) {
  const Outcome& outcome = outcomes_[i];
  if (checks_used_ == group.checks.size()) group.checks.emplace_back();
  Check& check = group.checks[checks_used_++];
  check.states = &states;
  check.rule = &rule;
  check.hash = parts_[i].consumer;
  check.cost = cost;
  check.role = Check::Role::charge;
  check.path = Path::store;
  check.holdings = options_.wants_holdings && &states == parts_[i].states ? &holdings_ : nullptr;
  check.receipt = options_.receipts == nullptr ? nullptr : use_of(i, states, rule);
  check.max_wait = outcome.max_wait;
  check.wants_more_after = options_.wants_more_after;
  if (states.name != nullptr) bindings_->shared_keys()->write(*states.name, consumer_text(i), check.key);
  return check;
}

// Checks are used again: most requests have as many as the one before.
void Evaluation::trim_checks() {
  if (used_ == 0) return;
  auto& checks = groups_[used_ - 1].checks;
  if (checks.size() > checks_used_) checks.resize(checks_used_);
}

// --- the steps

void Evaluation::answered(Group& /*group*/) {
  if (--pending_ == 0 && !advancing_) owner_.on_answered(*this);
}

void Evaluation::advance() {
  while (true) {
    step();
    if (over_) return finish();
    if (used_ == 0) continue;
    trim_checks();
    advancing_ = true;  // what is answered at once goes on here
    for (std::size_t i = 0; i < used_; ++i) store_.submit(groups_[i]);
    advancing_ = false;
    if (pending_ > 0) return;
  }
}

// Reads the answers of the step that was prepared last, and prepares the next.
void Evaluation::step() {
  switch (stage_) {
    case Stage::live:
      return read_live();
    case Stage::warning:
      return read_warning();
    case Stage::penalties:
      return read_penalties();
    case Stage::blocks:
      return read_blocks();
    case Stage::followers:
      return read_followers();
    case Stage::corrections:
      return read_corrections();
    case Stage::reset:
      return read_reset();
    case Stage::receipt:
      return read_receipt();
  }
}

// The checks of the live limits, and behind them their blocks. A request that is denied outright only looks: its limits
// say when it could pass, and descriptors what is left.
void Evaluation::ask_live() {
  const bool is_full = quotas_ > 0 && full_quotas_ == quotas_;
  const bool only_look = !is_report() && (is_denied_outright() || banned_ || is_full);
  used_ = 0;
  Group& group = new_group(operation(!only_look), later(Fallback::by_limit));
  for (const std::uint32_t i : live_) {
    const Cost cost = only_look && is_descriptors_ ? Cost{0} : outcomes_[i].cost;
    add_check(group, i, *parts_[i].states, *parts_[i].rule, cost);
  }
  subjects_.clear();
  if (is_descriptors_ || is_report()) return;
  for (const std::uint32_t i : live_) {
    const auto& block = limit_of(i).block;
    if (!block) continue;
    add_once(group, i, *block).role = Check::Role::guard;
    subjects_.push_back(i);
  }
}

void Evaluation::read_live() {
  if (used_ > 0) {
    Group& group = groups_[0];
    verdict_.at = group.now;
    deadline_ = group.deadline;
    by_share_ = by_share_ || group.failure != store::Failure::none;
    failure_ = group.failure;
    if (is_report()) return read_report();
    if (!group.decided) close(group);
    read_blocks_of_live(group);
    read_paths(group);
    used_ = 0;
  }
  conclude_live();
}

// What was not asked, the store being away, is no live limit any more.
void Evaluation::read_paths(const Group& group) {
  if (paths_ == nullptr && group.decided && group.failure == store::Failure::none) return;  // the store decided all
  std::size_t kept = 0;
  for (std::size_t c = 0; c < live_.size(); ++c) {
    const Check& check = group.checks[c];
    const std::uint32_t i = live_[c];
    if (paths_ != nullptr && !options_.peek) paths_->raise(check.path);
    if (check.path == Path::open) {
      opened_ = parts_[i].was_open = true;
      outcomes_[i].decision = check.decision;
    } else if (check.path == Path::closed) {
      outcomes_[i].decision = check.decision;
      parts_[i].was_closed = true;
      if (parts_[i].quota) {
        ++full_quotas_;
        quota_was_closed_ = true;
      } else if (!closed_) {
        closed_ = i;
      }
    } else {
      live_[kept++] = i;
    }
  }
  live_.resize(kept);
}

void Evaluation::read_blocks_of_live(const Group& group) {
  for (std::size_t c = 0; c < live_.size(); ++c) outcomes_[live_[c]].decision = group.checks[c].decision;
  for (std::size_t b = 0; b < subjects_.size(); ++b) {
    const Decision& block = group.checks[live_.size() + b].decision;
    if (block.admitted || group.checks[live_.size() + b].path == Path::closed) continue;
    blocked_ = true;
    Decision& decision = outcomes_[subjects_[b]].decision;
    wait_for_block(decision, block.retry_after);
    deny_for_block(decision, block.retry_after);
  }
}

void Evaluation::conclude_live() {
  deniers_ = deniers_of(live_outcomes());
  if (quotas_ > 0 && drop_full_quotas()) return;
  const bool denied_outright = is_denied_outright();
  const bool is_full = quotas_ > 0 && full_quotas_ == quotas_;
  if (deniers_.count == 0 && !denied_outright && !too_many_ && !closed_ && !banned_ && !is_full) {
    reason_ = !live_.empty() ? Reason::within : opened_ ? Reason::store_away : Reason::uncovered;
    return conclude(true);
  }
  reason_ = too_many_             ? Reason::too_many_limits
            : denied_outright     ? reason_of(matched.denied_for)
            : blocked_            ? Reason::blocked
            : lacking_receipt()   ? Reason::needs_receipt
            : deniers_.count == 0 ? Reason::store_away
                                  : Reason::exceeded;
  if (reason_ != Reason::exceeded || is_descriptors_ || closed_) return conclude(false);
  const BoundLimit& last = limit_of(live_[deniers_.last]);
  if (deniers_.count == 1 && last.warnings) return ask_warning();
  ask_penalties();
}

// Quotas that deny are left out when the others are asked again. False if there is nothing to ask again.
bool Evaluation::drop_full_quotas() {
  const bool only_quotas_deny =
      std::ranges::all_of(live_, [&](std::uint32_t i) { return outcomes_[i].decision.admitted || parts_[i].quota; });
  if (closed_ || banned_ || !only_quotas_deny) return false;
  const auto full = std::ranges::partition(live_, [&](std::uint32_t i) { return outcomes_[i].decision.admitted; });
  full_quotas_ += full.size();
  const bool dropped = !full.empty() || std::exchange(quota_was_closed_, false);
  live_.erase(full.begin(), full.end());
  deniers_ = {};
  if (!dropped || full_quotas_ == quotas_ || live_.empty()) return false;
  ask_live();
  return true;
}

// The one limit that denies may let the first few pass. The others are charged, all or nothing with the warning; the
// limit itself is not.
void Evaluation::ask_warning() {
  stage_ = Stage::warning;
  Group& group = new_group(operation(true), later(Fallback::none));
  for (std::size_t c = 0; c < live_.size(); ++c) {
    const std::size_t i = live_[c];
    if (c == deniers_.last) {
      add_once(group, i, *limit_of(i).warnings);
    } else {
      add_check(group, i, *parts_[i].states, *parts_[i].rule, outcomes_[i].cost);
    }
  }
}

void Evaluation::read_warning() {
  const Group& group = groups_[0];
  used_ = 0;
  if (!group.decided || !group.admitted) return ask_penalties();
  for (std::size_t c = 0; c < live_.size(); ++c) {
    if (c != deniers_.last) outcomes_[live_[c]].decision = group.checks[c].decision;
  }
  reason_ = Reason::warned;
  conclude(true);
}

void Evaluation::ask_penalties() {
  stage_ = Stage::penalties;
  subjects_.clear();
  for (const std::uint32_t i : live_) {
    if (options_.peek || outcomes_[i].decision.admitted || !limit_of(i).denials) continue;
    add_once(new_group(Operation::decide, later(Fallback::none)), i, *limit_of(i).denials);
    subjects_.push_back(i);
  }
}

// The denial that fills the count starts the block, and the count begins anew after it.
void Evaluation::read_penalties() {
  std::size_t kept = 0;
  for (std::size_t g = 0; g < used_; ++g) {
    const bool is_full = groups_[g].decided && groups_[g].checks[0].decision.remaining == 0;
    if (is_full) subjects_[kept++] = subjects_[g];
  }
  subjects_.resize(kept);
  stage_ = Stage::blocks;
  used_ = 0;
  for (const std::uint32_t i : subjects_) {
    add_once(new_group(Operation::decide, later(Fallback::none)), i, *limit_of(i).block);
  }
  for (const std::uint32_t i : subjects_) {
    add_once(new_group(Operation::forget, later(Fallback::none)), i, *limit_of(i).denials);
  }
}

void Evaluation::read_blocks() {
  for (std::size_t g = 0; g < subjects_.size(); ++g) {
    if (!groups_[g].decided) continue;
    const Decision& block = groups_[g].checks[0].decision;
    const std::optional<Duration> wait = block.admitted ? block.reset_after : block.retry_after;
    Decision& decision = outcomes_[subjects_[g]].decision;
    wait_for_block(decision, wait);
    begin_block(decision, wait);
  }
  used_ = 0;
  conclude(false);
}

void Evaluation::conclude(bool admits) {
  const Instant at = verdict_.at;
  if (is_descriptors_) {
    verdict_.admitted = admits;
  } else if (admits) {
    new (&verdict_) Verdict(admitted_verdict(live_outcomes(), reason_, deniers_.last));  // not copied
  } else if (reason_ == Reason::store_away) {
    verdict_ = store_away_verdict();
  } else {
    verdict_ = denied_verdict(live_outcomes(), reason_, lacking_receipt().value_or(matched.denied_by));
  }
  verdict_.at = at;
  stage_ = Stage::followers;
  if (is_descriptors_ && !has_followers_ && (!admits || quotas_ > 0)) {
    for (std::size_t i = 0; i < outcomes_.size(); ++i) has_followers_ = has_followers_ || is_charged_unasked(i, admits);
  }
  if (has_followers_) {
    ask_followers(admits);
  } else {
    over_ = true;
  }
}

// By a limit that is closed. Where another denies by itself, that one knows for how long.
Verdict Evaluation::store_away_verdict() const noexcept {
  const Outcome& outcome = outcomes_[*closed_];
  Verdict verdict;
  verdict.admitted = false;
  verdict.reason = Reason::store_away;
  verdict.limit = outcome.limit;
  verdict.decision = outcome.decision;
  verdict.retry_after = outcome.decision.retry_after;
  return verdict;
}

void Evaluation::read_reset() {
  reset_ = Reset::done;
  for (const Group& group : groups()) {
    if (group.failure != store::Failure::none) reset_ = Reset::unanswered;
    if (reset_ == Reset::done && !group.admitted) reset_ = Reset::shared;
  }
  over_ = true;
}

// --- the end

void Evaluation::finish() {
  if (is_descriptors_) {
    fill_statuses();
  } else if (stage_ != Stage::reset && stage_ != Stage::receipt) {
    if (is_give_back()) tell_given_back();
    verdict_.label = matched.label;
    verdict_.route = bindings_->matcher().labels()[matched.label];
    verdict_.tier = matched.caller.tier;
  }
  verdict_.outcomes = outcomes_;
  if (options_.receipts != nullptr && stage_ != Stage::receipt) tell_receipts();
  owner_.on_finished(*this);
}

void Evaluation::fill_statuses() {
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    DescriptorStatus& status = statuses_[i];
    if (is_report()) status.admitted = true;    // whatever is left
    if (parts_[i].states == nullptr) continue;  // a ban has said it
    status.decision = outcomes_[i].decision;
    status.admitted = is_shadow(i) || parts_[i].gives_back || is_report() || status.decision.admitted;
    if (parts_[i].was_open) status.kind = DescriptorStatus::Kind::unmatched;  // nothing is known of it
  }
}

}  // namespace weir::engine
