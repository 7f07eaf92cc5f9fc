#include "engine/evaluator.h"

#include <algorithm>
#include <utility>

#include "engine/engine.h"

namespace weir::engine {
namespace {

constexpr std::size_t max_spare_items = 64;  // larger batches are not reused

Event event_of(const Outcome& outcome, const Verdict& verdict) noexcept {
  if (outcome.standing == Standing::shadow) {
    return outcome.decision.admitted ? Event::admitted : Event::shadow_denied;
  }
  if (outcome.decision.admitted) return verdict.admitted ? Event::admitted : Event::uncharged;
  if (verdict.admitted) return Event::warned;
  return verdict.reason == Reason::blocked ? Event::blocked : Event::denied;
}

Event event_of(Divergence divergence) noexcept {
  switch (divergence) {
    case Divergence::newly_denied:
      return Event::candidate_newly_denied;
    case Divergence::newly_admitted:
      return Event::candidate_newly_admitted;
    case Divergence::agrees:
      break;
  }
  return Event::candidate_agrees;
}

}  // namespace

Evaluator::Evaluator(Engine& engine, std::shared_ptr<const Bindings> bindings, const EvaluatorOptions& options)
    : engine_(engine),
      store_(options.store == nullptr ? static_cast<store::Store&>(local_) : *options.store),
      observer_(options.observer),
      clock_(options.clock),
      is_shared_(bindings->shared_keys() != nullptr) {
  throttle_.throttle = options.throttle;
  set_bindings(std::move(bindings));
}

Evaluator::~Evaluator() {
  engine_.unregister_evaluator(*this);
}

void Evaluator::set_bindings(std::shared_ptr<const Bindings> bindings) {
  auto counters = std::make_unique<Counters>(bindings->rows(), bindings->matcher().labels().size());
  scratch_.emplace(bindings->matcher());
  counters_ = std::move(counters);
  // Each evaluator has a separate reference count: every batch copies the pointer, and loops must not contend for it.
  const Bindings* const shared = bindings.get();
  bindings_ = std::shared_ptr<const Bindings>(shared, [keep = std::move(bindings)](const Bindings*) {});
  if (observer_ != nullptr) observer_->bindings_changed(*bindings_);
}

EvaluationBatchPtr Evaluator::new_batch() {
  return EvaluationBatchPtr(spare_.take(*this).release());
}

void Evaluator::put_back(EvaluationBatch* batch) noexcept {
  // One batch is reused whatever its size: on a local store it is the only one.
  const bool is_kept = spare_.size() == 0 || batch->items_.size() <= max_spare_items;
  batch->clear();
  std::unique_ptr<EvaluationBatch> owned(batch);
  if (is_kept) spare_.put_back(std::move(owned));
}

EvaluationBatch& Evaluator::own_batch() {
  if (!own_) own_ = new_batch();
  own_->clear();
  return *own_;
}

Verdict Evaluator::evaluate(const Query& query, Instant now) {
  Verdict verdict;
  evaluate({&query, 1}, now, {&verdict, 1});
  return verdict;
}

void Evaluator::evaluate(std::span<const Query> queries, Instant now, std::span<Verdict> verdicts) {
  EvaluationBatch& batch = own_batch();
  for (const Query& query : queries) batch.add(query);
  (void)batch.submit(now);
  for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts[i] = batch.verdict(i);
}

void Evaluator::evaluate(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts) {
  EvaluationBatch& batch = own_batch();
  for (const Query& query : queries) batch.add(query);
  (void)batch.submit(times);
  for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts[i] = batch.verdict(i);
}

Result<Verdict> Evaluator::evaluate(const NamedQuery& ask, Instant now) {
  EvaluationBatch& batch = own_batch();
  batch.add(ask);
  (void)batch.submit(now);
  if (const Error* const error = batch.error(0)) return tl::unexpected(*error);
  return batch.verdict(0);
}

bool Evaluator::evaluate(std::string_view domain, std::span<const DescriptorQuery> asks, Instant now,
                         std::span<DescriptorStatus> statuses) {
  EvaluationBatch& batch = own_batch();
  batch.add(domain, asks);
  (void)batch.submit(now);
  std::ranges::copy(batch.statuses(0), statuses.begin());
  return batch.verdict(0).admitted;
}

Result<void> Evaluator::reset(const NamedQuery& ask, Instant now) {
  EvaluationBatch& batch = own_batch();
  batch.add_reset(ask);
  (void)batch.submit(now);
  if (const Error* const error = batch.error(0)) return tl::unexpected(*error);
  return {};
}

Result<void> Evaluator::reset(const DescriptorName& name, Instant now) {
  EvaluationBatch& batch = own_batch();
  batch.add_reset(name);
  (void)batch.submit(now);
  if (const Error* const error = batch.error(0)) return tl::unexpected(*error);
  return {};
}

// Peeks are not counted. Must not read the queries: they may be destroyed if the batch was released in flight.
void Evaluator::count_descriptors(const Verdict& verdict, std::span<const DescriptorStatus> statuses) noexcept {
  const bool admitted = verdict.admitted;
  if (!admitted) counters_->raise_denied(bindings_->matcher().other_label());
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Outcome& outcome = verdict.outcomes[i];
    if (outcome.limit == Verdict::no_limit || outcome.cost == Cost{0}) continue;
    const BoundLimit& bound = bindings_->limits()[outcome.limit];
    const bool own = statuses[i].decision.admitted;
    const Event event = bound.source->mode == policy::Mode::shadow ? (own ? Event::admitted : Event::shadow_denied)
                        : own                                      ? (admitted ? Event::admitted : Event::uncharged)
                                                                   : Event::denied;
    counters_->raise(bound.first_row + bindings_->matcher().other_label(), event);
  }
}

// A call that costs nothing matches any `usage`: callers use it to check a limit before they report usage to it.
void Evaluator::count_usage(const Verdict& verdict, std::optional<policy::Usage> used) noexcept {
  for (const Outcome& outcome : verdict.outcomes) {
    const BoundLimit& limit = bindings_->limits()[outcome.limit];
    if (!limit.usage || limit.usage == used || outcome.cost == Cost{0}) continue;
    counters_->raise(limit.first_row + outcome.route, Event::usage_mismatch);
  }
}

// Counts a request that no enforced limit decided.
void Evaluator::count_undecided(Reason reason) noexcept {
  if (reason == Reason::uncovered) counters_->uncovered.raise();
  if (reason == Reason::shadow) counters_->shadow_only.raise();
  if (reason == Reason::exempt) counters_->exempt.raise();
}

void Evaluator::count(const match::Matched& matched, const Verdict& verdict, Instant now) noexcept {
  if (matched.caller.ignored_headers) counters_->ignored_headers.raise();
  if (matched.caller.unknown_tier) counters_->unknown_tiers.raise();
  if (verdict.limit == Verdict::no_limit) count_undecided(verdict.reason);
  if (!verdict.admitted) counters_->raise_denied(matched.label);
  if (verdict.reason == Reason::blocked_by_operator) counters_->blocked.raise();
  if (!matched.replacements.empty()) counters_->overridden.raise(matched.replacements.size());
  for (std::size_t i = 0; i < verdict.outcomes.size(); ++i) {
    const Outcome& outcome = verdict.outcomes[i];
    const BoundLimit& limit = bindings_->limits()[outcome.limit];
    const std::size_t row = limit.first_row + outcome.route;
    const std::uint64_t consumer = outcome.consumer.value;
    counters_->raise(row, event_of(outcome, verdict));
    if (matched.limits[i].is_shared) counters_->raise(row, Event::shared);
    limit.consumers->add(consumer, now);
    if (!outcome.candidate) continue;
    const Divergence divergence = outcome.divergence();
    counters_->raise(row, event_of(divergence));
    if (divergence == Divergence::newly_denied) limit.diverging->newly_denied.add(consumer);
    if (divergence == Divergence::newly_admitted) limit.diverging->newly_admitted.add(consumer);
  }
  for (const auto& exempt : matched.exempt) {
    const BoundLimit& limit = bindings_->limits()[exempt.limit];
    const std::size_t row = limit.first_row + exempt.route;
    const bool lacks_key = exempt.why == match::Exemption::key_missing;
    const bool denies =
        lacks_key ? limit.source->missing == policy::Missing::deny : exempt.why == match::Exemption::banned;
    if (denies) {
      const bool is_shadow = limit.source->mode == policy::Mode::shadow;
      counters_->raise(row, is_shadow ? Event::shadow_denied : Event::denied);
    } else if (lacks_key) {
      counters_->raise(row, Event::skipped);
    } else if (exempt.why == match::Exemption::unlimited) {
      counters_->raise(row, Event::unlimited);
    }
  }
}

}  // namespace weir::engine
