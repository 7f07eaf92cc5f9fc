#include "store/redis/script_plan.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <variant>

namespace weir::store::redis {
namespace {

using core::FineSpan;

// Defined by the script.
enum : std::int64_t { bucket = 1, queue, fixed, counter, log, holds };
enum : std::int64_t { nothing = 0, refund, owe };

// The largest number in the script. It exceeds every limit, so a cost of this size never fits.
constexpr std::int64_t beyond = (std::int64_t{1} << 53) - 1;

constexpr std::int64_t bounded(std::uint64_t number, std::int64_t most = beyond) noexcept {
  return static_cast<std::int64_t>(std::min(number, static_cast<std::uint64_t>(most)));
}

constexpr bool is_exact(Instant instant) noexcept {
  const std::int64_t micros = instant.time_since_epoch().count();
  return micros >= 0 && micros < beyond;
}

std::uint64_t difference(const core::Settlement& settlement) noexcept {
  const std::uint64_t reserved = settlement.reserved.units();
  const std::uint64_t actual = settlement.actual.units();
  return std::max(reserved, actual) - std::min(reserved, actual);
}

std::int64_t how_of(const core::Settlement& settlement) noexcept {
  if (settlement.actual == settlement.reserved) return nothing;
  return settlement.actual < settlement.reserved ? refund : owe;
}

}  // namespace

bool is_log(const core::Rule& rule) noexcept {
  return std::holds_alternative<core::RuleOf<core::SlidingWindowLog>>(rule);
}

TermNumbers::TermNumbers(const ScriptTerm& term, Instant now) noexcept {
  core::visit_rule(*term.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_same_v<A, core::LeakyBucketQueue>) {
      add_bucket(of.limit, queue, term);
    } else if constexpr (std::is_base_of_v<core::ArrivalLimit, typename A::Limit>) {
      add_bucket(of.limit, bucket, term);
    } else if constexpr (std::is_same_v<A, core::FixedWindow>) {
      of.limit.calendar == nullptr ? add_window(of.limit, fixed, term) : add_calendar(of.limit, term, now);
    } else if constexpr (std::is_same_v<A, core::SlidingWindowCounter>) {
      add_window(of.limit, counter, term);
    } else if constexpr (std::is_same_v<A, core::Concurrency>) {
      add_window(of.limit, holds, term);
    } else {
      add_window(of.limit, log, term);
    }
  });
}

void TermNumbers::add_span(FineSpan span) noexcept {
  add(span.whole);
  add(span.nths);
}

void TermNumbers::add_reach(const core::ArrivalLimit& limit) noexcept {
  add_span(limit.reach <= FineSpan{beyond, 0} ? limit.reach : FineSpan{beyond, 0});
}

void TermNumbers::add_token(const core::ArrivalLimit& limit) noexcept {
  add_span(limit.token);
  add(bounded(limit.burst));
}

void TermNumbers::add_bucket(const core::ArrivalLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept {
  if (term.settlement) return add_bucket_settlement(limit, algorithm, *term.settlement);
  const std::uint64_t cost = term.cost.units();
  const bool can_fit = cost <= limit.burst;
  is_simple_ = algorithm == bucket && cost > 0;
  add(algorithm);
  add(bounded(cost));
  add(limit.count);
  add_span(limit.fill);
  add_reach(limit);
  add_span(can_fit ? limit.worth(cost) : FineSpan{beyond, 0});
  add_token(limit);
  add(can_fit && cost > 0 ? bounded(limit.burst / cost) : 0);
  if (algorithm == queue) add(std::clamp<std::int64_t>(term.max_wait.count(), 0, beyond));
}

void TermNumbers::add_bucket_settlement(const core::ArrivalLimit& limit, std::int64_t algorithm,
                                        const core::Settlement& settlement) noexcept {
  const std::uint64_t reserved = settlement.reserved.units();
  const bool is_a_turn = reserved <= limit.burst && is_exact(settlement.charged.at);
  std::int64_t how = how_of(settlement);
  if (algorithm == queue && how == refund && !is_a_turn) how = nothing;
  add(algorithm);
  add(how);
  add(limit.count);
  add_span(limit.fill);
  add_reach(limit);
  add_span(limit.worth(std::min(difference(settlement), 2 * limit.burst)));
  add_token(limit);
  if (algorithm != queue) return add(std::clamp<std::int64_t>(core::micros(settlement.charged.full_at), 0, beyond));
  add(is_a_turn ? core::micros(settlement.charged.at) : 0);
  add_span(is_a_turn ? limit.worth(reserved) : FineSpan{});
}

void TermNumbers::add_window(const core::WindowLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept {
  add(algorithm);
  if (!term.settlement) {
    add(bounded(term.cost.units()));
    add(static_cast<std::int64_t>(limit.limit));
    add(limit.window);
    return;
  }
  const bool can_be = is_exact(term.settlement->charged.at) || algorithm == holds;
  const std::int64_t charged = can_be && algorithm != holds ? core::micros(term.settlement->charged.at) : 0;
  const std::int64_t how = how_of(*term.settlement);
  add(how == refund && !can_be ? std::int64_t{nothing} : how);
  add(static_cast<std::int64_t>(limit.limit));
  add(limit.window);
  add(bounded(difference(*term.settlement), std::int64_t{1} << 40));
  add(algorithm == log ? charged : charged / limit.window);
}

void TermNumbers::add_calendar(const core::FixedWindow::Limit& limit, const ScriptTerm& term, Instant now) noexcept {
  const core::WindowEdges edges = limit.calendar->around(core::micros(now));
  const auto add_edges = [&] {
    add(static_cast<std::int64_t>(limit.limit));
    add(0);  // has no length
    for (const std::int64_t edge : {edges.previous_start, edges.start, edges.end, edges.next_end}) {
      add(std::clamp<std::int64_t>(edge, 0, beyond));
    }
  };
  add(fixed);
  if (!term.settlement) {
    add(bounded(term.cost.units()));
    return add_edges();
  }
  const bool can_be = is_exact(term.settlement->charged.at);
  const std::int64_t how = how_of(*term.settlement);
  add(how == refund && !can_be ? std::int64_t{nothing} : how);
  add_edges();
  add(bounded(difference(*term.settlement), std::int64_t{1} << 40));
  const core::WindowEdges charged =
      can_be ? limit.calendar->around(core::micros(term.settlement->charged.at)) : core::WindowEdges{};
  // The bounds of WindowEdges::is_ended_by: later than the first, and not later than the second.
  add(std::clamp<std::int64_t>((charged.start + charged.end) / 2, 0, beyond));
  add(std::clamp<std::int64_t>((charged.end + charged.next_end) / 2, 0, beyond));
}
namespace {

// The number of earlier terms that a new term is compared with. Batches rarely have more distinct terms, which are then
// sent repeatedly.
constexpr std::size_t terms_compared = 16;

bool is_equal(const store::Check& a, const store::Check& b) noexcept {
  return a.rule == b.rule && a.cost == b.cost && a.max_wait == b.max_wait && a.role == b.role && a.key == b.key;
}

bool charges_back(const Group& group) noexcept {
  return group.operation == store::Operation::decide &&
         std::ranges::any_of(group.checks, [](const store::Check& check) { return check.charge_back() > 0; });
}

bool has_exchange(const Group& group) noexcept {
  return group.operation == store::Operation::decide &&
         std::ranges::any_of(group.checks, [](const store::Check& check) { return check.message() != nullptr; });
}

// True if the operation uses receipts, or might.
bool has_receipts(const Group& group) noexcept {
  if (group.operation >= store::Operation::extend) return true;
  return std::ranges::any_of(group.checks, [](const store::Check& check) { return check.receipt != nullptr; });
}

// True if a check needs all receipts of its key: to list them, or to release the oldest holds.
bool needs_all_receipts(const store::Check& check, store::Operation operation) noexcept {
  return check.holdings != nullptr ||
         (operation == store::Operation::settle && check.receipt == nullptr && core::is_concurrency(*check.rule));
}

// True if a check needs the receipts next to its state. A refund to a bucket moves the receipts of later charges.
bool is_about_receipts(const store::Check& check, store::Operation operation) noexcept {
  if (operation == store::Operation::forget || needs_all_receipts(check, operation)) return true;
  if (check.receipt != nullptr) return static_cast<bool>(check.receipt->id);
  return operation == store::Operation::settle && core::visit_rule(*check.rule, []<class A>(const core::RuleOf<A>&) {
           return std::is_same_v<typename A::State, core::ArrivalState> && !std::is_same_v<A, core::LeakyBucketQueue>;
         });
}

bool can_be_folded(const Group& group) noexcept {
  const auto has_holdings = [](const store::Check& check) { return check.holdings != nullptr; };
  return group.operation <= store::Operation::look && !charges_back(group) && !has_exchange(group) &&
         !has_receipts(group) && std::ranges::none_of(group.checks, has_holdings);
}

// Returns the form of a rule's state. States of one form are interchangeable.
std::size_t form_of(const core::Rule& rule) noexcept {
  return core::visit_rule(rule, []<class A>(const core::RuleOf<A>& of) -> std::size_t {
    if constexpr (std::is_same_v<typename A::State, core::ArrivalState>) return 0;
    if constexpr (std::is_same_v<A, core::FixedWindow>) return of.limit.calendar == nullptr ? 1 : 4;
    if constexpr (std::is_same_v<A, core::Concurrency>) return 5;
    return std::is_same_v<A, core::SlidingWindowCounter> ? 2 : 3;
  });
}

ScriptPlan::Operation operation_of(store::Operation operation, bool has_receipts) noexcept {
  using Operation = ScriptPlan::Operation;
  switch (operation) {
    case store::Operation::decide:
      return has_receipts ? Operation::reserve : Operation::decide;
    case store::Operation::look:
      return has_receipts ? Operation::reserve : Operation::look;
    case store::Operation::settle:
      return has_receipts ? Operation::settle_receipt : Operation::settle;
    case store::Operation::extend:
      return Operation::extend;
    case store::Operation::report:
      return Operation::used;
    case store::Operation::forget:
      break;
  }
  return Operation::forget;
}

}  // namespace

void ScriptPlan::clear() noexcept {
  keys_.clear();
  uses_.clear();
  members_.clear();
  evaluations_.clear();
  checks_.clear();
  terms_.clear();
  lists_slices_ = false;
  now_ = {};
}

bool ScriptPlan::add(Group& group) {
  if (!members_.empty() && (!has_room_for(group) || !goes_with(group))) return false;
  now_ = std::max(now_, group.now);
  if (fold(group)) return true;
  const std::uint32_t exchanges = add_exchanges(group, Operation::report);
  const std::size_t before = evaluations_.size();
  if (charges_back(group)) add_charges_back(group);
  const auto charges = static_cast<std::uint32_t>(evaluations_.size() - before);
  add_evaluation(group);
  members_.push_back({&group, static_cast<std::uint32_t>(evaluations_.size() - 1), charges, exchanges});
  add_exchanges(group, Operation::grant);
  return true;
}

bool ScriptPlan::has_room_for(const Group& group) const noexcept {
  return members_.size() < max_members && keys_.size() + group.checks.size() <= max_keys &&
         checks_.size() + 4 * group.checks.size() <= max_checks;
}

bool ScriptPlan::goes_with(const Group& group) const noexcept {
  const bool must_be_alone = group.operation >= store::Operation::settle;
  return std::ranges::all_of(group.checks, [&](const store::Check& check) {
    const std::uint32_t key = keys_.find(check.key);
    if (key == KeySet<max_keys>::none) return true;
    const KeyUse& use = uses_[key];
    if (use.is_exclusive || (use.is_log && must_be_alone)) return false;
    return use.rule == nullptr || form_of(*use.rule) == form_of(*check.rule);
  });
}

bool ScriptPlan::fold(Group& group) {
  if (evaluations_.empty() || !can_be_folded(group)) return false;
  const std::uint32_t first = keys_.find(group.checks.front().key);
  if (first == KeySet<max_keys>::none) return false;
  const std::uint32_t last = uses_[first].last;
  Evaluation& evaluation = evaluations_[last];
  if (evaluation.model == nullptr || evaluation.model->operation != group.operation ||
      !std::ranges::equal(evaluation.model->checks, group.checks, is_equal)) {
    return false;
  }
  const auto is_last_on = [&](const Check& check) { return uses_[check.key].last == last; };
  if (!std::ranges::all_of(checks_of(evaluation), is_last_on)) return false;
  ++evaluation.copies;
  members_.push_back({&group, last, 0, 0});
  return true;
}

// Charges units back as that many copies of a group that costs one unit, so that the script admits as many as fit.
void ScriptPlan::add_charges_back(const Group& group) {
  for (const store::Check& check : group.checks) {
    if (check.charge_back() == 0) continue;
    const std::uint64_t most = std::uint64_t{1} << 52;
    evaluations_.push_back({.copies = std::min(check.charge_back(), most),
                            .first_check = static_cast<std::uint32_t>(checks_.size()),
                            .checks = 1});
    add_check(check, number_of({.rule = check.rule}), false, store::Operation::decide);
  }
}

std::uint32_t ScriptPlan::add_exchanges(const Group& group, Operation operation) {
  if (!has_exchange(group)) return 0;
  std::uint32_t added = 0;
  for (const store::Check& check : group.checks) {
    if (check.message() == nullptr) continue;
    evaluations_.push_back({.operation = operation,
                            .first_check = static_cast<std::uint32_t>(checks_.size()),
                            .checks = 1,
                            .exchange = check.message()});
    add_check(check, number_of({.rule = check.rule}), false, store::Operation::decide);
    ++added;
  }
  return added;
}

void ScriptPlan::add_evaluation(const Group& group) {
  const bool uses_receipts = has_receipts(group);
  const bool is_plain_settlement = group.operation == store::Operation::settle && !uses_receipts;
  const std::size_t checks = is_plain_settlement ? 1 : group.checks.size();
  evaluations_.push_back({.operation = operation_of(group.operation, uses_receipts),
                          .first_check = static_cast<std::uint32_t>(checks_.size()),
                          .checks = static_cast<std::uint32_t>(checks),
                          .model = can_be_folded(group) ? &group : nullptr,
                          .only_peeks = group.operation == store::Operation::look});
  bool repeats = false;
  for (const store::Check& check : std::span(group.checks).first(checks)) {
    ScriptTerm term{check.rule, check.cost, check.max_wait};
    if (is_plain_settlement) term.settlement = group.settlement;
    const std::uint32_t number = group.operation == store::Operation::forget ? no_term : number_of(term);
    const bool is_guard = group.operation <= store::Operation::look && check.role == store::Check::Role::guard;
    repeats |= add_check(check, number, is_guard, group.operation);
    checks_.back().receipt = check.receipt;
  }
  Evaluation& evaluation = evaluations_.back();
  if (!repeats || group.operation > store::Operation::look || uses_receipts) return;
  const bool is_look = evaluation.operation == Operation::look;
  evaluation.operation = is_look ? Operation::look_in_steps : Operation::decide_in_steps;
  evaluation.model = nullptr;
}

bool ScriptPlan::add_check(const store::Check& check, std::uint32_t term, bool is_guard, store::Operation operation) {
  const std::size_t known = keys_.size();
  const std::uint32_t key = keys_.insert(check.key);
  if (key == known) uses_.push_back({.last = UINT32_MAX});
  KeyUse& use = uses_[key];
  const auto evaluation = static_cast<std::uint32_t>(evaluations_.size() - 1);
  const bool repeats = use.last == evaluation;
  use.last = evaluation;
  use.is_log = is_log(*check.rule);
  use.is_exclusive = use.is_log && operation >= store::Operation::settle;
  use.has_receipts = use.has_receipts || is_about_receipts(check, operation);
  use.lists_receipts = use.lists_receipts || needs_all_receipts(check, operation);
  if (use.rule == nullptr && term != no_term) {
    use.rule = check.rule;
    use.is_bucket = form_of(*check.rule) == 0;
    use.term = term;
  }
  lists_slices_ = lists_slices_ || check.holdings != nullptr;
  checks_.push_back({.key = key, .term = term, .is_guard = is_guard});
  return repeats;
}

std::uint32_t ScriptPlan::number_of(const ScriptTerm& term) {
  const std::size_t oldest = terms_.size() - std::min(terms_.size(), terms_compared);
  for (std::size_t i = terms_.size(); i > oldest; --i) {
    if (terms_[i - 1].is_same(term)) return static_cast<std::uint32_t>(i - 1);
  }
  terms_.push_back(term);
  return static_cast<std::uint32_t>(terms_.size() - 1);
}

}  // namespace weir::store::redis
