#include "engine/receipt_evaluation.h"

#include <algorithm>
#include <span>
#include <string>

namespace weir::engine {
namespace {

using store::Check;
using store::Group;
using store::Operation;
using store::States;

}  // namespace

// Prepares one group for the limits and one for their candidates.
void ReceiptEvaluation::begin(const Bindings& bindings, const ReceiptParts& receipt, const ReceiptRequest& ask,
                              Instant now) {
  start(bindings, now, &ReceiptEvaluation::read);
  targets_.clear();
  const std::size_t count = receipt.parts.size();
  auto& outcomes = result().receipt_outcomes;
  outcomes.resize(count);
  const auto& tiers = bindings.tier_codes();
  const auto tier = static_cast<std::uint32_t>(std::ranges::find(tiers, receipt.tier) - tiers.begin());
  for (std::size_t i = 0; i < count; ++i) {
    outcomes[i].limit = bindings.find_limit(receipt.parts[i].limit);
    if (!outcomes[i].limit) continue;
    outcomes[i].result = core::ReceiptResult::ended;  // the result unless read() finds the receipt
    find_states(i, bindings.limits()[*outcomes[i].limit].live, tier);
  }
  live_count_ = targets_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (outcomes[i].limit) find_states(i, bindings.limits()[*outcomes[i].limit].candidate, tier);
  }
  const Operation operation = ask.action == ReceiptRequest::Action::extend ? Operation::extend : Operation::settle;
  Group* group = nullptr;
  for (std::size_t n = 0; n < targets_.size(); ++n) {
    if (n == 0 || n == live_count_) group = &new_group(operation, store::Fallback::none);
    add_check(*group, targets_[n], receipt, ask);
  }
}

// Adds the states of the tier. If the policy no longer has or limits the tier, adds those of all other tiers, since
// tiers with the same window share their states.
void ReceiptEvaluation::find_states(std::size_t part, const TierStates& tiers, std::uint32_t tier) {
  if (const States* const own = states_of(tiers, tier)) {
    targets_.push_back({part, own, {}});
    return;
  }
  const std::size_t first = targets_.size();
  for (const auto& states : tiers) {
    const auto is_same = [&](const Target& other) { return other.states->table == states->table; };
    if (states && std::ranges::none_of(std::span(targets_).subspan(first), is_same))
      targets_.push_back({part, &*states, {}});
  }
}

void ReceiptEvaluation::add_check(Group& group, Target& target, const ReceiptParts& receipt,
                                  const ReceiptRequest& ask) {
  const ReceiptParts::Part& part = receipt.parts[target.part];
  target.use = {.id = receipt.id, .lasts = ask.lasts_for(target.states->rule)};
  if (ask.action == ReceiptRequest::Action::release) target.use.actual = Cost{0};
  if (ask.action == ReceiptRequest::Action::settle && part.takes_actual) target.use.actual = ask.actual;
  Check& check = next_check(group);
  check = Check{};
  check.states = target.states;
  check.rule = &target.states->rule;
  check.hash = part.consumer;
  check.cost = Cost{0};
  check.receipt = &target.use;
  const store::SharedName* const name = target.states->name;
  if (name != nullptr) store::SharedKeys::write_again(*name, receipt.consumers[part.text], check.key);
}

void ReceiptEvaluation::read() {
  const auto groups = take_answers();
  if (!groups.empty()) result().verdict.at = groups[0].now;
  for (std::size_t n = 0; n < live_count_; ++n) {
    const core::ReceiptUse& use = targets_[n].use;
    ReceiptOutcome& outcome = result().receipt_outcomes[targets_[n].part];
    const bool is_first = n == 0 || targets_[n - 1].part != targets_[n].part;
    const bool is_known = outcome.result == core::ReceiptResult::done;
    if (!is_first && (is_known || use.result == core::ReceiptResult::ended)) continue;
    outcome.result = use.result;
    outcome.lost = use.lost;
    outcome.ends = use.ends;
    outcome.decision = groups[0].checks[n].decision;
  }
}

}  // namespace weir::engine
