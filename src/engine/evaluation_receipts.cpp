// What an evaluation has to do with receipts: those that a request opens, and what is done with one later.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/evaluation.h"

namespace weir::engine {
namespace {

using store::Check;
using store::Fallback;
using store::Group;
using store::Operation;
using store::States;

// Until a receipt ends, where nobody says for how long.
Duration lasts_of(const core::Rule& rule, Duration asked) noexcept {
  if (asked > Duration::zero()) return asked;
  const auto* const holds = std::get_if<core::RuleOf<core::Concurrency>>(&rule);
  return holds == nullptr ? ReceiptAsk::usual : Duration{holds->limit.window};
}

// Where a receipt of that tier may lie: beside the states of the tier. If the policy has the tier no more, or limits it
// no more, beside those of the other tiers, since tiers with the same window share their states.
std::vector<const States*> tables_of_receipt(const TierStates& tiers, std::uint32_t tier) {
  if (const States* const own = states_of(tiers, tier)) return {own};
  std::vector<const States*> found;
  for (const auto& states : tiers) {
    const auto is_same = [&](const States* other) { return other->table == states->table; };
    if (states && std::ranges::none_of(found, is_same)) found.push_back(&*states);
  }
  return found;
}

}  // namespace

// The receipt of what is going to be charged has to be one that can be told: where it would be too long, nothing is
// charged.
void Evaluation::prepare_receipts() {
  uses_.assign(2 * outcomes_.size(), {});
  const ReceiptAsk& ask = *options_.receipts;
  const bool is_named = static_cast<bool>(ask.id);
  receipt_id_ = is_named || ask.what == ReceiptAsk::What::report ? ask.id : new_receipt_id();
  if (ask.what == ReceiptAsk::What::report || ask.what == ReceiptAsk::What::give_back || options_.peek) return;
  write_receipt([&](std::size_t i) { return ask.what == ReceiptAsk::What::reserve || parts_[i].is_on_holds(); });
  if (receipt_.bytes() > Receipt::most_bytes) too_many_ = true;
  receipt_.clear();
}

// Null: this check has none. What a block, a warning or a count of denials takes is not given back.
core::ReceiptUse* Evaluation::use_of(std::size_t i, const States& states, const core::Rule& rule) {
  const bool is_candidate = &states == parts_[i].candidate;
  if (!is_candidate && &states != parts_[i].states) return nullptr;
  const ReceiptAsk& ask = *options_.receipts;
  const bool is_for_holds = ask.what == ReceiptAsk::What::hold || ask.what == ReceiptAsk::What::give_back;
  if (is_for_holds && !core::is_concurrency(rule)) return nullptr;
  core::ReceiptUse& use = uses_[is_candidate ? outcomes_.size() + i : i];
  use = {.id = receipt_id_, .lasts = lasts_of(rule, ask.lasts)};
  return &use;
}

// A limit on holds that was asked in a way that can carry no receipt.
std::optional<std::uint32_t> Evaluation::lacking_receipt() const noexcept {
  if (options_.receipts != nullptr || is_descriptors_) return std::nullopt;
  const auto is_it = [&](std::uint32_t i) {
    return !outcomes_[i].decision.admitted && core::is_concurrency(*parts_[i].rule);
  };
  const auto found = std::ranges::find_if(live_, is_it);
  return found == live_.end() ? std::nullopt : std::optional(outcomes_[*found].limit);
}

// It has been charged, whatever is left.
void Evaluation::read_report() {
  const Group& group = groups_[0];
  for (std::size_t c = 0; c < live_.size(); ++c) {
    const Check& check = group.checks[c];
    Decision& decision = outcomes_[live_[c]].decision;
    decision = check.decision;
    core::admit_again(decision);
    if (paths_ != nullptr) paths_->raise(check.path);
    if (!group.decided) uses_[live_[c]].result = core::ReceiptResult::none;
  }
  used_ = 0;
  deniers_ = {};
  reason_ = live_.empty() ? Reason::uncovered : Reason::within;
  conclude(true);
}

template <class Filter>
void Evaluation::write_receipt(Filter is_part) {
  receipt_.clear();
  receipt_.id = receipt_id_;
  receipt_.tier = Receipt::name_code(bindings_->ruleset().tiers.names[matched.caller.tier]);
  std::string text;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (!is_part(i)) continue;
    text.clear();
    if (bindings_->shared_keys() != nullptr) bindings_->shared_keys()->append_consumer(consumer_text(i), text);
    receipt_.add(limit_of(i).source->name, parts_[i].consumer, text, matched.limits[i].takes_cost);
  }
}

// What was opened, behind the last step.
void Evaluation::tell_receipts() {
  if (options_.peek || too_many_ || is_give_back() || uses_.size() != 2 * outcomes_.size()) return;
  const auto is_open = [](const core::ReceiptUse& use) {
    return use.result == core::ReceiptResult::done || use.result == core::ReceiptResult::repeated;
  };
  const bool opens = !is_report();
  if (opens && !verdict_.admitted) return;
  if (opens) write_receipt([&](std::size_t i) { return is_open(uses_[i]) || is_open(uses_[outcomes_.size() + i]); });
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const core::ReceiptUse& use = uses_[i];
    if (!use.id && opens) continue;  // it was not asked for
    if (parts_[i].states == nullptr) continue;
    const std::uint32_t limit = outcomes_[i].limit;  // none of a descriptor that brought its own
    receipt_outcomes_.push_back({limit == Verdict::no_limit ? std::nullopt : std::optional(limit), use.result, use.lost,
                                 use.ends, outcomes_[i].decision});
  }
}

// One group for the limits, and one for their candidates, whose answers nobody is told.
void Evaluation::begin_receipt(const Bindings& bindings, const Receipt& receipt, const ReceiptAsk& ask, Instant now) {
  options_ = {};
  start(bindings, now, 0);
  stage_ = Stage::receipt;
  settled_ = &receipt;
  const std::size_t count = receipt.parts.size();
  receipt_outcomes_.resize(count);
  const auto& names = bindings.ruleset().tiers.names;
  const auto tier =
      static_cast<std::uint32_t>(std::ranges::find(names, receipt.tier, Receipt::name_code) - names.begin());
  const Operation operation = ask.what == ReceiptAsk::What::extend ? Operation::extend : Operation::settle;
  std::vector<const BoundLimit*> limits(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_it = [&](const BoundLimit& one) {
      return Receipt::name_code(one.source->name) == receipt.parts[i].limit;
    };
    const auto found = std::ranges::find_if(bindings.limits(), is_it);
    if (found == bindings.limits().end()) continue;
    limits[i] = &*found;
    receipt_outcomes_[i].limit = static_cast<std::uint32_t>(found - bindings.limits().begin());
    receipt_outcomes_[i].result = core::ReceiptResult::ended;  // unless it is found below
  }
  struct Asked {
    std::size_t part;
    const States* states;
  };
  std::vector<Asked> asked;
  const auto add = [&](std::size_t part, const TierStates& of_tiers) {
    for (const States* const states : tables_of_receipt(of_tiers, tier)) asked.push_back({part, states});
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (limits[i] != nullptr) add(i, limits[i]->live);
  }
  const std::size_t of_candidates = asked.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (limits[i] != nullptr) add(i, limits[i]->candidate);
  }
  uses_.assign(asked.size(), {});
  use_parts_.clear();
  for (std::size_t i = 0; i < of_candidates; ++i) use_parts_.push_back(asked[i].part);
  Group* group = nullptr;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (i == 0 || i == of_candidates) group = &new_group(operation, Fallback::none);
    const auto& [part, states] = asked[i];
    core::ReceiptUse& use = uses_[i];
    use = {.id = receipt.id, .lasts = lasts_of(states->rule, ask.lasts)};
    if (ask.what == ReceiptAsk::What::release) use.actual = Cost{0};
    if (ask.what == ReceiptAsk::What::settle && receipt.parts[part].takes_actual) use.actual = ask.actual;
    add_receipt_check(*group, *states, part, use);
  }
}

void Evaluation::add_receipt_check(Group& group, const States& states, std::size_t part, core::ReceiptUse& use) {
  if (checks_used_ == group.checks.size()) group.checks.emplace_back();
  Check& check = group.checks[checks_used_++];
  check = Check{};
  check.states = &states;
  check.rule = &states.rule;
  check.hash = settled_->parts[part].consumer;
  check.cost = Cost{0};
  check.receipt = &use;
  const std::string& text = settled_->consumers[settled_->parts[part].text];
  if (states.name != nullptr) store::SharedKeys::write_again(*states.name, text, check.key);
}

void Evaluation::read_receipt() {
  if (used_ > 0) verdict_.at = groups_[0].now;
  for (const Group& group : groups()) {
    for (const Check& check : group.checks) {
      const auto number = static_cast<std::size_t>(check.receipt - uses_.data());
      if (number >= use_parts_.size()) continue;  // a candidate's
      ReceiptOutcome& outcome = receipt_outcomes_[use_parts_[number]];
      const bool is_first = number == 0 || use_parts_[number - 1] != use_parts_[number];
      const bool is_known = outcome.result == core::ReceiptResult::done;
      if (!is_first && (is_known || check.receipt->result == core::ReceiptResult::ended)) continue;
      outcome.result = check.receipt->result;
      outcome.lost = check.receipt->lost;
      outcome.ends = check.receipt->ends;
      outcome.decision = check.decision;
    }
  }
  over_ = true;
}

}  // namespace weir::engine
