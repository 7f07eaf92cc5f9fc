#include "engine/descriptors_evaluation.h"

#include <algorithm>
#include <utility>

#include "match/consumer.h"

namespace weir::engine {
namespace {

using store::Fallback;
using store::Group;
using store::Operation;

}  // namespace

void DescriptorsEvaluation::begin(const Bindings& bindings, std::string_view domain,
                                  std::span<const match::DescriptorQuery> asks, const EvaluationOptions& options,
                                  Instant now) {
  start(bindings, now, &DescriptorsEvaluation::read_live);
  quotas_ = {};
  banned_ = false;
  asked_.begin(options, asks.size());
  statuses_.resize(asks.size());
  const auto& domains = bindings.ruleset().domains;
  const auto found = std::ranges::find(domains, domain, &policy::Domain::name);
  domain_ = found == domains.end() ? nullptr : &*found;
  if (domain_ == nullptr) {
    std::ranges::fill(statuses_, DescriptorStatus{});
    std::ranges::fill(asked_.limits, AskedLimit{});
    for (Outcome& outcome : asked_.outcomes) outcome.limit = Verdict::no_limit;
    return;
  }
  if (matched_.size() < asks.size()) matched_.resize(asks.size());
  bool replaces = false;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    match(i, asks[i]);
    replaces = replaces || (matched_[i].descriptor != nullptr && !matched_[i].descriptor->replaces.empty());
  }
  if (replaces) drop_replaced();
  for (std::size_t i = 0; i < asks.size(); ++i) begin_outcome(i);
  if (options.receipts != nullptr) asked_.prepare_receipts();
  if (!asked_.too_many && !asked_.live.empty()) ask_live();
  for (std::size_t i = 0; asked_.too_many && i < asks.size(); ++i) {  // too many limits: none is asked
    if (asked_.limits[i].states != nullptr) asked_.outcomes[i].decision = {.admitted = true};
  }
}

// --- matching: the limit and the key of each descriptor

void DescriptorsEvaluation::match(std::size_t i, const match::DescriptorQuery& ask) {
  DescriptorStatus& status = statuses_[i];
  Matched& matched = matched_[i];
  AskedLimit& limit = asked_.limits[i];
  Outcome& outcome = asked_.outcomes[i];
  status = {};
  limit = {.gives_back = ask.gives_back};
  outcome.limit = Verdict::no_limit;
  outcome.standing = Standing::live;
  outcome.cost = ask.hits;
  matched.descriptor = match::match_descriptor(*domain_, ask.entries, key_);
  matched.banned = false;
  if (matched.descriptor != nullptr) {
    status.name = matched.descriptor->name;
    status.metadata = matched.descriptor->metadata ? &*matched.descriptor->metadata : nullptr;
  }
  if (ask.limit_override) {
    match_override(i, ask);
  } else if (matched.descriptor != nullptr && matched.descriptor->unlimited) {
    status.kind = DescriptorStatus::Kind::unlimited;
  } else if (matched.descriptor != nullptr) {
    match_configured(i);
  }
  if (limit.states != nullptr || matched.banned) status.kind = DescriptorStatus::Kind::limited;
  if (limit.states == nullptr || matched.banned) return;
  outcome.consumer = limit.states->table->hash(key_);
  if (bindings().shared_keys() == nullptr) return;
  matched.text.clear();
  match::append_shared_descriptor(matched.text, key_);
}

// An override is keyed by the whole descriptor and ignores the configured limit.
void DescriptorsEvaluation::match_override(std::size_t i, const match::DescriptorQuery& ask) {
  const WindowNumbers& numbers = *ask.limit_override;
  Matched& matched = matched_[i];
  matched.banned = numbers.limit == 0;
  statuses_[i].numbers = numbers;
  const auto limit = Limit::fixed_window(numbers);
  if (!limit) return;
  matched.of_override = core::compile(*limit);
  asked_.limits[i].states = bindings().override_states(*domain_, numbers.window);
  asked_.limits[i].rule = &matched.of_override;
  match::write_descriptor_key(ask.entries, key_);
}

void DescriptorsEvaluation::match_configured(std::size_t i) {
  const policy::Descriptor& descriptor = *matched_[i].descriptor;
  DescriptorStatus& status = statuses_[i];
  Outcome& outcome = asked_.outcomes[i];
  outcome.limit = *descriptor.limit;
  outcome.standing = descriptor.shadow_mode ? Standing::shadow : Standing::live;
  status.limit = outcome.limit;
  asked_.limits[i].quota = descriptor.quota_mode;
  if (descriptor.banned_per) {
    matched_[i].banned = true;
    status.numbers = {0, *descriptor.banned_per};
    return;
  }
  const BoundLimit& bound = bindings().limits()[outcome.limit];
  asked_.limits[i].states = &*bound.live[0];
  asked_.limits[i].rule = &bound.live[0]->rule;
  const Rate rate = bound.source->live.by_tier[0]->rate();
  status.numbers = {rate.count, rate.per};
}

// A limit whose name is in `replaces` of another descriptor of this request counts as unmatched.
void DescriptorsEvaluation::drop_replaced() noexcept {
  const std::span matched = std::span(matched_).first(statuses_.size());
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (matched[i].descriptor == nullptr || matched[i].descriptor->name.empty()) continue;
    const bool is_replaced = std::ranges::any_of(matched, [&](const Matched& other) {
      return &other != &matched[i] && other.descriptor != nullptr &&
             std::ranges::find(other.descriptor->replaces, matched[i].descriptor->name) !=
                 other.descriptor->replaces.end();
    });
    if (!is_replaced) continue;
    matched[i].banned = false;
    asked_.limits[i].states = nullptr;
    asked_.outcomes[i].limit = Verdict::no_limit;
    statuses_[i] = {};
  }
}

void DescriptorsEvaluation::begin_outcome(std::size_t i) {
  const Matched& matched = matched_[i];
  AskedLimit& limit = asked_.limits[i];
  Outcome& outcome = asked_.outcomes[i];
  outcome.max_wait = Duration::zero();  // descriptors are never delayed
  limit.text_end = asked_.texts.size();
  if (limit.states != nullptr) {
    const BoundLimit* const bound = outcome.limit == Verdict::no_limit ? nullptr : &bindings().limits()[outcome.limit];
    asked_.set_consumer(i, bound, *limit.states, [&](std::string& texts) { texts += matched.text; });
  }
  const bool is_live = !asked_.is_shadow(i) && !limit.gives_back;
  if (!is_live || limit.states == nullptr)
    outcome.decision = {.admitted = true};  // the decision if the limit is not asked
  if (matched.banned) decide_banned(i);
  if (!is_live) {
    if (limit.states != nullptr) ask_later();
    return;
  }
  if (limit.states == nullptr && !matched.banned) return;
  const bool denies = matched.banned && outcome.cost > Cost{0};
  if (limit.quota) {
    ++quotas_.count;
    if (denies) ++quotas_.full;
  } else if (denies) {
    banned_ = true;
  }
  if (limit.states != nullptr) asked_.add_live(i);
}

void DescriptorsEvaluation::decide_banned(std::size_t i) noexcept {
  Decision& decision = asked_.outcomes[i].decision;
  decision.admitted = asked_.limits[i].gives_back || asked_.outcomes[i].cost == Cost{0};
  decision.retry_after.reset();
  statuses_[i].decision = decision;
  statuses_[i].admitted = decision.admitted || asked_.is_shadow(i);
}

// --- the steps

// A request that is already denied only peeks, to report what remains.
void DescriptorsEvaluation::ask_live() {
  then(&DescriptorsEvaluation::read_live);
  const bool only_peeks = !asked_.is_report() && (banned_ || quotas_.are_full());
  Group& group = new_group(asked_.operation(!only_peeks), later(Fallback::by_limit));
  for (const std::uint32_t i : asked_.live) asked_.add_check(group, i, only_peeks ? Cost{0} : asked_.outcomes[i].cost);
}

void DescriptorsEvaluation::read_live() {
  if (const auto groups = take_answers(); !groups.empty()) {
    Group& group = groups[0];
    note_first(group);
    if (asked_.is_report()) {
      asked_.read_report(group);
      return conclude(true);
    }
    asked_.read_decisions(group);
    const std::size_t closed_quotas = asked_.read_paths(group);
    quotas_.full += closed_quotas;
    quotas_.was_closed = quotas_.was_closed || closed_quotas > 0;
  }
  if (quotas_.count > 0 && drop_full_quotas()) return ask_live();
  const bool denies = deniers_of(asked_.live_outcomes()).count > 0;
  conclude(!denies && !asked_.too_many && !asked_.closed && !banned_ && !quotas_.are_full());
}

// Removes the quotas that deny, so that the other limits can be asked again. Returns false if nothing is left to ask.
bool DescriptorsEvaluation::drop_full_quotas() {
  const auto admits = [&](std::uint32_t i) { return asked_.outcomes[i].decision.admitted; };
  const bool only_quotas_deny =
      std::ranges::all_of(asked_.live, [&](std::uint32_t i) { return admits(i) || asked_.limits[i].quota; });
  if (asked_.closed || banned_ || !only_quotas_deny) return false;
  const auto full = std::ranges::partition(asked_.live, admits);
  quotas_.full += full.size();
  const bool dropped = !full.empty() || std::exchange(quotas_.was_closed, false);
  asked_.live.erase(full.begin(), full.end());
  return dropped && !quotas_.are_full() && !asked_.live.empty();
}

void DescriptorsEvaluation::conclude(bool admits) {
  result().verdict.admitted = admits;
  if (!asks_later() && (!admits || quotas_.count > 0)) {
    for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) {
      if (is_charged_unasked(i, admits)) ask_later();
    }
  }
  asks_later() ? ask_followers(admits) : finish();
}

// A descriptor that denies is charged anyway if it has more than one hit, because such hits report past usage. A
// descriptor that admits is not charged by a denied call, unless the domain has charges_denied.
bool DescriptorsEvaluation::is_charged_unasked(std::size_t i, bool admits) const noexcept {
  const AskedLimit& limit = asked_.limits[i];
  const Outcome& outcome = asked_.outcomes[i];
  if (asked_.options.peek || asked_.is_report() || asked_.too_many) return false;
  if (limit.states == nullptr || limit.gives_back || asked_.is_shadow(i)) return false;
  if (limit.was_open || limit.was_closed) return false;
  if (domain_->charges_denied && !admits) return outcome.cost > Cost{0};
  return !outcome.decision.admitted && outcome.cost > Cost{1};
}

void DescriptorsEvaluation::ask_followers(bool admits) {
  using Kind = Followers::Kind;
  then(&DescriptorsEvaluation::read_followers);
  followers_.clear();
  for (std::size_t i = 0; i < asked_.outcomes.size(); ++i) {
    if (asked_.limits[i].states == nullptr) continue;
    if (asked_.limits[i].gives_back) {
      followers_.add(i, Kind::give_back, Operation::look, Fallback::share);
    } else if (asked_.is_shadow(i)) {
      followers_.add(i, Kind::shadow_descriptor, asked_.operation(admits), Fallback::share);
    } else if (is_charged_unasked(i, admits)) {
      followers_.add(i, Kind::charge, Operation::report, Fallback::share);
    }
  }
}

void DescriptorsEvaluation::read_followers() {
  then(&DescriptorsEvaluation::read_corrections);
  followers_.read();
}

void DescriptorsEvaluation::read_corrections() {
  followers_.read_corrections();
  finish();
}

void DescriptorsEvaluation::finish() {
  const bool is_report = asked_.is_report();  // always admitted
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    DescriptorStatus& status = statuses_[i];
    const AskedLimit& limit = asked_.limits[i];
    if (is_report) status.admitted = true;
    if (limit.states == nullptr) continue;  // decided by decide_banned, or not limited
    status.decision = asked_.outcomes[i].decision;
    status.admitted = asked_.is_shadow(i) || limit.gives_back || is_report || status.decision.admitted;
    if (limit.was_open) status.kind = DescriptorStatus::Kind::unmatched;  // its numbers are unknown
  }
  result().verdict.outcomes = asked_.outcomes;
  const bool has_receipts = is_report && is_known_domain() && !asked_.too_many;
  if (has_receipts) asked_.write_receipt_outcomes();
}

}  // namespace weir::engine
