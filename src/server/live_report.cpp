// The part of Server behind the admin page: samples, and figures of limits and of the store.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "observe/recorder.h"
#include "server/server.h"
#include "store/leased/slice_table.h"

namespace weir::server {
namespace {

std::uint64_t resident_bytes() {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Counts decisions as the status does.
observe::TrafficCounts counts_of_events(const engine::EventTotals& events) {
  observe::TrafficTotals totals;
  engine::Engine::Totals of_engine;
  of_engine.by_limit_and_route[{"", ""}] = events;
  totals.add(of_engine);
  return totals.by_limit[""];
}

std::vector<frontend::StoreReport::Slices> slices_out(const engine::Bindings& bindings) {
  std::vector<frontend::StoreReport::Slices> all;
  for (const engine::BoundLimit& limit : bindings.limits()) {
    frontend::StoreReport::Slices out{.limit = limit.source->name};
    bool is_leased = false;
    for (const auto& states : limit.live) {
      const store::SliceTable* const slices = states ? store::slices_of(*states) : nullptr;
      if (slices == nullptr) continue;
      is_leased = true;
      const auto of_tier = slices->out();
      out.slices += of_tier.slices;
      out.units += of_tier.units;
    }
    if (is_leased) all.push_back(std::move(out));
  }
  return all;
}

}  // namespace

std::vector<const observe::TopDenied*> Server::denied_of_loops() const {
  std::vector<const observe::TopDenied*> all;
  for (const auto& worker : workers_) all.push_back(&worker->recorder().denied());
  return all;
}

observe::Gauges Server::gauges() const {
  observe::Gauges gauges{.resident = resident_bytes()};
  for (const OpenListener& listener : listeners_) {
    if (listener.protocol->name() == "admin") continue;
    for (const auto& socket : listener.sockets) gauges.connections += socket->counts().open;
  }
  gauges.used = engine_->bindings()->tables().bytes_used();
  for (const auto& protocol : protocols_) gauges.used += protocol->state_bytes();
  if (store_counts_.empty()) return gauges;
  auto worst = store::BreakerState::closed;
  for (const auto& counts : store_counts_) worst = std::max(worst, counts->breaker());
  gauges.store = worst == store::BreakerState::closed      ? observe::StoreState::closed
                 : worst == store::BreakerState::half_open ? observe::StoreState::half_open
                                                           : observe::StoreState::open;
  return gauges;
}

std::map<std::string, std::uint64_t> Server::overflowed_by_limit() const {
  std::map<std::string, std::uint64_t> by_limit;
  for (const auto& table : engine_->table_figures(clock_.now())) by_limit[table.id.limit] += table.overflowed;
  return by_limit;
}

void Server::sample() {
  Live::Sample sample;
  sample.at = clock_.now();
  sample.gauges = gauges();
  sample.denied = denied_of_loops();
  sample.totals.traffic = traffic_totals(engine_->totals());
  for (const auto& worker : workers_) worker->recorder().add_to(sample.totals.durations);
  if (sample.gauges.store == observe::StoreState::open) sample.store_error = store_status().error;
  // Finding the limits is slower than comparing totals, so it is done only if the total has changed.
  const std::uint64_t overflowed = engine_->bindings()->tables().overflowed();
  if (std::exchange(overflowed_, overflowed) != overflowed) sample.overflowed = overflowed_by_limit();
  live_->add(std::move(sample));
}

void Server::watch_limits() {
  std::vector<std::string> names;
  for (const policy::CompiledLimit& limit : engine_->bindings()->ruleset().limits) names.push_back(limit.name);
  live_->spikes().set_limits(names);
}

frontend::HistoryReport Server::history(std::string_view limit) {
  frontend::HistoryReport report{.seconds = live_->history().seconds()};
  if (limit.empty()) return report;
  report.limit = live_->history().of(limit);
  // A second may have been added between the two reads, so the lengths may differ.
  if (report.limit) {
    const std::size_t length = std::min(report.limit->size(), report.seconds.size());
    report.limit->erase(report.limit->begin(), report.limit->end() - static_cast<std::ptrdiff_t>(length));
    report.seconds.erase(report.seconds.begin(), report.seconds.end() - static_cast<std::ptrdiff_t>(length));
  }
  return report;
}

frontend::LimitsReport Server::limits_report(const frontend::LimitsQuery& query) {
  const Instant now = clock_.now();
  const auto bindings = engine_->bindings();
  const engine::Engine::Totals of_engine = engine_->totals();
  const engine::Engine::Tally& tally = of_engine.by_limit_and_route;
  const observe::TrafficTotals totals = traffic_totals(of_engine);
  frontend::LimitsReport report;
  // Limits that are no longer in the policy are left out.
  for (const engine::BoundLimit& limit : bindings->limits()) {
    if (query.only.empty() || limit.source->name == query.only) report.limits.try_emplace(limit.source->name);
  }
  const auto figures_of = [&](std::string_view limit) {
    const auto found = report.limits.find(limit);
    return found == report.limits.end() ? nullptr : &found->second;
  };
  observe::RecentTraffic::Summary traffic;
  {
    const std::lock_guard guard(mutex_);
    traffic = traffic_.summary(now, totals);
  }
  report.span = traffic.span;
  for (const observe::LimitTraffic& limit : traffic.limits) {
    if (limit.limit == "CL.THROTTLE") report.throttle = limit.counts;
    if (auto* const figures = figures_of(limit.limit)) figures->traffic = limit.counts;
  }
  for (const auto& [limit_and_route, events] : tally) {
    auto* const figures = figures_of(limit_and_route.first);
    if (figures == nullptr) continue;
    for (std::size_t kind = 0; kind < engine::event_kinds; ++kind) figures->total[kind] += events[kind];
    figures->by_route.push_back({limit_and_route.second, counts_of_events(events)});
  }
  observe::RecorderTotals recorded;
  for (const auto& worker : workers_) worker->recorder().add_to(recorded);
  for (auto& [limit, headroom] : recorded.headroom) {
    if (auto* const figures = figures_of(limit)) figures->headroom = headroom;
  }
  add_states(*bindings, now, report);
  for (observe::DeniedConsumer& denied :
       observe::TopDenied::top(denied_of_loops(), std::numeric_limits<std::size_t>::max(), now)) {
    auto* const figures = figures_of(denied.limit);
    if (figures == nullptr || figures->top_denied.size() >= query.top_denied) continue;
    figures->top_denied.push_back(std::move(denied));
  }
  for (auto& [limit, figures] : report.limits) {
    std::ranges::stable_sort(figures.by_route, std::ranges::greater{},
                             [](const auto& of) { return of.counts.decisions; });
    figures.spike = live_->spikes().lasting(limit);
    figures.recent = live_->history().of(limit, query.recent);
  }
  return report;
}

// Adds the states of each limit. Descriptors share the states of their domain.
void Server::add_states(const engine::Bindings& bindings, Instant now, frontend::LimitsReport& report) const {
  std::map<std::string, frontend::LimitFigures::States> by_name;
  for (const auto& table : bindings.tables().figures(now)) {
    frontend::LimitFigures::States& states = by_name[table.id.limit];
    states.bytes += table.bytes;
    states.budget += table.budget;
    states.overflowed += table.overflowed;
    const bool is_live = table.id.purpose == store::Purpose::live || table.id.purpose == store::Purpose::descriptors;
    if (is_live) states.entries += table.entries;
  }
  for (const engine::BoundLimit& limit : bindings.limits()) {
    const auto found = report.limits.find(limit.source->name);
    if (found == report.limits.end()) continue;
    frontend::LimitFigures& figures = found->second;
    figures.states = by_name[limit.source->by_descriptor() ? limit.source->domain : limit.source->name];
    figures.consumers = limit.consumers->estimate(now);
    if (limit.candidate.empty()) continue;
    figures.newly_denied_consumers = limit.diverging->newly_denied.estimate();
    figures.newly_admitted_consumers = limit.diverging->newly_admitted.estimate();
  }
}

std::optional<frontend::StoreReport> Server::store_report() {
  if (store_counts_.empty()) return {};
  frontend::StoreReport report;
  std::int64_t servers = 0;
  std::array<std::uint64_t, store::store_error_kinds> errors{};
  for (const auto& counts : store_counts_) {
    servers = std::max(servers, counts->servers.value());
    report.opened = std::max(report.opened, counts->opened.value());
    counts->round_trip.add_to(report.round_trip);
    counts->batch_size.add_to(report.batch_size);
    for (std::size_t kind = 0; kind < errors.size(); ++kind) errors[kind] += counts->errors[kind].value();
  }
  report.topology = initial_config_.store.redis->sentinel ? "sentinel" : servers > 1 ? "cluster" : "single";
  report.decisions = engine_->store_paths();
  report.slices = slices_out(*engine_->bindings());
  for (std::size_t kind = 0; kind < errors.size(); ++kind) {
    if (errors[kind] > 0) report.errors.emplace_back(name_of(static_cast<store::StoreError>(kind)), errors[kind]);
  }
  return report;
}

std::string Server::consumer_name(std::string_view key) {
  std::string name;
  names_->append(name, key);
  return name;
}

std::string Server::consumer_name(std::span<const DescriptorEntry> entries) {
  std::string name;
  names_->append(name, entries);
  return name;
}

}  // namespace weir::server
