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

// One group for the limits, and one for their candidates.
void ReceiptEvaluation::begin(const Bindings& bindings, const ReceiptParts& receipt, const ReceiptAsk& ask,
                              Instant now) {
  start(bindings, now, &ReceiptEvaluation::read);
  asked_.clear();
  const std::size_t count = receipt.parts.size();
  auto& outcomes = result().receipt_outcomes;
  outcomes.resize(count);
  const auto& tiers = bindings.tier_codes();
  const auto tier = static_cast<std::uint32_t>(std::ranges::find(tiers, receipt.tier) - tiers.begin());
  for (std::size_t i = 0; i < count; ++i) {
    outcomes[i].limit = bindings.find_limit(receipt.parts[i].limit);
    if (!outcomes[i].limit) continue;
    outcomes[i].result = core::ReceiptResult::ended;  // unless it is found
    find_states(i, bindings.limits()[*outcomes[i].limit].live, tier);
  }
  of_limits_ = asked_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (outcomes[i].limit) find_states(i, bindings.limits()[*outcomes[i].limit].candidate, tier);
  }
  const Operation operation = ask.what == ReceiptAsk::What::extend ? Operation::extend : Operation::settle;
  Group* group = nullptr;
  for (std::size_t n = 0; n < asked_.size(); ++n) {
    if (n == 0 || n == of_limits_) group = &new_group(operation, store::Fallback::none);
    add_check(*group, asked_[n], receipt, ask);
  }
}

// Beside the states of the tier. If the policy has the tier no more, or limits it no more, beside those of the other
// tiers, since tiers with the same window share their states.
void ReceiptEvaluation::find_states(std::size_t part, const TierStates& tiers, std::uint32_t tier) {
  if (const States* const own = states_of(tiers, tier)) {
    asked_.push_back({part, own, {}});
    return;
  }
  const std::size_t first = asked_.size();
  for (const auto& states : tiers) {
    const auto is_same = [&](const Asked& other) { return other.states->table == states->table; };
    if (states && std::ranges::none_of(std::span(asked_).subspan(first), is_same))
      asked_.push_back({part, &*states, {}});
  }
}

void ReceiptEvaluation::add_check(Group& group, Asked& asked, const ReceiptParts& receipt, const ReceiptAsk& ask) {
  const ReceiptParts::Part& part = receipt.parts[asked.part];
  asked.use = {.id = receipt.id, .lasts = ask.lasts_for(asked.states->rule)};
  if (ask.what == ReceiptAsk::What::release) asked.use.actual = Cost{0};
  if (ask.what == ReceiptAsk::What::settle && part.takes_actual) asked.use.actual = ask.actual;
  Check& check = next_check(group);
  check = Check{};
  check.states = asked.states;
  check.rule = &asked.states->rule;
  check.hash = part.consumer;
  check.cost = Cost{0};
  check.receipt = &asked.use;
  const store::SharedName* const name = asked.states->name;
  if (name != nullptr) store::SharedKeys::write_again(*name, receipt.consumers[part.text], check.key);
}

void ReceiptEvaluation::read() {
  const auto groups = take_answers();
  if (!groups.empty()) result().verdict.at = groups[0].now;
  for (std::size_t n = 0; n < of_limits_; ++n) {
    const core::ReceiptUse& use = asked_[n].use;
    ReceiptOutcome& outcome = result().receipt_outcomes[asked_[n].part];
    const bool is_first = n == 0 || asked_[n - 1].part != asked_[n].part;
    const bool is_known = outcome.result == core::ReceiptResult::done;
    if (!is_first && (is_known || use.result == core::ReceiptResult::ended)) continue;
    outcome.result = use.result;
    outcome.lost = use.lost;
    outcome.ends = use.ends;
    outcome.decision = groups[0].checks[n].decision;
  }
}

}  // namespace weir::engine
