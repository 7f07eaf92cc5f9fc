#include "store/redis/script_plan.h"

#include <algorithm>
#include <span>
#include <type_traits>

namespace weir::store::redis {
namespace {

// Terms with which a new one is compared. More that differ are rare in a batch, and sent as often as they occur.
constexpr std::size_t terms_compared = 16;

bool is_equal(const SharedCheck& a, const SharedCheck& b) noexcept {
  return a.rule == b.rule && a.cost == b.cost && a.max_wait == b.max_wait && a.role == b.role && a.key == b.key;
}

bool charges_back(const SharedAsk& ask) noexcept {
  return ask.operation == SharedOperation::decide &&
         std::ranges::any_of(ask.checks, [](const SharedCheck& check) { return check.charge_back > 0; });
}

bool can_be_folded(const SharedAsk& ask) noexcept {
  return ask.operation <= SharedOperation::look && !charges_back(ask);
}

// The forms of states: those of one form may stand for each other.
std::size_t form_of(const core::Rule& rule) noexcept {
  return core::visit_rule(rule, []<class A>(const core::RuleOf<A>&) -> std::size_t {
    if constexpr (std::is_same_v<typename A::State, core::ArrivalState>) return 0;
    return std::is_same_v<A, core::FixedWindow> ? 1 : std::is_same_v<A, core::SlidingWindowCounter> ? 2 : 3;
  });
}

ScriptPlan::Operation operation_of(SharedOperation operation) noexcept {
  switch (operation) {
    case SharedOperation::decide:
      return ScriptPlan::Operation::decide;
    case SharedOperation::look:
      return ScriptPlan::Operation::look;
    case SharedOperation::settle:
      return ScriptPlan::Operation::settle;
    case SharedOperation::forget:
      break;
  }
  return ScriptPlan::Operation::forget;
}

}  // namespace

void ScriptPlan::clear() noexcept {
  keys_.clear();
  uses_.clear();
  members_.clear();
  evaluations_.clear();
  checks_.clear();
  terms_.clear();
}

bool ScriptPlan::add(SharedAsk& ask) {
  if (!members_.empty() && (!has_room_for(ask) || !goes_with(ask))) return false;
  if (fold(ask)) return true;
  const std::size_t before = evaluations_.size();
  if (charges_back(ask)) add_charges_back(ask);
  const auto charges = static_cast<std::uint32_t>(evaluations_.size() - before);
  add_evaluation(ask);
  members_.push_back({&ask, static_cast<std::uint32_t>(evaluations_.size() - 1), charges});
  return true;
}

bool ScriptPlan::has_room_for(const SharedAsk& ask) const noexcept {
  return members_.size() < most_asks && keys_.size() + ask.checks.size() <= most_keys &&
         checks_.size() + 2 * ask.checks.size() <= most_checks;
}

bool ScriptPlan::goes_with(const SharedAsk& ask) const noexcept {
  const bool wants_alone = ask.operation >= SharedOperation::settle;
  return std::ranges::all_of(ask.checks, [&](const SharedCheck& check) {
    const std::uint32_t key = keys_.find(check.key);
    if (key == KeySet<most_keys>::none) return true;
    const KeyUse& use = uses_[key];
    if (use.keeps_alone || (use.is_log && wants_alone)) return false;
    return use.rule == nullptr || form_of(*use.rule) == form_of(*check.rule);
  });
}

bool ScriptPlan::fold(SharedAsk& ask) {
  if (evaluations_.empty() || !can_be_folded(ask)) return false;
  const std::uint32_t first = keys_.find(ask.checks.front().key);
  if (first == KeySet<most_keys>::none) return false;
  const std::uint32_t last = uses_[first].last;
  Evaluation& evaluation = evaluations_[last];
  if (evaluation.model == nullptr || evaluation.model->operation != ask.operation ||
      !std::ranges::equal(evaluation.model->checks, ask.checks, is_equal)) {
    return false;
  }
  const auto is_last_on = [&](const Check& check) { return uses_[check.key].last == last; };
  if (!std::ranges::all_of(checks_of(evaluation), is_last_on)) return false;
  ++evaluation.copies;
  members_.push_back({&ask, last, 0});
  return true;
}

// What is charged back is so many equal asks for one, of which as many are admitted as fit.
void ScriptPlan::add_charges_back(const SharedAsk& ask) {
  for (const SharedCheck& check : ask.checks) {
    if (check.charge_back == 0) continue;
    const std::uint64_t most = std::uint64_t{1} << 52;
    evaluations_.push_back({.copies = std::min(check.charge_back, most),
                            .first_check = static_cast<std::uint32_t>(checks_.size()),
                            .checks = 1});
    add_check(check, number_of({.rule = check.rule}), false, SharedOperation::decide);
  }
}

void ScriptPlan::add_evaluation(const SharedAsk& ask) {
  const std::size_t checks = ask.operation == SharedOperation::settle ? 1 : ask.checks.size();
  evaluations_.push_back({.operation = operation_of(ask.operation),
                          .first_check = static_cast<std::uint32_t>(checks_.size()),
                          .checks = static_cast<std::uint32_t>(checks),
                          .model = can_be_folded(ask) ? &ask : nullptr});
  bool repeats = false;
  for (const SharedCheck& check : std::span(ask.checks).first(checks)) {
    ScriptTerm term{check.rule, check.cost, check.max_wait};
    if (ask.operation == SharedOperation::settle) term.settlement = ask.settlement;
    const std::uint32_t number = ask.operation == SharedOperation::forget ? no_term : number_of(term);
    repeats |= add_check(check, number, check.role == SharedCheck::Role::guard, ask.operation);
  }
  Evaluation& evaluation = evaluations_.back();
  if (!repeats || ask.operation > SharedOperation::look) return;
  const bool is_look = evaluation.operation == Operation::look;
  evaluation.operation = is_look ? Operation::look_in_steps : Operation::decide_in_steps;
  evaluation.model = nullptr;
}

bool ScriptPlan::add_check(const SharedCheck& check, std::uint32_t term, bool is_guard, SharedOperation operation) {
  const std::size_t known = keys_.size();
  const std::uint32_t key = keys_.insert(check.key);
  if (key == known) uses_.push_back({.last = UINT32_MAX});
  KeyUse& use = uses_[key];
  const auto evaluation = static_cast<std::uint32_t>(evaluations_.size() - 1);
  const bool repeats = use.last == evaluation;
  use.last = evaluation;
  use.is_log = is_log(*check.rule);
  use.keeps_alone = use.is_log && operation >= SharedOperation::settle;
  if (use.rule == nullptr && term != no_term) {
    use.rule = check.rule;
    use.is_bucket = form_of(*check.rule) == 0;
    use.term = term;
  }
  checks_.push_back({key, term, is_guard});
  return repeats;
}

std::uint32_t ScriptPlan::number_of(const ScriptTerm& term) {
  const std::size_t oldest = terms_.size() - std::min(terms_.size(), terms_compared);
  for (std::size_t i = terms_.size(); i > oldest; --i) {
    if (terms_[i - 1].says_the_same(term)) return static_cast<std::uint32_t>(i - 1);
  }
  terms_.push_back(term);
  return static_cast<std::uint32_t>(terms_.size() - 1);
}

}  // namespace weir::store::redis
