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
  bool always = false;  // told even if it never happened, so that its rate is zero and not missing
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
  for (const auto& [place, events] : tally) {
    for (const auto& [event, name, always] : named) {
      const std::uint64_t count = events[static_cast<std::size_t>(event)];
      if (count == 0 && !always) continue;
      page.sample({{"limit", place.first}, {"route", place.second}, {label, name}}, count);
    }
  }
}

void append_decisions(MetricsPage& page, const engine::Engine::Totals& totals) {
  page.family("weir_decisions_total", counter, "Decisions by limit, route template and outcome.");
  append_events(page, totals.by_limit_and_route, "outcome", decision_outcomes);
  page.family("weir_shared_key_decisions_total", counter,
              "Decisions on the counter that requests without a key share (they are among the decisions too).");
  for (const auto& [place, events] : totals.by_limit_and_route) {
    const std::uint64_t count = events[static_cast<std::size_t>(Event::shared)];
    if (count > 0) page.sample({{"limit", place.first}, {"route", place.second}}, count);
  }
  page.family("weir_usage_mismatch_total", counter,
              "Calls that charged a limit in another way than its `usage` says: not by a report, or not by a reserve.");
  for (const auto& [place, events] : totals.by_limit_and_route) {
    const std::uint64_t count = events[static_cast<std::size_t>(Event::usage_mismatch)];
    if (count > 0) page.sample({{"limit", place.first}, {"route", place.second}}, count);
  }
  page.family("weir_candidate_decisions_total", counter,
              "What candidates would have decided, by how it compares with the live limit.");
  append_events(page, totals.by_limit_and_route, "divergence", candidate_divergences);
  page.single("weir_uncovered_total", counter, "Requests that no limit covers.", totals.uncovered);
  page.single("weir_ignored_headers_total", counter,
              "Requests that claimed in their headers what only a trusted proxy may say.", totals.ignored_headers);
  page.single("weir_unknown_tiers_total", counter, "Requests with a tier that the policy does not have.",
              totals.unknown_tiers);
}

void append_recorded(MetricsPage& page, std::span<const Recorder* const> recorders) {
  RecorderTotals totals;
  for (const Recorder* recorder : recorders) recorder->add_to(totals);
  page.family("weir_decision_duration_seconds", histogram,
              "The time to decide a request by all its limits; of a batch, each one's even share.");
  page.histogram({}, duration_scale, totals.durations);
  page.family("weir_batch_size", histogram, "How many requests were decided together.");
  page.histogram({}, batch_scale, totals.batches);
  page.family("weir_headroom_ratio", histogram, "What a decision left of a limit, relative to its size.");
  for (const auto& [limit, headroom] : totals.headroom) {
    if (headroom.count() > 0) page.histogram({{"limit", limit}}, headroom_scale, headroom);
  }
  page.family("weir_receipts_total", counter, "What came of receipts and reports, by limit and event.");
  for (const auto& [limit, receipts] : totals.receipts) {
    for (std::size_t i = 0; i < receipts.events.size(); ++i) {
      if (receipts.events[i] > 0)
        page.sample({{"limit", limit}, {"event", receipt_event_names[i]}}, receipts.events[i]);
    }
  }
  page.family("weir_receipts_lost_units_total", counter,
              "What was used, and not charged: a debt is at most one capacity.");
  for (const auto& [limit, receipts] : totals.receipts) {
    if (receipts.lost_units > 0) page.sample({{"limit", limit}}, receipts.lost_units);
  }
}

// What is certain: a sketch may count the denials of other consumers as those of one.
void append_top_denied(MetricsPage& page, std::span<const Recorder* const> recorders, Instant now) {
  std::vector<const TopDenied*> all;
  for (const Recorder* recorder : recorders) all.push_back(&recorder->denied());
  std::map<std::string, std::uint64_t> by_limit;
  for (const DeniedConsumer& consumer : TopDenied::top(all, std::numeric_limits<std::size_t>::max(), now)) {
    std::uint64_t& most = by_limit[consumer.limit];
    most = std::max(most, consumer.count - consumer.error);
  }
  page.family("weir_top_denied", gauge,
              "Denials of the consumer that a limit denied most, of the last half to whole hour.");
  for (const auto& [limit, denials] : by_limit) page.sample({{"limit", limit}}, denials);
}

void append_consumers(MetricsPage& page, const Bindings& bindings, Instant now) {
  page.family("weir_consumers", gauge, "Distinct consumers of a limit of late, within a few percent.");
  for (const BoundLimit& limit : bindings.limits()) {
    if (limit.source->by_descriptor()) continue;
    page.sample({{"limit", limit.source->name}}, limit.consumers->estimate(now));
  }
  if (bindings.shared_keys() != nullptr) {
    page.family(
        "weir_store_shared_keys_total", counter,
        "Decisions on keys that consumers share because a limit had more new ones than store.redis.max_new_keys.");
    for (const BoundLimit& limit : bindings.limits()) {
      page.sample({{"limit", limit.source->name}}, limit.new_keys == nullptr ? 0 : limit.new_keys->beyond());
    }
  }
  page.family("weir_candidate_diverging_consumers", gauge,
              "Distinct consumers that a candidate would treat differently, within a few percent.");
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

// Tables by limit and purpose. Tiers with windows of their own have several.
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
  page.family("weir_table_bytes", gauge, "Memory of the states of a limit, or of a domain of descriptors.");
  append(&TableSum::bytes);
  page.family("weir_table_budget_bytes", gauge, "What that memory may grow to.");
  append(&TableSum::budget);
  page.family("weir_table_entries", gauge, "Consumers that have a state, within a few percent.");
  append(&TableSum::entries);
  page.family("weir_table_overflowed_total", counter, "Decisions on states that consumers share for want of memory.");
  append(&TableSum::overflowed);
}

// The zones of the limits' calendars, but for UTC, which needs no data.
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
  page.family("weir_policy_info", gauge, "The policy in force.");
  page.sample({{"digest", bindings.ruleset().digest}}, 1);
  page.family("weir_zone_data_info", gauge, "What is known of the time zones that the policy in force names.");
  for (const std::string& zone : zones_of(bindings.ruleset())) {
    page.sample({{"timezone", zone}, {"digest", policy::zone_digest(zone)}}, 1);
  }
  page.single("weir_policy_limits", gauge, "Limits of the policy in force.", bindings.limits().size());
  page.single("weir_policy_applied_timestamp_seconds", gauge, "When the policy in force was applied.",
              static_cast<std::uint64_t>(reloads.applied_at.time_since_epoch().count()), 6);
  page.family("weir_reloads_total", counter, "Policies that were read anew, by what came of it.");
  page.sample({{"outcome", "applied"}}, reloads.applied);
  page.sample({{"outcome", "refused"}}, reloads.refused);
  page.single("weir_last_reload_rejected", gauge,
              "1 if the policy that was read last has mistakes and is not in force.", reloads.last_rejected ? 1 : 0);
}

void append_listeners(MetricsPage& page, std::span<const ListenerFigures> listeners) {
  page.family("weir_connections", gauge, "Open connections.");
  for (const ListenerFigures& listener : listeners)
    page.sample({{"listener", listener.listener}}, listener.open_connections);
  page.family("weir_connections_total", counter, "Connections by what came of them.");
  for (const ListenerFigures& listener : listeners) {
    for (const auto& [outcome, count] : listener.connections) {
      page.sample({{"listener", listener.listener}, {"outcome", outcome}}, count);
    }
  }
  page.family("weir_requests_total", counter, "Requests, whatever they asked for.");
  for (const ListenerFigures& listener : listeners) page.sample({{"listener", listener.listener}}, listener.requests);
  page.family("weir_unevaluated_total", counter,
              "Calls that ended in an error, or without an answer: a proxy may let them pass.");
  for (const ListenerFigures& listener : listeners) {
    if (listener.unevaluated) page.sample({{"listener", listener.listener}}, *listener.unevaluated);
  }
  page.family("weir_denied_unread_total", counter, "Requests that were denied without having been read, by why.");
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

// What cannot be read is zero.
void append_process(MetricsPage& page, Instant started) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t mapped_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> mapped_pages >> resident_pages;
  page.single("process_start_time_seconds", gauge, "When the process started, since the epoch.",
              static_cast<std::uint64_t>(started.time_since_epoch().count()), 6);
  page.single("process_cpu_seconds_total", counter, "CPU time, of user and system.",
              microseconds(usage.ru_utime) + microseconds(usage.ru_stime), 6);
  page.single("process_resident_memory_bytes", gauge, "Memory that is resident.", resident_pages * page_size);
  page.single("process_virtual_memory_bytes", gauge, "Memory that is mapped.", mapped_pages * page_size);
  page.single("process_open_fds", gauge, "Open file descriptors.", count_descriptors());
  page.single("process_max_fds", gauge, "The most file descriptors that may be open.", descriptors.rlim_cur);
}

}  // namespace

void append_spike_metrics(MetricsPage& page, const Spikes& spikes) {
  page.family("weir_spikes_total", counter,
              "Sudden bursts: of the decisions of a limit, or of the denials of one of its consumers.");
  for (const auto& [limit, told] : spikes.told()) {
    page.sample({{"limit", limit}, {"of", "limit"}}, told.limits);
    page.sample({{"limit", limit}, {"of", "consumer"}}, told.consumers);
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
  page.family("weir_build_info", gauge, "The program.");
  page.sample({{"version", sources.version}}, 1);
  append_process(page, sources.started);
}

}  // namespace weir::observe
