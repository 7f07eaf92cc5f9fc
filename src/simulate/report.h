// The result of a simulation and its three output formats. Texts from a log have passed display_text().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/counters.h"
#include "simulate/estimates_report.h"
#include "simulate/line_order.h"
#include "simulate/log_entry.h"
#include "simulate/log_needs.h"
#include "simulate/nodes_report.h"
#include "simulate/rates.h"
#include "text/json_writer.h"
#include "weir/time.h"

namespace weir::simulate {

struct Pace {
  std::uint64_t requests = 0;
  Peak second;
  Peak minute;
  double mean_per_second = 0;  // over the whole log

  // Returns the ratio of the busiest second to the mean; 1 is perfectly even.
  [[nodiscard]] double burst_ratio() const noexcept {
    return mean_per_second > 0 ? static_cast<double>(second.count) / mean_per_second : 0;
  }
};

// The events of a limit, in total or on one route.
struct LimitCounts {
  engine::EventTotals events{};

  [[nodiscard]] std::uint64_t of(engine::Event event) const noexcept { return events[static_cast<std::size_t>(event)]; }
  [[nodiscard]] std::uint64_t denied() const noexcept {  // includes blocked
    return of(engine::Event::denied) + of(engine::Event::blocked);
  }
  [[nodiscard]] std::uint64_t evaluated() const noexcept {
    return denied() + of(engine::Event::admitted) + of(engine::Event::uncharged) + of(engine::Event::warned) +
           of(engine::Event::shadow_denied);
  }
  LimitCounts& operator+=(const LimitCounts& other) noexcept {
    for (std::size_t i = 0; i < events.size(); ++i) events[i] += other.events[i];
    return *this;
  }
};

struct LimitOnRoute {
  std::string route;
  LimitCounts counts;
};

// The consumers with the most occurrences of an event.
struct HardestHit {
  struct Consumer {
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t error = 0;  // the true count is at most this much higher
  };
  std::vector<Consumer> consumers;  // at most 20
  std::uint64_t total = 0;          // occurrences over all consumers
  std::uint64_t affected = 0;       // the number of consumers, an estimate unless exact
  bool exact = true;
};

// For the consumers of one tier, the distribution of the number that each needed from a limit.
struct Demand {
  struct Bar {
    std::uint64_t from = 0;  // both bounds are inclusive
    std::uint64_t to = 0;
    std::uint64_t consumers = 0;
  };
  // The share of consumers that the limit would never have denied if its burst, queue or limit had the given value.
  struct Quantiles {
    std::uint64_t half = 0;
    std::uint64_t p99 = 0;
    std::uint64_t p999 = 0;
    std::uint64_t all = 0;
  };
  struct AtRate {
    std::string rate;
    Quantiles number;
  };

  std::string tier;
  std::string numbers;          // the current configuration: `100/min, burst 20`
  std::string word;             // the unit of the numbers below: burst, queue or limit
  std::uint64_t present = 0;    // the current value
  bool upper_bound = false;     // the numbers are upper bounds (sliding_window_log), not exact
  std::uint64_t consumers = 0;  // consumers in the sample
  std::uint64_t one_in = 1;     // the sampling ratio; 1 means all consumers
  std::uint64_t satisfied = 0;  // consumers in the sample that are never denied with the current value
  std::vector<Bar> bars;
  std::vector<AtRate> rates;  // the current rate, then (not for windows) its multiples
};

// A `candidate:` inside the policy.
struct CandidateReport {
  std::string numbers;
  std::string algorithm;
  std::uint64_t agrees = 0;
  std::uint64_t newly_denied = 0;
  std::uint64_t newly_admitted = 0;
  HardestHit newly_denied_consumers;
  HardestHit newly_admitted_consumers;
};

struct LimitReport {
  std::string name;
  std::string algorithm;
  std::string numbers;
  std::string consumer_key;
  std::string mode;
  LimitCounts counts;
  std::vector<LimitOnRoute> routes;  // routes with requests, the busiest first
  Pace pace;
  HardestHit hardest_hit;
  std::vector<Demand> demand;  // one per tier with consumers
  std::optional<CandidateReport> candidate;
};

struct RouteReport {
  std::string route;
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  Pace pace;
};

struct PolicyReport {
  std::string name;
  std::string digest;
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t warned = 0;     // subset of admitted
  std::uint64_t delayed = 0;    // subset of admitted: waited in a queue
  std::uint64_t uncovered = 0;  // subset of admitted: covered by no limit
  std::uint64_t ignored_headers = 0;
  std::uint64_t unknown_tiers = 0;
  std::uint64_t overflowed = 0;     // decided on shared states because memory ran out
  std::vector<LimitReport> limits;  // in file order
  std::vector<RouteReport> routes;  // the busiest first
  Timeline timeline;
};

// A second policy on the same requests. A difference is attributed to the limit that denies and its consumer.
struct Comparison {
  struct Row {
    std::string limit;
    std::string route;
    std::uint64_t newly_denied = 0;
    std::uint64_t newly_admitted = 0;
  };
  struct OfLimit {
    std::string limit;
    HardestHit consumers;
  };
  std::uint64_t both_admit = 0;
  std::uint64_t both_deny = 0;
  std::uint64_t newly_denied = 0;
  std::uint64_t newly_admitted = 0;
  std::vector<Row> rows;                   // those with a difference, the largest first
  std::vector<OfLimit> newly_denied_by;    // the limits of the candidate that deny
  std::vector<OfLimit> newly_admitted_by;  // the limits of the current policy that denied
};

struct LogReport {
  std::vector<std::string> files;
  std::optional<LogFormat> format;
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;
  std::uint64_t not_understood = 0;
  std::array<std::uint64_t, fault_kinds> faults{};  // the number of lines by Fault
  std::vector<FaultTally::Example> examples;        // with excerpts only if keys are shown
  std::uint64_t overlong_lines = 0;
  std::uint64_t late = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t left_early = 0;
  std::uint64_t whole_second_entries = 0;
  WholeSeconds whole_seconds = WholeSeconds::spread;
  std::uint64_t without_cost = 0;     // requests that count as 1; set only if costs are read
  std::uint64_t held_for_lease = 0;   // requests without a duration; set only with concurrency limits
  std::uint64_t settled_at_once = 0;  // requests without a duration; set only with estimates
  std::vector<LogGap> gaps;           // properties that a policy needs and no line has
  std::string default_tier;           // the tier of requests without one
  std::uint64_t tiers_from_file = 0;  // requests with the tier of their user in the tiers file
  std::uint64_t unlisted_users = 0;   // requests without a tier whose user is not in that file
  std::vector<std::string> problems;  // one per incomplete log
};

struct Report {
  LogReport log;
  Instant first{};  // the time of the first request
  Instant last{};
  Pace pace;
  PolicyReport policy;
  std::optional<PolicyReport> candidate;
  std::optional<Comparison> comparison;
  std::optional<NodesReport> nodes;
  std::vector<EstimateReport> estimates;  // empty, or `report` first
  bool shows_keys = false;                // consumers are shown by name instead of by keyed hash
};

enum class Colour : std::uint8_t { off, on };

// Plain text with tables of at most about 120 columns.
[[nodiscard]] std::string report_text(const Report& report, Colour colour = Colour::off);

// report_json.cpp documents the fields.
[[nodiscard]] std::string report_json(const Report& report,
                                      text::JsonWriter::Layout layout = text::JsonWriter::Layout::indented);

// A self-contained page with charts: the JSON and a script that renders it.
[[nodiscard]] std::string report_html(const Report& report);

}  // namespace weir::simulate
