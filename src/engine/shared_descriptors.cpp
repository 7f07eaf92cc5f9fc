#include "engine/shared_descriptors.h"

#include <algorithm>
#include <array>

#include "engine/local_share.h"
#include "engine/outage.h"
#include "engine/owed.h"

namespace weir::engine {
namespace {

using store::SharedAsk;
using store::SharedCheck;
using store::SharedOperation;
using store::StoreFailure;

constexpr std::uint32_t share_of_overrides = 500'000;  // which no policy says: the default of all limits

}  // namespace

void SharedDescriptors::begin(const Plan& plan, std::string_view domain, std::span<const DescriptorAsk> asks) {
  plan_ = &plan;
  stage_ = Stage::live;
  over_ = false;
  admitted_ = true;
  at_ = room_.clock.now();
  statuses_.assign(asks.size(), {});
  subjects_.clear();
  full_.assign(asks.size(), false);
  denied_ = false;
  start();
  const auto& domains = plan.ruleset().domains;
  const auto found = std::ranges::find(domains, domain, &policy::Domain::name);
  if (found != domains.end()) {
    parts_.match(plan, *found, asks, statuses_);
    judge_bans();
    ask_live();
  } else {
    for (std::size_t i = 0; i < asks.size(); ++i) {
      DescriptorPart& part = parts_[i];  // which may never have been filled
      part.table = nullptr;
      part.limit = Verdict::no_limit;
      part.shadow = part.quota = part.banned = part.gives_back = false;
    }
  }
  go_on();
}

bool SharedDescriptors::step() {
  switch (stage_) {
    case Stage::live:
      read_live();
      break;
    case Stage::followers:
      read_followers();
      break;
    case Stage::refunds:  // what a refund that failed leaves is charged, as it was
      over_ = true;
      break;
  }
  return !over_;
}

// Which needs no store.
void SharedDescriptors::judge_bans() {
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (!parts_[i].banned) continue;
    judge_banned(parts_[i], statuses_[i]);
    full_[i] = parts_[i].quota && !statuses_[i].decision.admitted;
    denied_ = denied_ || (!parts_[i].quota && !statuses_[i].admitted);
  }
}

void SharedDescriptors::add_asked(std::size_t i, SharedAsk& ask) {
  const DescriptorPart& part = parts_[i];
  SharedCheck& check = ask.checks.emplace_back();
  plan_->shared_keys()->write(*part.name, part.consumer, check.key);
  check.rule = part.rule;
  check.cost = part.ask.cost;
  check.max_wait = part.ask.max_wait;
  subjects_.push_back(static_cast<std::uint32_t>(i));
}

void SharedDescriptors::ask_live() {
  clear_asks();
  subjects_.clear();
  const bool only_look = denied_ || every_quota_is_full();
  SharedAsk* ask = nullptr;
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (parts_[i].table == nullptr || !is_live(parts_[i]) || full_[i]) continue;
    if (ask == nullptr) ask = &new_ask(only_look ? SharedOperation::look : SharedOperation::decide);
    add_asked(i, *ask);
    if (only_look) {
      ask->checks.back().cost = Cost{0};
    } else if (room_.owes.load(std::memory_order_relaxed)) {
      ask->checks.back().charge_back = take_owed(i);
    }
  }
}

bool SharedDescriptors::every_quota_is_full() const noexcept {
  std::size_t quotas = 0;
  std::size_t full = 0;
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    const DescriptorPart& part = parts_[i];
    if (!part.quota || !is_live(part) || (part.table == nullptr && !full_[i])) continue;
    ++quotas;
    if (full_[i]) ++full;
  }
  return quotas > 0 && full == quotas;
}

// Quotas that deny are left out when the others are asked again. False if there is nothing to ask again.
bool SharedDescriptors::drop_full_quotas() {
  for (const std::uint32_t i : subjects_) {
    if (!statuses_[i].admitted && !parts_[i].quota) return false;
  }
  for (const std::uint32_t i : subjects_) full_[i] = full_[i] || !statuses_[i].admitted;
  return !every_quota_is_full();
}

void SharedDescriptors::read_live() {
  admitted_ = !denied_ && !every_quota_is_full();
  if (!subjects_.empty()) {
    const SharedAsk& answer = ask(0);
    if (answer.failure != StoreFailure::none) return judge_locally();
    at_ = answer.now;
    for (std::size_t c = 0; c < subjects_.size(); ++c) {
      DescriptorStatus& status = statuses_[subjects_[c]];
      status.decision = answer.answers[c].decision;
      status.admitted = status.decision.admitted;
      room_.paths.raise(StorePath::shared);
    }
    if (admitted_ && !answer.admitted && drop_full_quotas()) return ask_live();
    admitted_ = admitted_ && answer.admitted;
  }
  ask_followers();
}

// Shadow limits, and looks at what is to be given back.
void SharedDescriptors::ask_followers() {
  stage_ = Stage::followers;
  clear_asks();
  subjects_.clear();
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (parts_[i].table == nullptr || is_live(parts_[i])) continue;
    const bool charges = admitted_ && !parts_[i].gives_back;
    SharedAsk& ask = new_ask(charges ? SharedOperation::decide : SharedOperation::look);
    add_asked(i, ask);
    if (parts_[i].gives_back) ask.checks.back().cost = Cost{0};
  }
}

void SharedDescriptors::read_followers() {
  for (std::size_t a = 0; a < subjects_.size(); ++a) {
    if (ask(a).failure == StoreFailure::none) {
      statuses_[subjects_[a]].decision = ask(a).answers[0].decision;
    } else {
      follow_locally(subjects_[a]);
    }
  }
  ask_refunds();
}

void SharedDescriptors::ask_refunds() {
  stage_ = Stage::refunds;
  const std::vector<std::uint32_t> looked = std::move(subjects_);
  std::vector<bool> failed(looked.size());
  for (std::size_t a = 0; a < looked.size(); ++a) failed[a] = ask(a).failure != StoreFailure::none;
  clear_asks();
  subjects_.clear();
  for (std::size_t a = 0; a < looked.size(); ++a) {
    const std::size_t i = looked[a];
    if (!parts_[i].gives_back || failed[a]) continue;
    const Instant charged_at = statuses_[i].decision.charged_at;
    const Cost given = give_back(parts_[i], statuses_[i]);
    if (given == Cost{0}) continue;
    SharedAsk& ask = new_ask(SharedOperation::settle);
    add_asked(i, ask);
    ask.settlement = core::Settlement{given, Cost{0}, charged_at};
  }
}

// A shadow limit, or what is given back, on this process's share.
void SharedDescriptors::follow_locally(std::size_t i) noexcept {
  const DescriptorPart& part = parts_[i];
  const core::Rule rule = local_rule(i);
  const Instant now = room_.clock.now();
  if (part.gives_back) {
    statuses_[i].decision = part.table->peek(rule, {part.ask.key, Cost{0}, Duration::zero()}, now);
    const Instant charged_at = statuses_[i].decision.charged_at;
    part.table->refund(rule, part.ask.key, give_back(part, statuses_[i]), charged_at, now);
    return;
  }
  statuses_[i].decision = admitted_ ? part.table->decide(rule, part.ask, now) : part.table->peek(rule, part.ask, now);
}

// What this process admits of a limit while the store is away.
core::Rule SharedDescriptors::local_rule(std::size_t i) const noexcept {
  const DescriptorPart& part = parts_[i];
  if (part.limit != Verdict::no_limit) return plan_->limits()[part.limit].local[0]->rule;
  const auto whole = Limit::fixed_window(statuses_[i].numbers);
  return whole ? core::compile(local_share_of(*whole, share_of_overrides, Cost{1})) : *part.rule;
}

std::uint64_t SharedDescriptors::take_owed(std::size_t i) noexcept {
  return engine::take_owed({*parts_[i].table, local_rule(i), parts_[i].ask.key}, room_.clock.now());
}

void SharedDescriptors::judge_locally() {
  at_ = room_.clock.now();
  const SharedAsk& failed = ask(0);
  const bool is_owed = left_the_store_unchanged(failed.failure);
  std::array<core::Rule, table::most_together> rules;
  DescriptorChecks checks;
  bool closed = denied_;
  for (std::size_t c = 0; c < subjects_.size(); ++c) {
    const std::uint32_t i = subjects_[c];
    const DescriptorPart& part = parts_[i];
    rules[c] = local_rule(i);
    if (is_owed) owe({*part.table, rules[c], part.ask.key}, failed.checks[c].charge_back, at_);
    const auto choice = part.limit == Verdict::no_limit ? policy::OnStoreFailure::local
                                                        : plan_->limits()[part.limit].source->on_store_failure;
    if (choice == policy::OnStoreFailure::closed) {
      if (part.quota) checks.add_known_quota(true);
      closed = closed || !part.quota;
      statuses_[i].decision = closed_decision(statuses_[i].numbers.limit, at_);
      statuses_[i].admitted = false;
      room_.paths.raise(StorePath::closed);
    } else if (choice == policy::OnStoreFailure::open) {
      if (part.quota) checks.add_known_quota(false);
      statuses_[i].kind = DescriptorStatus::Kind::unmatched;  // nothing is known of it
      statuses_[i].decision.admitted = true;
      room_.paths.raise(StorePath::open);
    } else {
      checks.add({part.table, &rules[c], part.ask}, i, part.quota);
      room_.paths.raise(StorePath::local);
    }
  }
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (full_[i]) checks.add_known_quota(true);
  }
  if (closed) checks.look(at_);
  admitted_ = !closed && checks.decide(at_);
  checks.for_each_decision([&](std::size_t i, const Decision& decision) {
    statuses_[i].decision = decision;
    statuses_[i].admitted = decision.admitted;
    if (!is_owed || !admitted_ || !decision.admitted) return;
    room_.owes.store(true, std::memory_order_relaxed);
    owe({*parts_[i].table, local_rule(i), parts_[i].ask.key}, parts_[i].ask.cost.units(), at_);
  });
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (parts_[i].table != nullptr && !is_live(parts_[i])) follow_locally(i);
  }
  over_ = true;
}

}  // namespace weir::engine
