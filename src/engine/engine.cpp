#include "engine/engine.h"

#include <algorithm>

namespace weir::engine {

Result<std::unique_ptr<Engine>> Engine::create(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options) {
  auto bindings = Bindings::create(std::move(ruleset), options, nullptr);
  if (!bindings) return tl::unexpected(bindings.error());
  return std::unique_ptr<Engine>(new Engine(options, std::move(*bindings)));
}

Result<Engine::Restored> Engine::restore(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options,
                                         const std::filesystem::path& directory, Instant now) {
  store::SavedStates saved(store::SnapshotFolder(directory), now);
  Options with_saved_key = options;
  with_saved_key.hash_key = saved.hash_key().value_or(options.hash_key);
  auto bindings = Bindings::create(std::move(ruleset), with_saved_key, nullptr, &saved);
  if (!bindings) return tl::unexpected(bindings.error());
  std::unique_ptr<Engine> engine(new Engine(with_saved_key, std::move(*bindings)));
  engine->has_charges_ = !saved.restored().empty();
  return Restored{std::move(engine), saved.restored(), saved.problems()};
}

Result<void> Engine::save(const std::filesystem::path& directory, Instant now) {
  const std::lock_guard guard(saving_);
  const auto bindings = this->bindings();
  return bindings->tables().save(store::SnapshotFolder(directory), now);
}

std::unique_ptr<Evaluator> Engine::new_evaluator(const EvaluatorOptions& options) {
  const std::lock_guard guard(mutex_);
  evaluators_.reserve(evaluators_.size() + 1);  // push_back must not throw: the evaluator's destructor takes mutex_
  std::unique_ptr<Evaluator> evaluator(new Evaluator(*this, bindings_, options));
  evaluators_.push_back(evaluator.get());
  return evaluator;
}

// Tables that the new policy takes over serve both policies until the last evaluator has switched. Evaluators wait only
// if states must move to wider cells.
Result<void> Engine::reload(std::shared_ptr<const policy::Ruleset> ruleset, const Clock& clock,
                            std::unique_ptr<match::Exceptions> exceptions) {
  const std::lock_guard not_saving(saving_);
  auto bindings = Bindings::create(std::move(ruleset), options_,
                                   bindings_.get(),  // bindings_ changes only while saving_ is locked
                                   nullptr, std::move(exceptions));
  if (!bindings) return tl::unexpected(bindings.error());
  activate(*bindings, clock.now());
  (*bindings)->tables().carry_over(clock);
  return {};
}

void Engine::change_exceptions(const std::function<void(match::Exceptions&)>& change) {
  const std::lock_guard guard(mutex_);
  std::vector<Evaluator::Lock> locks;
  for (Evaluator* evaluator : evaluators_) locks.emplace_back(evaluator->busy_);
  change(bindings_->exceptions());
}

void Engine::activate(const std::shared_ptr<Bindings>& bindings, Instant now) {
  const std::lock_guard guard(mutex_);
  std::vector<Evaluator::Lock> locks;
  for (Evaluator* evaluator : evaluators_) locks.emplace_back(evaluator->busy_);
  bindings->tables().move_states(now);
  for (Evaluator* evaluator : evaluators_) {
    add(*evaluator, past_);
    evaluator->set_bindings(bindings);
  }
  bindings_ = bindings;
  bindings_->tables().apply_budget();
}

std::shared_ptr<const Bindings> Engine::bindings() const {
  const std::lock_guard guard(mutex_);
  return bindings_;
}

Engine::Totals Engine::totals() const {
  const std::lock_guard guard(mutex_);
  Totals totals = past_;
  for (const Evaluator* evaluator : evaluators_) add(*evaluator, totals);
  return totals;
}

StorePathTotals Engine::store_paths() const {
  const std::lock_guard guard(mutex_);
  StorePathTotals totals = past_paths_;
  for (const Evaluator* evaluator : evaluators_) add(*evaluator, totals);
  return totals;
}

std::vector<store::Tables::Figures> Engine::table_figures(Instant now) const {
  return bindings()->tables().figures(now);
}

std::vector<Engine::LimitFigures> Engine::limit_figures(Instant now) const {
  std::vector<LimitFigures> figures;
  const auto bindings = this->bindings();
  for (const BoundLimit& limit : bindings->limits()) {
    figures.push_back({.limit = limit.source->name,
                       .distinct_consumers = limit.consumers->estimate(now),
                       .newly_denied_consumers = limit.diverging->newly_denied.estimate(),
                       .newly_admitted_consumers = limit.diverging->newly_admitted.estimate()});
  }
  return figures;
}

void Engine::unregister_evaluator(Evaluator& evaluator) {
  const std::lock_guard guard(mutex_);
  add(evaluator, past_);
  add(evaluator, past_paths_);
  std::erase(evaluators_, &evaluator);
}

void Engine::add(const Evaluator& evaluator, StorePathTotals& totals) {
  for (std::size_t path = 0; path < store_path_kinds; ++path) {
    totals[path] += evaluator.paths_.value(static_cast<Path>(path));
  }
}

void Engine::add(const Evaluator& evaluator, Totals& totals) {
  const Bindings& bindings = evaluator.bindings();
  std::vector<EventTotals> rows(bindings.rows());
  evaluator.counters_->add_to(rows);
  for (std::uint32_t number = 0; number < bindings.limits().size(); ++number) {
    const BoundLimit& limit = bindings.limits()[number];
    const auto routes = bindings.matcher().routes_of(number);
    for (std::size_t route = 0; route < routes.size(); ++route) {
      const EventTotals& row = rows[limit.first_row + route];
      if (std::ranges::all_of(row, [](std::uint64_t count) { return count == 0; })) continue;
      EventTotals& sum = totals.by_limit_and_route[{limit.source->name, routes[route]}];
      for (std::size_t kind = 0; kind < event_kinds; ++kind) sum[kind] += row[kind];
    }
  }
  const auto& labels = bindings.matcher().labels();
  for (std::size_t label = 0; label < labels.size(); ++label) {
    const std::uint64_t denied = evaluator.counters_->denied(label);
    if (denied > 0) totals.denied_requests[labels[label]] += denied;
  }
  totals.ignored_headers += evaluator.counters_->ignored_headers.value();
  totals.unknown_tiers += evaluator.counters_->unknown_tiers.value();
  totals.uncovered += evaluator.counters_->uncovered.value();
  totals.shadow_only += evaluator.counters_->shadow_only.value();
  totals.exempt += evaluator.counters_->exempt.value();
  totals.blocked += evaluator.counters_->blocked.value();
  totals.overridden += evaluator.counters_->overridden.value();
}

}  // namespace weir::engine
