#include "engine/query_evaluation.h"

#include <algorithm>
#include <new>
#include <string>

#include "match/consumer.h"

namespace weir::engine {
namespace {

using store::Check;
using store::Fallback;
using store::Group;
using store::Operation;
using store::Path;
using store::States;

// More remains when the block ends, or later if the limit itself is empty until then. Must be called before
// deny_for_block and begin_block, which set `remaining` to zero.
void wait_for_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept {
  const Duration wait = block_wait.value_or(Duration::zero());
  const Duration own = decision.more_after.value_or(Duration::zero());
  decision.more_after = decision.remaining > 0 ? wait : std::max(own, wait);
}

Reason reason_of(match::Exemption outright) noexcept {
  if (outright == match::Exemption::reserve_too_large) return Reason::reserve_too_large;
  if (outright == match::Exemption::blocked) return Reason::blocked_by_operator;
  return outright == match::Exemption::banned ? Reason::banned : Reason::key_missing;
}

// A peek at a concurrency limit returns what a reserve would return.
constexpr ReceiptRequest peek_at_holds{.action = ReceiptRequest::Action::hold};

}  // namespace

void QueryEvaluation::begin(const Bindings& bindings, const EvaluationOptions& options, Instant now) {
  start(bindings, now, &QueryEvaluation::read_live);
  blocked_ = false;
  asked_.begin(options, matched.limits.size());
  const ReceiptRequest*& receipts = asked_.options.receipts;
  if (options.peek && receipts == nullptr) receipts = &peek_at_holds;
  for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) begin_outcome(i);
  // A hold opens receipts only for concurrency limits, which most policies do not have.
  const bool only_holds = receipts != nullptr && receipts->action == ReceiptRequest::Action::hold;
  if (only_holds && std::ranges::none_of(asked_.limits, &AskedLimit::is_concurrency)) receipts = nullptr;
  if (receipts != nullptr) {
    prepare_receipts();
    if (receipts->action == ReceiptRequest::Action::reserve) check_max_reserve();
  }
  if (asked_.too_many) {  // none is asked
    for (Outcome& outcome : asked_.outcomes) outcome.decision = {.admitted = true};
  } else if (!asked_.live.empty()) {
    ask_live();
  }
}

// Reuses the outcome of an earlier request, since it is large to construct: every field must be set.
void QueryEvaluation::begin_outcome(std::size_t i) {
  const match::MatchedLimit& limit = matched.limits[i];
  const BoundLimit& bound = bindings().limits()[limit.limit];
  const bool is_replaced = limit.replaced != nullptr;  // by the numbers of an override
  const States* const own = states_of(bound.live, is_replaced ? limit.replaced->states_tier : matched.caller.tier);
  const States* const own_candidate = states_of(bound.candidate, matched.caller.tier);
  const States& any = own != nullptr ? *own : *own_candidate;
  // A report charges only limits that take the caller's cost. The others were charged when the request was checked.
  const bool is_charged_already = asked_.is_report() && !limit.takes_cost;
  const States* const live = is_charged_already ? nullptr : own;
  const States* const candidate = is_charged_already ? nullptr : own_candidate;
  const bool gives_back = asked_.is_give_back();
  const bool is_live = bound.source->mode == policy::Mode::enforce;
  Outcome& outcome = asked_.outcomes[i];
  outcome.limit = limit.limit;
  outcome.route = limit.route;
  outcome.standing = is_live ? Standing::live : Standing::shadow;
  outcome.consumer = any.table->hash(matched.key(i));
  outcome.cost = limit.cost;
  outcome.max_wait = asked_.options.max_wait;
  if (!is_live || live == nullptr || gives_back) {  // the decision if the limit is not asked
    outcome.decision = Decision{};
    outcome.decision.admitted = true;
  }
  outcome.candidate.reset();
  asked_.limits[i] = {.states = live,
                      .rule = live == nullptr ? nullptr
                              : is_replaced   ? &limit.replaced->rule
                                              : &live->rule,
                      .candidate = candidate,
                      .gives_back = gives_back};
  asked_.set_consumer(i, &bound, any,
                      [&](std::string& texts) { match::append_shared_consumer(texts, matched.key(i)); });
  if (candidate != nullptr || ((!is_live || gives_back) && live != nullptr)) ask_later();
  if (is_live && live != nullptr && !gives_back) asked_.add_live(i);
}

// Writes the largest possible receipt in advance: if it would be too long to be sent, nothing may be charged.
void QueryEvaluation::prepare_receipts() {
  asked_.prepare_receipts();
  const auto action = asked_.options.receipts->action;
  if (asked_.is_report() || asked_.is_give_back() || asked_.options.peek) return;
  write_receipt(
      [&](std::size_t i) { return action == ReceiptRequest::Action::reserve || asked_.limits[i].is_concurrency(); });
  if (result().receipt.bytes() > ReceiptParts::max_bytes) asked_.too_many = true;
  result().receipt.clear();
}

// Denies a reservation that exceeds the `max_reserve` of an enforced limit. Nothing is charged then.
void QueryEvaluation::check_max_reserve() noexcept {
  for (const std::uint32_t i : asked_.live) {
    const auto& max_reserve = limit_of(i).source->max_reserve;
    if (!max_reserve || asked_.outcomes[i].cost <= Cost{*max_reserve} || is_denied_outright()) continue;
    matched.denied_by = asked_.outcomes[i].limit;
    matched.denied_for = match::Exemption::reserve_too_large;
  }
}

// Adds the checks of the live limits, then those of their blocks. A request that is denied outright only peeks.
void QueryEvaluation::ask_live() {
  const bool charges = asked_.is_report() || !is_denied_outright();
  Group& group = new_group(asked_.operation(charges), Fallback::by_limit);
  for (const std::uint32_t i : asked_.live) asked_.add_check(group, i, asked_.outcomes[i].cost);
  subjects_.clear();
  if (asked_.is_report()) return;
  for (const std::uint32_t i : asked_.live) {
    const auto& block = limit_of(i).block;
    if (!block) continue;
    asked_.add_once(group, i, *block).role = Check::Role::guard;
    subjects_.push_back(i);
  }
}

void QueryEvaluation::read_live() {
  const auto groups = take_answers();
  if (groups.empty()) return conclude_live();
  Group& group = groups[0];
  note_first(group);
  if (asked_.is_report()) {
    asked_.read_report(group);
    deniers_ = {};
    reason_ = Reason::within;
    return conclude(true);
  }
  asked_.read_decisions(group);
  read_blocks_of_live(group);
  asked_.read_paths(group);
  conclude_live();
}

void QueryEvaluation::read_blocks_of_live(const Group& group) noexcept {
  for (std::size_t b = 0; b < subjects_.size(); ++b) {
    const Check& check = group.checks[asked_.live.size() + b];
    if (check.decision.admitted || check.path == Path::closed) continue;
    blocked_ = true;
    Decision& decision = asked_.outcomes[subjects_[b]].decision;
    wait_for_block(decision, check.decision.retry_after);
    deny_for_block(decision, check.decision.retry_after);
  }
}

void QueryEvaluation::conclude_live() {
  if (is_denied_outright() && matched.denied_for == match::Exemption::reserve_too_large) deny_large_reserve();
  deniers_ = deniers_of(asked_.live_outcomes());
  const bool denied_outright = is_denied_outright();
  if (deniers_.count == 0 && !denied_outright && !asked_.too_many && !asked_.closed) {
    reason_ = !asked_.live.empty() ? Reason::within : reason_without_live();
    return conclude(true);
  }
  reason_ = asked_.too_many       ? Reason::too_many_limits
            : denied_outright     ? reason_of(matched.denied_for)
            : blocked_            ? Reason::blocked
            : lacking_receipt()   ? Reason::needs_receipt
            : deniers_.count == 0 ? Reason::store_unavailable
                                  : Reason::exceeded;
  if (reason_ != Reason::exceeded || asked_.closed) return conclude(false);
  if (deniers_.count == 1 && limit_of(asked_.live[deniers_.last]).warnings) return ask_warning();
  ask_penalties();
}

// The limit's own decision is a denial too, so that it counts as one.
void QueryEvaluation::deny_large_reserve() noexcept {
  for (const std::uint32_t i : asked_.live) {
    if (asked_.outcomes[i].limit != matched.denied_by) continue;
    asked_.outcomes[i].decision.admitted = false;
    asked_.outcomes[i].decision.retry_after.reset();
  }
}

// The reason to admit a request that no enforced limit has decided.
Reason QueryEvaluation::reason_without_live() const noexcept {
  if (asked_.opened) return Reason::store_unavailable;
  if (matched.exempt_by != match::ExemptBy::nothing) return Reason::exempt;
  const auto is_shadow = [](const Outcome& outcome) { return outcome.standing == Standing::shadow; };
  return std::ranges::any_of(asked_.outcomes, is_shadow) ? Reason::shadow : Reason::uncovered;
}

// Returns a concurrency limit that denies because the call cannot return a receipt.
std::optional<std::uint32_t> QueryEvaluation::lacking_receipt() const noexcept {
  if (asked_.options.receipts != nullptr) return std::nullopt;
  const auto lacks_receipt = [&](std::uint32_t i) {
    return !asked_.outcomes[i].decision.admitted && core::is_concurrency(*asked_.limits[i].rule);
  };
  const auto found = std::ranges::find_if(asked_.live, lacks_receipt);
  return found == asked_.live.end() ? std::nullopt : std::optional(asked_.outcomes[*found].limit);
}

// If exactly one limit denies, its `warn_first` may let the request pass. The other limits and the warning are charged
// together, all or nothing; the denying limit is not charged.
void QueryEvaluation::ask_warning() {
  then(&QueryEvaluation::read_warning);
  Group& group = new_group(asked_.operation(true), later(Fallback::none));
  for (std::size_t c = 0; c < asked_.live.size(); ++c) {
    const std::size_t i = asked_.live[c];
    if (c == deniers_.last) {
      asked_.add_once(group, i, *limit_of(i).warnings);
    } else {
      asked_.add_check(group, i, asked_.outcomes[i].cost);
    }
  }
}

void QueryEvaluation::read_warning() {
  const Group& group = take_answers()[0];
  if (!group.decided || !group.admitted) return ask_penalties();
  for (std::size_t c = 0; c < asked_.live.size(); ++c) {
    if (c != deniers_.last) asked_.outcomes[asked_.live[c]].decision = group.checks[c].decision;
  }
  reason_ = Reason::warned;
  conclude(true);
}

void QueryEvaluation::ask_penalties() {
  then(&QueryEvaluation::read_penalties);
  subjects_.clear();
  for (const std::uint32_t i : asked_.live) {
    if (asked_.options.peek || asked_.outcomes[i].decision.admitted || !limit_of(i).denials) continue;
    asked_.add_once(new_group(Operation::decide, later(Fallback::none)), i, *limit_of(i).denials);
    subjects_.push_back(i);
  }
}

// The denial that reaches the threshold starts the block and resets the count.
void QueryEvaluation::read_penalties() {
  std::size_t kept = 0;
  const auto groups = take_answers();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool is_full = groups[g].decided && groups[g].checks[0].decision.remaining == 0;
    if (is_full) subjects_[kept++] = subjects_[g];
  }
  subjects_.resize(kept);
  then(&QueryEvaluation::read_blocks);
  for (const std::uint32_t i : subjects_) {
    asked_.add_once(new_group(Operation::decide, later(Fallback::none)), i, *limit_of(i).block);
  }
  for (const std::uint32_t i : subjects_) {
    asked_.add_once(new_group(Operation::forget, later(Fallback::none)), i, *limit_of(i).denials);
  }
}

void QueryEvaluation::read_blocks() {
  const auto groups = take_answers();
  for (std::size_t g = 0; g < subjects_.size(); ++g) {
    if (!groups[g].decided) continue;
    const Decision& block = groups[g].checks[0].decision;
    const std::optional<Duration> wait = block.admitted ? block.reset_after : block.retry_after;
    Decision& decision = asked_.outcomes[subjects_[g]].decision;
    wait_for_block(decision, wait);
    begin_block(decision, wait);
  }
  conclude(false);
}

void QueryEvaluation::conclude(bool admits) {
  Verdict& verdict = result().verdict;
  const Instant at = verdict.at;
  if (admits) {
    new (&verdict)
        Verdict(admitted_verdict(asked_.live_outcomes(), reason_, deniers_.last));  // in place, to avoid a copy
  } else if (reason_ == Reason::store_unavailable) {
    verdict = store_unavailable_verdict();
  } else {
    verdict = denied_verdict(asked_.live_outcomes(), reason_, lacking_receipt().value_or(matched.denied_by));
  }
  verdict.at = at;
  asks_later() ? ask_followers(admits) : finish();
}

// A denial by a limit with `on_store_failure: closed`. Used only if no other limit denies.
Verdict QueryEvaluation::store_unavailable_verdict() const noexcept {
  const Outcome& outcome = asked_.outcomes[*asked_.closed];
  Verdict verdict;
  verdict.admitted = false;
  verdict.reason = Reason::store_unavailable;
  verdict.limit = outcome.limit;
  verdict.decision = outcome.decision;
  verdict.retry_after = outcome.decision.retry_after;
  return verdict;
}

// A shadow limit is charged iff it and the live verdict admit; a candidate iff it and every live limit but its own
// admit. If another limit denies, the candidate is not asked and neither agrees nor differs.
void QueryEvaluation::ask_followers(bool admits) {
  then(&QueryEvaluation::read_followers);
  followers_.clear();
  // If this is the request's first call to the store and it fails, this process decides.
  const Fallback fallback = asked_.live.empty() ? Fallback::share : Fallback::none;
  for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) {
    const AskedLimit& limit = asked_.limits[i];
    if (limit.gives_back && limit.candidate != nullptr) {
      followers_.add(i, Followers::Kind::candidate_give_back, Operation::look, fallback);
    }
    if (limit.states == nullptr) continue;
    // A limit that is open or closed while the store is unavailable makes no decision itself.
    const bool is_left_out = store_failed() && limit.states->on_failure != store::OnFailure::share;
    if (limit.gives_back) {
      followers_.add(i, Followers::Kind::give_back, Operation::look, fallback);
    } else if (asked_.is_shadow(i) && !is_left_out) {
      followers_.add(i, Followers::Kind::shadow, asked_.operation(admits), fallback);
    }
  }
  if (asked_.too_many || is_denied_outright() || store_failed() || asked_.is_give_back()) return;
  for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) {
    const AskedLimit& limit = asked_.limits[i];
    if (limit.candidate == nullptr) continue;
    const bool own_denies = !asked_.is_shadow(i) && limit.states != nullptr && !asked_.outcomes[i].decision.admitted;
    if (deniers_.count != (own_denies ? 1U : 0U)) continue;
    followers_.add(i, Followers::Kind::candidate, asked_.operation(true), fallback);
  }
}

void QueryEvaluation::read_followers() {
  then(&QueryEvaluation::read_corrections);
  followers_.read();
}

void QueryEvaluation::read_corrections() {
  followers_.read_corrections();
  finish();
}

void QueryEvaluation::finish() {
  if (asked_.is_give_back()) finish_give_back();
  Verdict& verdict = result().verdict;
  verdict.label = matched.label;
  verdict.route = bindings().matcher().labels()[matched.label];
  verdict.tier = matched.caller.tier;
  verdict.outcomes = asked_.outcomes;
  if (!matched.replacements.empty() || is_denied_outright()) name_exception();
  if (asked_.options.receipts == nullptr || asked_.options.peek || asked_.too_many || asked_.is_give_back()) return;
  if (!asked_.is_report()) {
    if (!verdict.admitted) return;
    write_receipt([&](std::size_t i) { return asked_.opened_receipt(i); });
  }
  asked_.write_receipt_outcomes();
}

// Names the override of the deciding limit, or the block. A block that expires has a wait, unlike other outright
// denials.
void QueryEvaluation::name_exception() noexcept {
  Verdict& verdict = result().verdict;
  if (verdict.reason == Reason::blocked_by_operator) {
    verdict.exception = matched.block.number;
    if (matched.block.expires_at != Instant::max()) verdict.retry_after = matched.block.expires_at - verdict.at;
    return;
  }
  for (const match::MatchedLimit& part : matched.limits) {
    if (part.limit != verdict.limit || part.replaced == nullptr) continue;
    verdict.exception = part.exception;
    verdict.replaced = &*part.replaced->numbers;
    return;
  }
  for (const auto& exempt : matched.exempt) {
    if (exempt.limit == verdict.limit && exempt.why == match::Exemption::banned) verdict.exception = exempt.exception;
  }
}

// The verdict reports the limit with the least remaining, like that of an admitted request.
void QueryEvaluation::finish_give_back() {
  asked_.live.clear();
  for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) {
    if (asked_.limits[i].states != nullptr && !asked_.is_shadow(i))
      asked_.live.push_back(static_cast<std::uint32_t>(i));
  }
  if (asked_.live.empty() || is_denied_outright()) return;
  const Instant at = result().verdict.at;
  result().verdict = admitted_verdict(asked_.live_outcomes(), Reason::within, 0);
  result().verdict.at = at;
}

template <class Filter>
void QueryEvaluation::write_receipt(Filter is_part) {
  ReceiptParts& receipt = result().receipt;
  receipt.clear();
  receipt.id = asked_.receipt_id();
  receipt.tier = bindings().tier_codes()[matched.caller.tier];
  std::string text;
  for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) {
    if (!is_part(i)) continue;
    text.clear();
    if (bindings().shared_keys() != nullptr) bindings().shared_keys()->append_consumer(asked_.text(i), text);
    receipt.add(limit_of(i).code, asked_.limits[i].consumer, text, matched.limits[i].takes_cost);
  }
}

}  // namespace weir::engine
