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
  start();
  const auto& domains = plan.ruleset().domains;
  const auto found = std::ranges::find(domains, domain, &policy::Domain::name);
  if (found != domains.end()) {
    parts_.match(plan, *found, asks, statuses_);
    ask_live();
  } else {
    for (std::size_t i = 0; i < asks.size(); ++i) parts_[i].table = nullptr;
    for (std::size_t i = 0; i < asks.size(); ++i) parts_[i].limit = Verdict::no_limit;
  }
  go_on();
}

bool SharedDescriptors::step() {
  if (stage_ == Stage::live) {
    read_live();
  } else {
    read_shadows();
  }
  return !over_;
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
  SharedAsk* ask = nullptr;
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (parts_[i].table == nullptr || parts_[i].shadow) continue;
    if (ask == nullptr) ask = &new_ask(SharedOperation::decide);
    add_asked(i, *ask);
    if (room_.owes.load(std::memory_order_relaxed)) ask->checks.back().charge_back = take_owed(i);
  }
}

void SharedDescriptors::read_live() {
  if (!subjects_.empty()) {
    const SharedAsk& answer = ask(0);
    if (answer.failure != StoreFailure::none) return judge_locally();
    at_ = answer.now;
    admitted_ = answer.admitted;
    for (std::size_t c = 0; c < subjects_.size(); ++c) {
      DescriptorStatus& status = statuses_[subjects_[c]];
      status.decision = answer.answers[c].decision;
      status.admitted = status.decision.admitted;
      room_.paths.raise(StorePath::shared);
    }
  }
  ask_shadows();
}

void SharedDescriptors::ask_shadows() {
  stage_ = Stage::shadows;
  clear_asks();
  subjects_.clear();
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (parts_[i].table == nullptr || !parts_[i].shadow) continue;
    add_asked(i, new_ask(admitted_ ? SharedOperation::decide : SharedOperation::look));
  }
}

void SharedDescriptors::read_shadows() {
  for (std::size_t a = 0; a < subjects_.size(); ++a) {
    if (ask(a).failure == StoreFailure::none) {
      statuses_[subjects_[a]].decision = ask(a).answers[0].decision;
    } else {
      judge_shadow_locally(subjects_[a]);
    }
  }
  over_ = true;
}

void SharedDescriptors::judge_shadow_locally(std::size_t i) noexcept {
  const DescriptorPart& part = parts_[i];
  const core::Rule rule = local_rule(i);
  const Instant now = room_.clock.now();
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
  std::array<table::Check, table::most_together> checks;
  std::array<Decision, table::most_together> decisions;
  std::array<std::uint32_t, table::most_together> owners;
  std::size_t count = 0;
  bool closed = false;
  for (std::size_t c = 0; c < subjects_.size(); ++c) {
    const std::uint32_t i = subjects_[c];
    const DescriptorPart& part = parts_[i];
    rules[c] = local_rule(i);
    if (is_owed) owe({*part.table, rules[c], part.ask.key}, failed.checks[c].charge_back, at_);
    const auto choice = part.limit == Verdict::no_limit ? policy::OnStoreFailure::local
                                                        : plan_->limits()[part.limit].source->on_store_failure;
    if (choice == policy::OnStoreFailure::closed) {
      closed = true;
      statuses_[i].decision = closed_decision(statuses_[i].numbers.limit, at_);
      statuses_[i].admitted = false;
      room_.paths.raise(StorePath::closed);
    } else if (choice == policy::OnStoreFailure::open) {
      statuses_[i].kind = DescriptorStatus::Kind::unmatched;  // nothing is known of it
      statuses_[i].decision.admitted = true;
      room_.paths.raise(StorePath::open);
    } else {
      checks[count] = {part.table, &rules[c], part.ask};
      owners[count++] = i;
      room_.paths.raise(StorePath::local);
    }
  }
  admitted_ = !closed;
  if (count > 0) {
    if (closed) {
      for (std::size_t k = 0; k < count; ++k) decisions[k] = checks[k].table->peek(*checks[k].rule, checks[k].ask, at_);
    } else {
      admitted_ = table::decide_together(std::span(checks).first(count), at_, std::span(decisions).first(count));
    }
    for (std::size_t k = 0; k < count; ++k) {
      statuses_[owners[k]].decision = decisions[k];
      statuses_[owners[k]].admitted = decisions[k].admitted;
      if (!is_owed || !admitted_) continue;
      room_.owes.store(true, std::memory_order_relaxed);
      owe({*checks[k].table, *checks[k].rule, checks[k].ask.key}, checks[k].ask.cost.units(), at_);
    }
  }
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (parts_[i].table != nullptr && parts_[i].shadow) judge_shadow_locally(i);
  }
  over_ = true;
}

}  // namespace weir::engine
