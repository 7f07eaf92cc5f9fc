// Figures of one second, computed as differences of the server's counters. Measured once per second, by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "observe/recent_traffic.h"
#include "observe/scales.h"
#include "weir/time.h"

namespace weir::observe {

// The circuit breaker of a shared store; `local` if the store is not shared.
enum class StoreState : std::uint8_t { local, closed, half_open, open };

[[nodiscard]] std::string_view name_of(StoreState state) noexcept;

// Current values.
struct Gauges {
  std::uint64_t connections = 0;
  std::uint64_t used = 0;      // bytes of the states
  std::uint64_t resident = 0;  // bytes of the process
  StoreState store = StoreState::local;
};

struct Second {
  Instant at{};     // the end of the second
  Duration span{};  // about a second, or longer if the process was suspended
  std::uint64_t requests = 0;
  std::uint64_t evaluated = 0;        // requests that limits were asked about
  std::uint64_t denied_requests = 0;  // a part of them
  TrafficCounts counts{};             // counts of all limits together
  // Quantiles of the decision time, in seconds; none if nothing was decided.
  std::optional<double> p50{};
  std::optional<double> p99{};
  Gauges gauges{};
};

// A second, and the limits that decided in it, busiest first.
struct MeasuredSecond {
  Second second;
  std::vector<LimitTraffic> limits;
};

class SecondMeter {
 public:
  // Totals since the start.
  struct Totals {
    TrafficTotals traffic;
    DurationHistogram::Totals durations;
  };

  explicit SecondMeter(Instant start) noexcept : at_(start) {}

  // Measures from the last call to now. If the clock steps back, the span is zero.
  [[nodiscard]] MeasuredSecond measure(Instant now, Totals totals, const Gauges& gauges);

 private:
  Instant at_;
  Totals before_;
};

// Returns a quantile, interpolated within its bucket; beyond all bounds, the last bound; none without values.
template <std::size_t Bounds>
[[nodiscard]] std::optional<double> quantile(const base::Scale<Bounds>& scale,
                                             const base::HistogramTotals<Bounds>& totals, double share) {
  const std::uint64_t count = totals.count();
  if (count == 0) return {};
  double unit = 1;
  for (unsigned i = 0; i < scale.places; ++i) unit /= 10;
  double left = share * static_cast<double>(count);
  double below = 0;
  for (std::size_t i = 0; i < Bounds; ++i) {
    const auto bound = static_cast<double>(scale.bounds[i]);
    const auto in_bucket = static_cast<double>(totals.counts[i]);
    if (in_bucket > 0 && left <= in_bucket) return (below + (bound - below) * (left / in_bucket)) * unit;
    left -= in_bucket;
    below = bound;
  }
  return below * unit;
}

}  // namespace weir::observe
