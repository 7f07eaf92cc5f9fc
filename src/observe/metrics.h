// All that Weir tells Prometheus, as one page. Callable from any thread; no decision waits for it.
//
// Labels are names of the policy and words of our own, never anything of a client.
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

// What came in through one listener.
struct ListenerFigures {
  std::string_view listener;
  std::uint64_t open_connections = 0;
  std::uint64_t requests = 0;

  struct Ended {
    std::string_view outcome;  // accepted, refused, timed_out, ...
    std::uint64_t count = 0;
  };
  std::span<const Ended> connections;  // since the start

  // Of a listener at which proxies ask for decisions.
  struct Unread {
    std::string_view reason;
    std::uint64_t count = 0;
  };
  std::optional<std::uint64_t> unevaluated{};
  std::span<const Unread> denied_unread{};
};

struct ReloadFigures {
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;
  bool last_rejected = false;
  Instant applied_at{};  // the policy in force
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

// What has become of sudden bursts.
void append_spike_metrics(MetricsPage& page, const Spikes& spikes);

// About a store that nodes share. `loops`: each loop has a store of its own, and all of them the same servers. At least
// one.
void append_store_metrics(MetricsPage& page, std::span<const store::StoreCounts* const> loops,
                          const engine::StorePathTotals& paths);

// The nodes that share it.
struct NodeFigures {
  std::uint64_t nodes = 1;
  std::uint64_t with_other_policy = 0;  // of these, than this one
  std::uint64_t beats_sent = 0;
  std::uint64_t beats_failed = 0;
};
void append_node_metrics(MetricsPage& page, const NodeFigures& figures);

// The slices of leased limits; nothing where there are none.
void append_slice_metrics(MetricsPage& page, const engine::Bindings& bindings);

}  // namespace weir::observe
