#include "store/local/local_store.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "store/local/throttle_table.h"
#include "table/together.h"

namespace weir::store {
namespace {

static_assert(Group::most_checks == table::most_together);

bool is_for_tables(const Check& check) noexcept {
  return check.path == Path::store || check.path == Path::share;
}

table::HashedRequest request_of(const Check& check, Cost cost) noexcept {
  return {check.hash, cost, check.max_wait, check.wants_more_after};
}

Decision peek(const Check& check, Cost cost, Instant now) noexcept {
  return check.states->table->peek(*check.rule, request_of(check, cost), now);
}

// The usual group: one limit, to be charged.
void decide_one(Group& group, Check& check) noexcept {
  if (check.states->throttle != nullptr) {
    const auto& gcra = std::get<core::RuleOf<core::Gcra>>(*check.rule);
    check.decision = check.states->throttle->decide(gcra.limit, check.hash, check.cost, group.now);
  } else {
    check.decision = check.states->table->decide(*check.rule, request_of(check, check.cost), group.now);
  }
  group.admitted = check.decision.admitted;
}

// Whether what is no table's to charge lets the group pass: its guards, and limits that are closed.
bool may_pass(Group& group) noexcept {
  bool passes = true;
  for (Check& check : group.checks) {
    if (check.path == Path::closed) passes = false;
    if (!is_for_tables(check) || check.role != Check::Role::guard) continue;
    check.decision = peek(check, check.cost, group.now);
    passes = passes && check.decision.admitted;
  }
  return passes;
}

// Where something denies what would have been charged, the others say what is left uncharged.
void look(Group& group, bool passes) noexcept {
  group.admitted = passes;
  for (Check& check : group.checks) {
    if (!is_for_tables(check) || check.role == Check::Role::guard) continue;
    check.decision = peek(check, check.cost, group.now);
    group.admitted = group.admitted && check.decision.admitted;
  }
  if (group.operation == Operation::look) return;
  for (Check& check : group.checks) {
    if (is_for_tables(check) && check.role == Check::Role::charge && check.decision.admitted) {
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
  checks_.clear();
  for (const Check& check : group.checks) {
    if (!is_for_tables(check) || check.role != Check::Role::charge) continue;
    checks_.push_back({check.states->table, check.rule, request_of(check, check.cost)});
  }
  if (decisions_.size() < checks_.size()) decisions_.resize(checks_.size());
  group.admitted = table::decide_together(checks_, group.now, std::span(decisions_).first(checks_.size()));
  auto decision = decisions_.begin();
  for (Check& check : group.checks) {
    if (is_for_tables(check) && check.role == Check::Role::charge) check.decision = *decision++;
  }
}

void TableDecider::decide(Group& group) {
  group.decided = true;
  switch (group.operation) {
    case Operation::decide: {
      const bool is_plain = group.checks.size() == 1 && group.checks[0].role == Check::Role::charge;
      if (is_plain && is_for_tables(group.checks[0])) return decide_one(group, group.checks[0]);
      return may_pass(group) ? decide_together(group) : look(group, false);
    }
    case Operation::look:
      return look(group, may_pass(group));
    case Operation::settle: {
      const Check& check = group.checks[0];
      check.states->table->settle(*check.rule, check.hash, *group.settlement, group.now);
      group.admitted = true;
      return;
    }
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
