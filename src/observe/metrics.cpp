#include "observe/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/calendar.h"
#include "engine/bindings.h"
#include "engine/counters.h"
#include "policy/calendar.h"
#include "store/local/tables.h"

namespace weir::observe {
namespace {

using engine::Bindings;
using engine::BoundLimit;
using engine::Event;
using engine::EventTotals;
using enum MetricsPage::Type;

struct NamedEvent {
  Event event;
  std::string_view name;
  bool always = false;  // written even if it is zero, so that its rate is zero and not missing
};

constexpr std::array decision_outcomes{
    NamedEvent{Event::admitted, "admitted", true}, NamedEvent{Event::denied, "denied", true},
    NamedEvent{Event::uncharged, "uncharged"},     NamedEvent{Event::warned, "warned"},
    NamedEvent{Event::blocked, "blocked"},         NamedEvent{Event::shadow_denied, "shadow_denied"},
    NamedEvent{Event::skipped, "skipped"},         NamedEvent{Event::unlimited, "unlimited"},
};

constexpr std::array candidate_divergences{
    NamedEvent{Event::candidate_agrees, "agrees"},
    NamedEvent{Event::candidate_newly_denied, "newly_denied"},
    NamedEvent{Event::candidate_newly_admitted, "newly_admitted"},
};

void append_events(MetricsPage& page, const engine::Engine::Tally& tally, std::string_view label,
                   std::span<const NamedEvent> named) {
  for (const auto& [key, events] : tally) {
    for (const auto& [event, name, always] : named) {
      const std::uint64_t count = events[static_cast<std::size_t>(event)];
      if (count == 0 && !always) continue;
      page.sample({{"limit", key.first}, {"route", key.second}, {label, name}}, count);
    }
  }
}

void append_decisions(MetricsPage& page, const engine::Engine::Totals& totals) {
  page.family("weir_decisions_total", counter, "Decisions by limit, route template and outcome.");
  append_events(page, totals.by_limit_and_route, "outcome", decision_outcomes);
  const auto append_event = [&](Event event) {
    for (const auto& [key, events] : totals.by_limit_and_route) {
      const std::uint64_t count = events[static_cast<std::size_t>(event)];
      if (count > 0) page.sample({{"limit", key.first}, {"route", key.second}}, count);
    }
  };
  page.family("weir_shared_key_decisions_total", counter,
              "Decisions on the counter that requests without a key share; weir_decisions_total includes them.");
  append_event(Event::shared);
  page.family("weir_usage_mismatch_total", counter,
              "Calls that charged a limit in a way other than its `usage` declares.");
  append_event(Event::usage_mismatch);
  page.family("weir_candidate_decisions_total", counter,
              "Decisions that candidates would have made, by how they compare with the live limit.");
  append_events(page, totals.by_limit_and_route, "divergence", candidate_divergences);
  page.family("weir_denied_requests_total", counter,
              "Denied requests, by the route that they matched. A request counts once, whatever the number of limits.");
  for (const auto& [route, count] : totals.denied_requests) page.sample({{"route", route}}, count);
  page.single("weir_uncovered_total", counter, "Requests that no limit covers.", totals.uncovered);
  page.single("weir_shadow_only_total", counter, "Requests that only limits in shadow mode cover.", totals.shadow_only);
  page.single("weir_exempt_total", counter, "Requests that the policy exempts from all limits.", totals.exempt);
  page.single("weir_blocked_total", counter, "Requests that an operator's block denied.", totals.blocked);
  page.single("weir_overridden_total", counter, "Decisions by the numbers of an override instead of the policy's.",
              totals.overridden);
  page.single("weir_ignored_headers_total", counter,
              "Requests whose headers were ignored because only a trusted proxy may set them.", totals.ignored_headers);
  page.single("weir_unknown_tiers_total", counter, "Requests with a tier that the policy does not define.",
              totals.unknown_tiers);
}

void append_recorded(MetricsPage& page, std::span<const Recorder* const> recorders) {
  RecorderTotals totals;
  for (const Recorder* recorder : recorders) recorder->add_to(totals);
  page.family("weir_decision_duration_seconds", histogram,
              "Time to evaluate a request; the time of a batch is divided evenly among its requests.");
  page.histogram({}, duration_scale, totals.durations);
  page.family("weir_batch_size", histogram, "Requests evaluated together.");
  page.histogram({}, batch_scale, totals.batches);
  page.family("weir_headroom_ratio", histogram, "Share of a limit that remains after a decision, from 0 to 1.");
  for (const auto& [limit, headroom] : totals.headroom) {
    if (headroom.count() > 0) page.histogram({{"limit", limit}}, headroom_scale, headroom);
  }
  page.family("weir_receipts_total", counter, "Receipt and report operations by limit and event.");
  for (const auto& [limit, receipts] : totals.receipts) {
    for (std::size_t i = 0; i < receipts.events.size(); ++i) {
      if (receipts.events[i] > 0)
        page.sample({{"limit", limit}, {"event", receipt_event_names[i]}}, receipts.events[i]);
    }
  }
  page.family("weir_receipts_lost_units_total", counter,
              "Units that were used but not charged, because a debt is at most one capacity.");
  for (const auto& [limit, receipts] : totals.receipts) {
    if (receipts.lost_units > 0) page.sample({{"limit", limit}}, receipts.lost_units);
  }
}

// Reports lower bounds, because a sketch may attribute the denials of other consumers to this one.
void append_top_denied(MetricsPage& page, std::span<const Recorder* const> recorders, Instant now) {
  std::vector<const TopDenied*> all;
  for (const Recorder* recorder : recorders) all.push_back(&recorder->denied());
  std::map<std::string, std::uint64_t> by_limit;
  for (const DeniedConsumer& consumer : TopDenied::top(all, std::numeric_limits<std::size_t>::max(), now)) {
    std::uint64_t& highest = by_limit[consumer.limit];
    highest = std::max(highest, consumer.count - consumer.error);
  }
  page.family("weir_top_denied", gauge, "Denials of the limit's most denied consumer in the last 30 to 60 minutes.");
  for (const auto& [limit, denials] : by_limit) page.sample({{"limit", limit}}, denials);
}

void append_consumers(MetricsPage& page, const Bindings& bindings, Instant now) {
  page.family("weir_consumers", gauge,
              "Distinct consumers of a limit in the current or the previous hour, whichever had more (estimate).");
  for (const BoundLimit& limit : bindings.limits()) {
    if (limit.source->by_descriptor()) continue;
    page.sample({{"limit", limit.source->name}}, limit.consumers->estimate(now));
  }
  if (bindings.shared_keys() != nullptr) {
    page.family("weir_store_shared_keys_total", counter,
                "Decisions on keys that new consumers share because a limit exceeded store.redis.max_new_keys.");
    for (const BoundLimit& limit : bindings.limits()) {
      page.sample({{"limit", limit.source->name}}, limit.new_keys == nullptr ? 0 : limit.new_keys->beyond());
    }
  }
  page.family("weir_candidate_diverging_consumers", gauge,
              "Distinct consumers that a candidate would treat differently (estimate).");
  for (const BoundLimit& limit : bindings.limits()) {
    if (limit.candidate.empty()) continue;
    const std::string_view name = limit.source->name;
    page.sample({{"limit", name}, {"divergence", "newly_denied"}}, limit.diverging->newly_denied.estimate());
    page.sample({{"limit", name}, {"divergence", "newly_admitted"}}, limit.diverging->newly_admitted.estimate());
  }
}

struct TableSum {
  std::uint64_t bytes = 0;
  std::uint64_t budget = 0;
  std::uint64_t entries = 0;
  std::uint64_t overflowed = 0;
};

// Sums by limit and purpose, because a limit has several tables if its tiers have different windows.
using TableSums = std::map<std::pair<std::string, store::Purpose>, TableSum>;

TableSums sum_up(const std::vector<store::Tables::Figures>& tables) {
  TableSums sums;
  for (const auto& table : tables) {
    TableSum& sum = sums[{table.id.limit, table.id.purpose}];
    sum.bytes += table.bytes;
    sum.budget += table.budget;
    sum.entries += table.entries;
    sum.overflowed += table.overflowed;
  }
  return sums;
}

void append_tables(MetricsPage& page, const Bindings& bindings, Instant now) {
  const TableSums sums = sum_up(bindings.tables().figures(now));
  const auto append = [&](std::uint64_t TableSum::* figure) {
    for (const auto& [id, sum] : sums) {
      page.sample({{"limit", id.first}, {"purpose", name_of(id.second)}}, sum.*figure);
    }
  };
  page.family("weir_table_bytes", gauge, "Memory used by the states of a limit or of a descriptor domain.");
  append(&TableSum::bytes);
  page.family("weir_table_budget_bytes", gauge, "Maximum of weir_table_bytes.");
  append(&TableSum::budget);
  page.family("weir_table_entries", gauge, "Consumers that have a state (estimate).");
  append(&TableSum::entries);
  page.family("weir_table_overflowed_total", counter,
              "Decisions on states that consumers share because memory is full.");
  append(&TableSum::overflowed);
}

// The zones of the limits' calendars, except UTC, which needs no data.
std::set<std::string> zones_of(const policy::Ruleset& ruleset) {
  std::set<std::string> zones;
  const auto add = [&](const policy::TieredLimit& limits) {
    for (const auto& numbers : limits.by_tier) {
      if (numbers && numbers->calendar() != nullptr) zones.insert(numbers->calendar()->zone());
    }
  };
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    add(limit.live);
    if (limit.candidate) add(*limit.candidate);
  }
  zones.erase(std::string(policy::utc));
  return zones;
}

void append_policy(MetricsPage& page, const Bindings& bindings, const ReloadFigures& reloads) {
  page.family("weir_policy_info", gauge, "The active policy.");
  page.sample({{"digest", bindings.ruleset().digest}}, 1);
  page.family("weir_zone_data_info", gauge, "Zone data of the time zones that the active policy uses.");
  for (const std::string& zone : zones_of(bindings.ruleset())) {
    page.sample({{"timezone", zone}, {"digest", policy::zone_digest(zone)}}, 1);
  }
  page.single("weir_policy_limits", gauge, "Limits of the active policy.", bindings.limits().size());
  page.single("weir_policy_applied_timestamp_seconds", gauge, "When the active policy was applied.",
              static_cast<std::uint64_t>(reloads.applied_at.time_since_epoch().count()), 6);
  page.family("weir_reloads_total", counter, "Policy reloads by outcome.");
  page.sample({{"outcome", "applied"}}, reloads.applied);
  page.sample({{"outcome", "rejected"}}, reloads.rejected);
  page.single("weir_last_reload_rejected", gauge,
              "1 if the last reload was rejected and the previous policy is still active.",
              reloads.last_rejected ? 1 : 0);
}

void append_listeners(MetricsPage& page, std::span<const ListenerFigures> listeners) {
  page.family("weir_connections", gauge, "Open connections.");
  for (const ListenerFigures& listener : listeners)
    page.sample({{"listener", listener.listener}}, listener.open_connections);
  page.family("weir_connections_total", counter, "Connections by outcome.");
  for (const ListenerFigures& listener : listeners) {
    for (const auto& [outcome, count] : listener.connections) {
      page.sample({{"listener", listener.listener}, {"outcome", outcome}}, count);
    }
  }
  page.family("weir_requests_total", counter, "Requests of any kind.");
  for (const ListenerFigures& listener : listeners) page.sample({{"listener", listener.listener}}, listener.requests);
  page.family("weir_unevaluated_total", counter,
              "Calls that ended in an error or without an answer; a proxy may let such requests pass.");
  for (const ListenerFigures& listener : listeners) {
    if (listener.unevaluated) page.sample({{"listener", listener.listener}}, *listener.unevaluated);
  }
  page.family("weir_denied_unread_total", counter, "Requests that were denied without being read, by reason.");
  for (const ListenerFigures& listener : listeners) {
    for (const auto& [reason, count] : listener.denied_unread) {
      page.sample({{"listener", listener.listener}, {"reason", reason}}, count);
    }
  }
}

std::uint64_t microseconds(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

std::uint64_t count_descriptors() {
  std::uint64_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  for (; !error && entries != std::filesystem::directory_iterator{}; entries.increment(error)) ++count;
  return count;
}

// A figure that cannot be read is zero.
void append_process(MetricsPage& page, Instant started) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t mapped_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> mapped_pages >> resident_pages;
  page.single("process_start_time_seconds", gauge, "Start time of the process since the Unix epoch.",
              static_cast<std::uint64_t>(started.time_since_epoch().count()), 6);
  page.single("process_cpu_seconds_total", counter, "User and system CPU time.",
              microseconds(usage.ru_utime) + microseconds(usage.ru_stime), 6);
  page.single("process_resident_memory_bytes", gauge, "Resident memory.", resident_pages * page_size);
  page.single("process_virtual_memory_bytes", gauge, "Virtual memory.", mapped_pages * page_size);
  page.single("process_open_fds", gauge, "Open file descriptors.", count_descriptors());
  page.single("process_max_fds", gauge, "Maximum number of open file descriptors.", descriptors.rlim_cur);
}

}  // namespace

void append_spike_metrics(MetricsPage& page, const Spikes& spikes) {
  page.family("weir_spikes_total", counter, "Sudden bursts in a limit's decisions, or in its denials of one consumer.");
  for (const auto& [limit, counts] : spikes.counts()) {
    page.sample({{"limit", limit}, {"of", "limit"}}, counts.limits);
    page.sample({{"limit", limit}, {"of", "consumer"}}, counts.consumers);
  }
}

void append_metrics(MetricsPage& page, const MetricsSources& sources) {
  const std::shared_ptr<const Bindings> bindings = sources.engine.bindings();
  append_decisions(page, sources.engine.totals());
  append_recorded(page, sources.recorders);
  append_top_denied(page, sources.recorders, sources.now);
  append_consumers(page, *bindings, sources.now);
  append_tables(page, *bindings, sources.now);
  append_policy(page, *bindings, sources.reloads);
  append_listeners(page, sources.listeners);
  page.single("weir_log_dropped_total", counter, "Log lines that could not be written.", sources.log_lines_dropped);
  page.family("weir_build_info", gauge, "Version of the program.");
  page.sample({{"version", sources.version}}, 1);
  append_process(page, sources.started);
}

}  // namespace weir::observe
