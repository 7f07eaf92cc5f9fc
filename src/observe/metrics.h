// Writes Weir's metrics for Prometheus. Thread-safe; no decision waits for it.
//
// Labels are names from the policy and fixed words, never text from a client.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/counters.h"
#include "engine/engine.h"
#include "observe/metrics_page.h"
#include "observe/recorder.h"
#include "observe/spikes.h"
#include "store/store_counts.h"
#include "weir/time.h"

namespace weir::observe {

struct ListenerFigures {
  std::string_view listener;
  std::uint64_t open_connections = 0;
  std::uint64_t requests = 0;

  struct Ended {
    std::string_view outcome;  // accepted, refused, timed_out, ...
    std::uint64_t count = 0;
  };
  std::span<const Ended> connections;  // since the start

  // Set only for listeners that proxies call for decisions.
  struct Unread {
    std::string_view reason;
    std::uint64_t count = 0;
  };
  std::optional<std::uint64_t> unevaluated{};
  std::span<const Unread> denied_unread{};
};

struct ReloadFigures {
  std::uint64_t applied = 0;
  std::uint64_t rejected = 0;
  bool last_rejected = false;
  Instant applied_at{};  // when the active policy was applied
};

struct MetricsSources {
  const engine::Engine& engine;
  std::span<const Recorder* const> recorders;
  std::span<const ListenerFigures> listeners;
  ReloadFigures reloads;
  std::uint64_t log_lines_dropped = 0;
  std::string_view version;
  Instant started{};
  Instant now{};
};

void append_metrics(MetricsPage& page, const MetricsSources& sources);

void append_spike_metrics(MetricsPage& page, const Spikes& spikes);

// Metrics of a shared store. Each loop has its own connections to the same servers. `loops` must not be empty.
void append_store_metrics(MetricsPage& page, std::span<const store::StoreCounts* const> loops,
                          const engine::StorePathTotals& paths);

// The nodes that share the store.
struct NodeFigures {
  std::uint64_t nodes = 1;
  std::uint64_t with_other_policy = 0;  // nodes whose policy differs from this node's
  std::uint64_t beats_sent = 0;
  std::uint64_t beats_failed = 0;
};
void append_node_metrics(MetricsPage& page, const NodeFigures& figures);

// Metrics of leased limits. Appends nothing if there are none.
void append_slice_metrics(MetricsPage& page, const engine::Bindings& bindings);

}  // namespace weir::observe
