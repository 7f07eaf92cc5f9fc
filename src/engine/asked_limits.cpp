#include "engine/asked_limits.h"

#include "table/together.h"

namespace weir::engine {

static_assert(match::max_limits == table::max_group_size);

namespace {

using store::Check;
using store::Group;
using store::Path;
using store::States;

}  // namespace

void AskedLimits::begin(const EvaluationOptions& request_options, std::size_t count) {
  options = request_options;
  if (outcomes.size() != count) {
    outcomes.resize(count);
    limits.resize(count);
  }
  live.clear();
  texts.clear();
  closed.reset();
  opened = too_many = false;
}

// True if the consumer shares a key with others. A charge to a shared key must not be refunded, because other consumers
// were charged on it as well, and a peek must not count as a new key.
bool AskedLimits::shares_key(store::NewKeyBound& new_keys, std::size_t i) {
  if (limits[i].gives_back) return false;
  const table::KeyHash consumer = outcomes[i].consumer;
  const Instant now = evaluation_.now();
  const bool is_admitted = options.peek ? new_keys.would_admit(consumer, now) : new_keys.admit(consumer, now);
  if (!is_admitted) new_keys.write_overflow(consumer, overflow_text_);
  return !is_admitted;
}

Check& AskedLimits::add_check(Group& group, std::size_t i, const States& states, const core::Rule& rule, Cost cost) {
  Check& check = evaluation_.next_check(group);
  check.states = &states;
  check.rule = &rule;
  check.hash = limits[i].consumer;
  check.cost = cost;
  check.role = Check::Role::charge;
  check.path = Path::store;
  check.holdings = options.wants_holdings && &states == limits[i].states ? &evaluation_.result().holdings : nullptr;
  check.receipt = options.receipts == nullptr ? nullptr : use_of(i, states, rule);
  check.max_wait = outcomes[i].max_wait;
  check.wants_more_after = options.wants_more_after;
  if (states.name != nullptr) evaluation_.bindings().shared_keys()->write(*states.name, text(i), check.key);
  return check;
}

void AskedLimits::read_decisions(Group& group) noexcept {
  if (!group.decided) {
    for (Check& check : group.checks) {
      check.path = Path::closed;
      check.decision = {};
      check.decision.retry_after = check.decision.reset_after = store::closed_retry_after;
    }
  }
  for (std::size_t c = 0; c < live.size(); ++c) outcomes[live[c]].decision = group.checks[c].decision;
}

std::size_t AskedLimits::read_paths(const Group& group) noexcept {
  StorePaths* const paths = evaluation_.paths();
  if (paths == nullptr && group.decided && group.failure == store::Failure::none)
    return 0;  // the store decided every limit
  std::size_t kept = 0;
  std::size_t closed_quotas = 0;
  for (std::size_t c = 0; c < live.size(); ++c) {
    const Check& check = group.checks[c];
    const std::uint32_t i = live[c];
    if (paths != nullptr && !options.peek) paths->raise(check.path);
    if (check.path != Path::open && check.path != Path::closed) {
      live[kept++] = i;
      continue;
    }
    outcomes[i].decision = check.decision;
    if (check.path == Path::open) {
      opened = limits[i].was_open = true;
      continue;
    }
    limits[i].was_closed = true;
    if (limits[i].quota) {
      ++closed_quotas;
    } else if (!closed) {
      closed = i;
    }
  }
  live.resize(kept);
  return closed_quotas;
}

void AskedLimits::read_report(const Group& group) noexcept {
  for (std::size_t c = 0; c < live.size(); ++c) {
    const Check& check = group.checks[c];
    Decision& decision = outcomes[live[c]].decision;
    decision = check.decision;
    core::admit_again(decision);
    if (evaluation_.paths() != nullptr) evaluation_.paths()->raise(check.path);
    if (!group.decided) uses_[live[c]].result = core::ReceiptResult::none;
  }
}

// --- receipts

void AskedLimits::prepare_receipts() {
  uses_.assign(2 * outcomes.size(), {});
  const ReceiptRequest& ask = *options.receipts;
  receipt_id_ = ask.id || ask.action == ReceiptRequest::Action::report ? ask.id : new_receipt_id();
}

// Returns null if the check has no receipt: blocks, warnings and counts of denials are never refunded.
core::ReceiptUse* AskedLimits::use_of(std::size_t i, const States& states, const core::Rule& rule) {
  const bool is_candidate = &states == limits[i].candidate;
  if (!is_candidate && &states != limits[i].states) return nullptr;
  const ReceiptRequest& ask = *options.receipts;
  const bool is_for_holds =
      ask.action == ReceiptRequest::Action::hold || ask.action == ReceiptRequest::Action::give_back;
  if (is_for_holds && !core::is_concurrency(rule)) return nullptr;
  core::ReceiptUse& use = uses_[is_candidate ? outcomes.size() + i : i];
  use = {.id = receipt_id_, .lasts = ask.lasts_for(rule)};
  return &use;
}

bool AskedLimits::opened_receipt(std::size_t i) const noexcept {
  const auto is_open = [](const core::ReceiptUse& use) {
    return use.result == core::ReceiptResult::done || use.result == core::ReceiptResult::repeated;
  };
  return is_open(uses_[i]) || is_open(uses_[outcomes.size() + i]);
}

void AskedLimits::write_receipt_outcomes() {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const core::ReceiptUse& use = uses_[i];
    if (!use.id && !is_report()) continue;  // no receipt was asked for
    if (limits[i].states == nullptr) continue;
    const std::uint32_t limit = outcomes[i].limit;  // no_limit for a descriptor that overrides its limit
    evaluation_.result().receipt_outcomes.push_back({limit == Verdict::no_limit ? std::nullopt : std::optional(limit),
                                                     use.result, use.lost, use.ends, outcomes[i].decision});
  }
}

}  // namespace weir::engine
