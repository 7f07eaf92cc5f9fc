// The reports that AdminBackend returns besides the status: figures of limits, the policy on disk, the store.
// live_json.h writes them as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "engine/counters.h"
#include "observe/recent_traffic.h"
#include "observe/scales.h"
#include "observe/seconds.h"
#include "observe/spikes.h"
#include "observe/top_denied.h"
#include "policy/tools/diff.h"
#include "store/store_counts.h"
#include "text/yaml/problem.h"
#include "weir/time.h"

namespace weir::frontend {

// The latest reload, by signal, by a changed file or by request.
struct LastReload {
  Instant at{};
  std::string error{};  // empty: success
};

// The figures of one limit.
struct LimitFigures {
  struct States {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t budget = 0;
    std::uint64_t overflowed = 0;
  };
  struct OfRoute {
    std::string route;
    observe::TrafficCounts counts;
  };

  observe::TrafficCounts traffic{};  // in the last minute
  engine::EventTotals total{};       // since startup, like the following figures
  std::vector<OfRoute> by_route{};   // the busiest first
  observe::HeadroomHistogram::Totals headroom{};
  States states{};
  std::uint64_t consumers = 0;
  std::uint64_t newly_denied_consumers = 0;
  std::uint64_t newly_admitted_consumers = 0;
  std::vector<observe::DeniedConsumer> top_denied{};
  std::optional<observe::Spikes::Lasting> spike{};
  std::optional<std::vector<observe::TrafficCounts>> recent{};  // per second; none: not recorded
};

struct LimitsReport {
  Duration span{};                    // the period of the traffic
  observe::TrafficCounts throttle{};  // decisions of CL.THROTTLE in `span`
  std::map<std::string, LimitFigures, std::less<>> limits{};
};

// Selects limits and the length of their lists.
struct LimitsQuery {
  std::string only{};  // empty: all limits
  std::size_t top_denied = 5;
  std::size_t recent = 60;
};

struct HistoryReport {
  std::vector<observe::Second> seconds{};
  std::optional<std::vector<observe::TrafficCounts>> limit{};  // the requested limit, of the same length
};

struct PolicyReport {
  struct Running {
    std::string file{};    // empty: the built-in policy
    std::string origin{};  // the flag, variable or setting that named the file
    std::string digest{};
    Instant loaded_at{};
    std::size_t limits = 0;
    std::vector<text::Problem> warnings{};
  };
  struct OnDisk {
    Instant read_at{};
    std::string digest{};  // empty: the policy has errors
    std::vector<policy::Change> changes{};
    std::vector<text::Problem> problems{};
  };
  using Reload = LastReload;
  struct Rejected {
    Instant at{};
    std::string error{};
    std::vector<text::Problem> problems{};
  };

  Running running{};
  OnDisk on_disk{};
  std::optional<Reload> last_reload{};      // none since startup
  std::optional<Rejected> last_rejected{};  // none since startup
};

// The figures of a shared store.
struct StoreReport {
  struct Slices {
    std::string limit;
    std::uint64_t slices = 0;
    std::uint64_t units = 0;
  };

  std::string topology{};
  std::uint64_t opened = 0;  // how often breakers opened since startup, like the following figures
  base::Histogram<store::round_trip_scale>::Totals round_trip{};
  base::Histogram<store::batch_size_scale>::Totals batch_size{};
  engine::StorePathTotals decisions{};
  std::vector<Slices> slices{};  // currently leased
  std::vector<std::pair<std::string, std::uint64_t>> errors{};
};

}  // namespace weir::frontend
