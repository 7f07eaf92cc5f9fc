// The part of Server that reports its state: metrics and status.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/loop_context.h"
#include "observe/metrics.h"
#include "server/server.h"

namespace weir::server {
namespace {

net::ListenerCounts operator+(net::ListenerCounts a, const net::ListenerCounts& b) noexcept {
  a.accepted += b.accepted;
  a.refused += b.refused;
  a.accept_failures += b.accept_failures;
  a.handshake_failures += b.handshake_failures;
  a.timed_out += b.timed_out;
  a.overlong += b.overlong;
  a.faults += b.faults;
  a.open += b.open;
  return a;
}

using Ended = std::array<observe::ListenerFigures::Ended, 7>;

Ended outcomes_of(const net::ListenerCounts& counts) {
  return {{{"accepted", counts.accepted - counts.refused},
           {"refused", counts.refused},
           {"accept_failed", counts.accept_failures},
           {"handshake_failed", counts.handshake_failures},
           {"timed_out", counts.timed_out},
           {"overlong", counts.overlong},
           {"faulted", counts.faults}}};
}

template <class Listeners>
net::ListenerCounts counts_of(const Listeners& listeners) {
  net::ListenerCounts sum;
  for (const auto& listener : listeners) sum = sum + listener->counts();
  return sum;
}

struct Unevaluated {
  std::uint64_t failed = 0;
  std::array<observe::ListenerFigures::Unread, frontend::unread_names.size()> denied;
};

// Sessions that threw, or whose input exceeded its bound, also ended without an answer.
Unevaluated unevaluated_of(const net::ListenerCounts& counts, const std::vector<const frontend::Frontend*>& frontends) {
  Unevaluated sum{.failed = counts.faults + counts.overlong, .denied = {}};
  for (std::size_t i = 0; i < sum.denied.size(); ++i) sum.denied[i].reason = frontend::unread_names[i];
  for (const frontend::Frontend* frontend : frontends) {
    const frontend::UnevaluatedCounts& own = *frontend->unevaluated();
    sum.failed += own.failed.value();
    for (std::size_t i = 0; i < sum.denied.size(); ++i) sum.denied[i].count += own.denied[i].value();
  }
  return sum;
}

std::uint64_t total(const engine::EventTotals& totals, engine::Event event) noexcept {
  return totals[static_cast<std::size_t>(event)];
}

}  // namespace

std::string Server::metrics() {
  std::vector<const observe::Recorder*> recorders;
  for (const auto& worker : workers_) recorders.push_back(&worker->recorder());
  std::vector<Ended> outcomes;
  outcomes.reserve(listeners_.size());
  std::vector<Unevaluated> unevaluated;
  unevaluated.reserve(listeners_.size());
  std::vector<observe::ListenerFigures> listeners;
  for (const OpenListener& listener : listeners_) {
    const net::ListenerCounts counts = counts_of(listener.sockets);
    outcomes.push_back(outcomes_of(counts));
    listeners.push_back({.listener = listener.protocol->name(),
                         .open_connections = counts.open,
                         .requests = listener.protocol->requests(),
                         .connections = outcomes.back()});
    const auto& frontends = listener.protocol->frontends();
    if (frontends.front()->unevaluated() == nullptr) continue;
    unevaluated.push_back(unevaluated_of(counts, frontends));
    listeners.back().unevaluated = unevaluated.back().failed;
    listeners.back().denied_unread = unevaluated.back().denied;
  }
  observe::ReloadFigures reloads;
  {
    const std::lock_guard guard(mutex_);
    reloads = {.applied = reloads_.applied,
               .rejected = reloads_.rejected,
               .last_rejected = reloads_.last && !reloads_.last->error.empty(),
               .applied_at = reloads_.loaded_at};
  }
  observe::MetricsPage page;
  observe::append_metrics(page, {.engine = *engine_,
                                 .recorders = recorders,
                                 .listeners = listeners,
                                 .reloads = reloads,
                                 .log_lines_dropped = writer_->dropped(),
                                 .version = version_,
                                 .started = started_,
                                 .now = clock_.now()});
  observe::append_spike_metrics(page, live_->spikes());
  page.single("weir_stream_clients", observe::MetricsPage::Type::gauge, "Clients of GET /v1/stream.",
              live_->feed().clients());
  append_override_metrics(page);
  for (const auto& protocol : protocols_) protocol->append_metrics(page);
  if (!store_counts_.empty()) append_store_metrics(page);
  return page.take();
}

void Server::append_override_metrics(observe::MetricsPage& page) const {
  using Type = observe::MetricsPage::Type;
  const overrides::Service::Figures figures = overrides_->figures();
  page.single("weir_overrides", Type::gauge, "Overrides and grants that have not expired.", figures.overrides);
  page.single("weir_overrides_inactive", Type::gauge, "Overrides that do not fit the active policy.", figures.inactive);
  page.single("weir_blocks", Type::gauge, "Blocks that have not expired.", figures.blocks);
}

observe::TrafficTotals Server::traffic_totals(const engine::Engine::Totals& of_engine) const {
  observe::TrafficTotals totals;
  totals.add(of_engine);
  observe::DurationHistogram::Totals durations;
  for (const auto& worker : workers_) worker->recorder().add_to(durations);
  totals.evaluated = durations.count();
  for (const auto& protocol : protocols_) protocol->add_traffic(totals);
  return totals;
}

void Server::append_store_metrics(observe::MetricsPage& page) const {
  std::vector<const store::StoreCounts*> loops;
  for (const auto& counts : store_counts_) loops.push_back(counts.get());
  observe::append_store_metrics(page, loops, engine_->store_paths());
  observe::append_node_metrics(page, nodes_->figures());
  observe::append_slice_metrics(page, *engine_->bindings());
}

// Every loop has its own connections to the same servers. Reports the loop whose connections are in the worst state.
frontend::AdminStatus::Store Server::store_status() const {
  frontend::AdminStatus::Store store{.kind = "redis"};
  for (const store::redis::Url& url : initial_config_.store.redis->urls) store.urls.push_back(shown(url));
  store.connected = std::numeric_limits<std::uint64_t>::max();
  auto worst = store::BreakerState::closed;
  for (const auto& counts : store_counts_) {
    store.servers = std::max(store.servers, static_cast<std::uint64_t>(counts->servers.value()));
    store.connected = std::min(store.connected, static_cast<std::uint64_t>(counts->connected.value()));
    worst = std::max(worst, counts->breaker());
    const Instant since(Duration(counts->unavailable_since.value()));
    if (since != Instant{}) store.unavailable_since = std::min(store.unavailable_since.value_or(since), since);
    const auto last_error = counts->last_error.get();
    if (last_error.text.empty() || (store.failed_at && last_error.at < *store.failed_at)) continue;
    store.failed_at = last_error.at;
    store.error = last_error.text;
  }
  constexpr std::array<std::string_view, store::breaker_states> names{"closed", "half_open", "open"};
  store.breaker = names[static_cast<std::size_t>(worst)];
  const auto bindings = engine_->bindings();
  if (const store::SliceHolder* const holder = bindings->slice_holder()) store.holder = holder->text();
  nodes_->append_to(store);
  return store;
}

frontend::AdminStatus Server::status() {
  frontend::AdminStatus status;
  const Instant now = clock_.now();
  const auto plan = engine_->bindings();
  const engine::Engine::Totals of_engine = engine_->totals();
  const engine::Engine::Tally& tally = of_engine.by_limit_and_route;
  const observe::TrafficTotals totals = traffic_totals(of_engine);
  {
    const std::lock_guard guard(mutex_);
    status.traffic = traffic_.summary(now, totals);
    status.state.directory = config_.state.directory.string();
    status.policy = {.file = reloads_.policy_file,
                     .digest = plan->ruleset().digest,
                     .loaded_at = reloads_.loaded_at,
                     .limits = plan->ruleset().limits.size()};
    status.last_reload = reloads_.last;
    status.last_snapshot = last_saved_;
  }
  status.version = version_;
  status.state.hash_key_id = names_->hash_of("");
  status.started_at = started_;
  for (const OpenListener& listener : listeners_) {
    frontend::AdminStatus::Listener& row = status.listeners.emplace_back();
    row.name = listener.protocol->name();
    row.connections = counts_of(listener.sockets).open;
    for (const auto& socket : listener.sockets) row.listen.push_back(socket->bound().text());
  }
  for (const auto& frontend : protocols_) status.memory.used += frontend->state_bytes();
  for (const auto& figures : engine_->table_figures(now)) status.memory.used += figures.bytes;
  status.memory.budget = initial_config_.state.memory;
  if (!store_counts_.empty()) status.store = store_status();
  std::map<std::string, frontend::AdminStatus::Candidate> candidates;
  for (const auto& [key, events] : tally) {
    frontend::AdminStatus::Candidate& candidate = candidates[key.first];
    candidate.agreed += total(events, engine::Event::candidate_agrees);
    candidate.newly_denied += total(events, engine::Event::candidate_newly_denied);
    candidate.newly_admitted += total(events, engine::Event::candidate_newly_admitted);
  }
  for (auto& [limit, candidate] : candidates) {
    if (candidate.agreed + candidate.newly_denied + candidate.newly_admitted == 0) continue;
    candidate.limit = limit;
    status.candidates.push_back(std::move(candidate));
  }
  return status;
}

std::vector<observe::DeniedConsumer> Server::top_denied(std::size_t most) {
  return observe::TopDenied::top(denied_of_loops(), most, clock_.now());
}

}  // namespace weir::server
