#include "store/local/local_store.h"

#include <new>
#include <variant>
#include <vector>

#include "store/local/throttle_table.h"
#include "table/together.h"

namespace weir::store {
namespace {

static_assert(Group::max_checks == table::max_group_size);

bool is_for_tables(const Check& check) noexcept {
  return check.path == Path::store || check.path == Path::share;
}

table::HashedRequest request_of(const Check& check, Cost cost) noexcept {
  return {check.hash, cost, check.max_wait, check.wants_more_after};
}

Decision peek(const Check& check, Cost cost, Instant now) noexcept {
  if (check.receipt != nullptr && check.role == Check::Role::charge && core::is_concurrency(*check.rule)) {
    const bool is_held =
        cost > Cost{0} && check.states->table->has_open(*check.rule, check.hash, check.receipt->id, now);
    Decision decision =
        check.states->table->peek_holds(*check.rule, request_of(check, is_held ? Cost{0} : cost), *check.receipt, now);
    if (is_held) core::admit_again(decision);
    return decision;
  }
  const bool is_reserved = check.receipt != nullptr && cost == check.cost &&
                           check.states->table->has_open(*check.rule, check.hash, check.receipt->id, now);
  if (is_reserved) {
    Decision again = check.states->table->peek(*check.rule, request_of(check, Cost{0}), now);
    core::admit_again(again);
    return again;
  }
  return check.states->table->peek(*check.rule, request_of(check, cost), now);
}

// The common group has one limit to charge. Its decision is constructed in place.
void decide_one(Group& group, Check& check) noexcept {
  if (check.states->throttle != nullptr) {
    const auto* const gcra = std::get_if<core::RuleOf<core::Gcra>>(check.rule);
    new (&check.decision) Decision(check.states->throttle->decide(gcra->limit, check.hash, check.cost, group.now));
  } else {
    new (&check.decision) Decision(check.states->table->decide(*check.rule, request_of(check, check.cost), group.now));
  }
  group.admitted = check.decision.admitted;
}

// Decides checks that are not charged to a table: guards, and checks whose fallback is open or closed.
bool lets_pass(Check& check, Instant now) noexcept {
  if (!is_for_tables(check)) return check.path != Path::closed;
  check.decision = peek(check, check.cost, now);
  return check.decision.admitted;
}

bool is_charged(const Check& check) noexcept {
  return check.role == Check::Role::charge && is_for_tables(check);
}

// Adds all holdings, unless this process decides on its share of the limit.
void add_holdings(const Check& check, Instant now) {
  if (check.holdings == nullptr || check.path != Path::store) return;
  const Decision untouched = peek(check, Cost{0}, now);
  check.holdings->used += untouched.limit - untouched.remaining;
  const std::vector<core::Receipt> open = check.states->table->open_receipts(*check.rule, check.hash, now);
  check.holdings->open.insert(check.holdings->open.end(), open.begin(), open.end());
  check.holdings->at = now;
  check.holdings->known = true;
}

bool has_receipts(const Group& group) noexcept {
  for (const Check& check : group.checks) {
    if (check.receipt != nullptr) return true;
  }
  return false;
}

// Decides without charging. If any check denies, the others report what remains without the charge.
void look(Group& group, bool passes) noexcept {
  group.admitted = passes;
  for (Check& check : group.checks) {
    if (check.receipt != nullptr) check.receipt->result = core::ReceiptResult::none;
    if (!is_charged(check)) continue;
    check.decision = peek(check, check.cost, group.now);
    group.admitted = group.admitted && check.decision.admitted;
  }
  if (group.operation == Operation::look) {
    for (const Check& check : group.checks) add_holdings(check, group.now);
    return;
  }
  for (Check& check : group.checks) {
    if (is_charged(check) && check.decision.admitted) check.decision = peek(check, Cost{0}, group.now);
  }
}

// Settles, extends or reports.
void correct(Group& group) noexcept {
  group.admitted = true;
  for (Check& check : group.checks) {
    if (!is_for_tables(check)) {  // no units are counted for this check
      if (check.receipt != nullptr) check.receipt->result = core::ReceiptResult::done;
      if (check.receipt != nullptr) check.receipt->lost = check.cost.units();
      continue;
    }
    table::Table& table = *check.states->table;
    if (group.operation == Operation::report) {
      core::ReceiptUse without_id;
      core::ReceiptUse& use = check.receipt == nullptr ? without_id : *check.receipt;
      check.decision = table.report(*check.rule, check.hash, check.cost, use, group.now);
    } else if (group.operation == Operation::extend) {
      check.decision = table.extend(*check.rule, check.hash, *check.receipt, group.now);
    } else if (check.receipt != nullptr) {
      check.decision = table.settle(*check.rule, check.hash, *check.receipt, group.now);
    } else {
      table.settle(*check.rule, check.hash, *group.settlement, group.now);
      check.decision = peek(check, Cost{0}, group.now);
    }
  }
}

void forget(Group& group) noexcept {
  group.admitted = true;
  for (const Check& check : group.checks) {
    if (!check.states->table->reset(*check.rule, check.hash, group.now)) group.admitted = false;
  }
}

}  // namespace

void TableDecider::decide_together(Group& group) {
  if (checks_.size() < group.checks.size()) checks_.resize(group.checks.size());
  std::size_t charged = 0;
  bool passes = true;
  for (Check& check : group.checks) {
    if (is_charged(check)) {
      checks_[charged++] = {check.states->table, check.rule, request_of(check, check.cost), &check.decision};
    } else {
      passes = lets_pass(check, group.now) && passes;
    }
  }
  if (!passes || group.operation == Operation::look) return look(group, passes);
  if (has_receipts(group)) return reserve_together(group, charged);
  group.admitted = table::decide_together(std::span(checks_).first(charged), group.now);
}

// Checks that are not charged to a table open no receipts.
void TableDecider::reserve_together(Group& group, std::size_t charged) {
  receipts_.clear();
  for (const Check& check : group.checks) {
    if (is_charged(check)) receipts_.push_back(check.receipt);
  }
  group.admitted = table::reserve_together(std::span(checks_).first(charged), receipts_, group.now);
  for (const Check& check : group.checks) {
    if (check.receipt == nullptr || is_charged(check)) continue;
    check.receipt->result = group.admitted ? core::ReceiptResult::not_kept : core::ReceiptResult::none;
  }
}

void TableDecider::decide(Group& group) {
  group.decided = true;
  switch (group.operation) {
    case Operation::decide:
      if (group.checks.size() == 1 && is_charged(group.checks[0]) && group.checks[0].receipt == nullptr) {
        return decide_one(group, group.checks[0]);
      }
      return decide_together(group);
    case Operation::look:
      return decide_together(group);
    case Operation::settle:
    case Operation::extend:
    case Operation::report:
      return correct(group);
    case Operation::forget:
      return forget(group);
  }
}

void LocalStore::submit(Batch batch) {
  if (batch.size() > 1) {
    for (const Group* group : batch) {
      for (const Check& check : group->checks) {
        if (check.states->table != nullptr) check.states->table->prefetch(check.hash);
      }
    }
  }
  for (Group* group : batch) {
    decider_.decide(*group);
    group->callback->answered(*group);
  }
}

}  // namespace weir::store
