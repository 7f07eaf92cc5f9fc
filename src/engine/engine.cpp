#include "engine/engine.h"

#include "engine/judge_shared.h"

#include <algorithm>

namespace weir::engine {

Result<std::unique_ptr<Engine>> Engine::create(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options) {
  auto plan = Plan::create(std::move(ruleset), options, nullptr);
  if (!plan) return tl::unexpected(plan.error());
  return std::unique_ptr<Engine>(new Engine(options, std::move(*plan)));
}

Result<Engine::Restored> Engine::restore(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options,
                                         const std::filesystem::path& directory, Instant now) {
  store::SavedStates saved(store::SnapshotFolder(directory), now);
  Options with_saved_key = options;
  with_saved_key.hash_key = saved.hash_key().value_or(options.hash_key);
  auto plan = Plan::create(std::move(ruleset), with_saved_key, nullptr, &saved);
  if (!plan) return tl::unexpected(plan.error());
  std::unique_ptr<Engine> engine(new Engine(with_saved_key, std::move(*plan)));
  engine->owes_ = !saved.restored().empty();
  return Restored{std::move(engine), saved.restored(), saved.problems()};
}

Result<void> Engine::save(const std::filesystem::path& directory, Instant now) {
  const std::lock_guard guard(saving_);
  const auto plan = this->plan();
  return plan->tables().save(store::SnapshotFolder(directory), now);
}

std::unique_ptr<Judge> Engine::new_judge(Witness* witness, const SharedAccess* shared) {
  const std::lock_guard guard(mutex_);
  std::unique_ptr<Judge> judge(new Judge(*this, plan_, witness, shared));
  judges_.push_back(judge.get());
  return judge;
}

// Tables that the new policy takes over serve both until the last judge has changed; only where states have to move
// to wider cells does everyone wait for it.
Result<void> Engine::reload(std::shared_ptr<const policy::Ruleset> ruleset, const Clock& clock) {
  const std::lock_guard not_saving(saving_);
  auto plan = Plan::create(std::move(ruleset), options_, plan_.get());  // which changes under saving_ only
  if (!plan) return tl::unexpected(plan.error());
  put_into_force(*plan, clock.now());
  (*plan)->tables().carry_over(clock);
  return {};
}

void Engine::put_into_force(const std::shared_ptr<Plan>& plan, Instant now) {
  const std::lock_guard guard(mutex_);
  std::vector<Judge::Hold> held;
  for (Judge* judge : judges_) held.emplace_back(judge->busy_);
  plan->tables().move_states(now);
  for (Judge* judge : judges_) {
    add(*judge, past_);
    judge->enter(plan);
  }
  plan_ = plan;
  plan_->tables().apply_budget();
}

std::shared_ptr<const Plan> Engine::plan() const {
  const std::lock_guard guard(mutex_);
  return plan_;
}

Engine::Totals Engine::totals() const {
  const std::lock_guard guard(mutex_);
  Totals totals = past_;
  for (const Judge* judge : judges_) add(*judge, totals);
  return totals;
}

StorePathTotals Engine::store_paths() const {
  const std::lock_guard guard(mutex_);
  StorePathTotals totals = past_paths_;
  for (const Judge* judge : judges_) add(*judge, totals);
  return totals;
}

std::vector<store::Tables::Figures> Engine::table_figures(Instant now) const {
  return plan()->tables().figures(now);
}

std::vector<Engine::LimitFigures> Engine::limit_figures(Instant now) const {
  std::vector<LimitFigures> figures;
  const auto plan = this->plan();
  for (const PlannedLimit& limit : plan->limits()) {
    figures.push_back({.limit = limit.source->name,
                       .distinct_consumers = limit.consumers->estimate(now),
                       .newly_denied_consumers = limit.diverging->newly_denied.estimate(),
                       .newly_admitted_consumers = limit.diverging->newly_admitted.estimate()});
  }
  return figures;
}

void Engine::dismiss(Judge& judge) {
  const std::lock_guard guard(mutex_);
  add(judge, past_);
  add(judge, past_paths_);
  std::erase(judges_, &judge);
}

void Engine::add(const Judge& judge, StorePathTotals& totals) {
  if (!judge.shared_) return;
  for (std::size_t path = 0; path < store_path_kinds; ++path) {
    totals[path] += judge.shared_->room.paths.value(static_cast<StorePath>(path));
  }
}

void Engine::add(const Judge& judge, Totals& totals) {
  const Plan& plan = judge.plan();
  std::vector<EventTotals> rows(plan.rows());
  judge.counters_->add_to(rows);
  for (const PlannedLimit& limit : plan.limits()) {
    const auto routes = plan.routes_of(limit);
    for (std::size_t route = 0; route < routes.size(); ++route) {
      const EventTotals& row = rows[limit.first_row + route];
      if (std::ranges::all_of(row, [](std::uint64_t count) { return count == 0; })) continue;
      EventTotals& sum = totals.by_limit_and_route[{limit.source->name, routes[route]}];
      for (std::size_t kind = 0; kind < event_kinds; ++kind) sum[kind] += row[kind];
    }
  }
  totals.ignored_headers += judge.counters_->ignored_headers.value();
  totals.unknown_tiers += judge.counters_->unknown_tiers.value();
  totals.uncovered += judge.counters_->uncovered.value();
}

}  // namespace weir::engine
