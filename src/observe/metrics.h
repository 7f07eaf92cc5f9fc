// All that Weir tells Prometheus, as one page. Callable from any thread; nobody who decides waits for it.
//
// Labels are names of the policy and words of our own, never anything of a client.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/engine.h"
#include "observe/metrics_page.h"
#include "observe/recorder.h"
#include "weir/time.h"

namespace weir::observe {

// What came in through one door.
struct DoorFigures {
  std::string_view door;
  std::uint64_t open_connections = 0;
  std::uint64_t requests = 0;

  struct Ended {
    std::string_view outcome;  // accepted, refused, timed_out, ...
    std::uint64_t count = 0;
  };
  std::span<const Ended> connections;  // since the start

  // Of a door at which proxies ask for decisions.
  struct Unread {
    std::string_view reason;
    std::uint64_t count = 0;
  };
  std::optional<std::uint64_t> unjudged{};
  std::span<const Unread> denied_unread{};
};

struct ReloadFigures {
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;
  bool last_refused = false;
  Instant applied_at{};  // the policy in force
};

struct MetricsSources {
  const engine::Engine& engine;
  std::span<const Recorder* const> recorders;
  std::span<const DoorFigures> doors;
  ReloadFigures reloads;
  std::uint64_t log_lines_dropped = 0;
  std::string_view version;
  Instant started{};
  Instant now{};
};

void append_metrics(MetricsPage& page, const MetricsSources& sources);

}  // namespace weir::observe
