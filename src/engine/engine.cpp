#include "engine/engine.h"

#include <algorithm>

namespace weir::engine {

Result<std::unique_ptr<Engine>> Engine::create(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options) {
  auto plan = Plan::create(std::move(ruleset), options, nullptr);
  if (!plan) return tl::unexpected(plan.error());
  return std::unique_ptr<Engine>(new Engine(options, std::move(*plan)));
}

std::unique_ptr<Judge> Engine::new_judge() {
  const std::lock_guard guard(mutex_);
  std::unique_ptr<Judge> judge(new Judge(*this, plan_));
  judges_.push_back(judge.get());
  return judge;
}

// Tables that the new policy takes over serve both until the last judge has changed; only where states have to move
// to wider cells does everyone wait for it.
Result<void> Engine::reload(std::shared_ptr<const policy::Ruleset> ruleset, Instant now) {
  const std::lock_guard guard(mutex_);
  auto plan = Plan::create(std::move(ruleset), options_, plan_.get());
  if (!plan) return tl::unexpected(plan.error());
  std::vector<std::unique_lock<std::mutex>> held;
  for (Judge* judge : judges_) held.emplace_back(judge->busy_);
  (*plan)->tables().move_states(now);
  for (Judge* judge : judges_) {
    add(*judge, past_);
    judge->enter(*plan);
  }
  plan_ = std::move(*plan);
  plan_->tables().apply_budget();
  return {};
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

void Engine::dismiss(Judge& judge) {
  const std::lock_guard guard(mutex_);
  add(judge, past_);
  std::erase(judges_, &judge);
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
