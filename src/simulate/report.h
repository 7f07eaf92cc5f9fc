// What a simulation found, as a value, and the three ways to show it. Texts that come from a log have been through
// display_text().
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

// How busy something was.
struct Pace {
  std::uint64_t requests = 0;
  Peak second;
  Peak minute;
  double mean_per_second = 0;  // over the whole log

  // Burst to sustained use: the busiest second over the mean. One is perfectly even.
  [[nodiscard]] double burst_ratio() const noexcept {
    return mean_per_second > 0 ? static_cast<double>(second.count) / mean_per_second : 0;
  }
};

// Of a limit, or of a limit on one route.
struct LimitCounts {
  engine::EventTotals events{};

  [[nodiscard]] std::uint64_t of(engine::Event event) const noexcept { return events[static_cast<std::size_t>(event)]; }
  [[nodiscard]] std::uint64_t denied() const noexcept {  // for any reason of this limit
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

// The consumers that something happened to most often.
struct HardestHit {
  struct Consumer {
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t error = 0;  // the true count is at most that much higher
  };
  std::vector<Consumer> consumers;  // at most 20
  std::uint64_t total = 0;          // how often it happened, to anyone
  std::uint64_t affected = 0;       // how many consumers; about, if not exact
  bool exact = true;
};

// The distribution of what consumers needed of a limit in one tier, and what follows from it.
struct Demand {
  struct Bar {
    std::uint64_t from = 0;  // needs in [from, to]
    std::uint64_t to = 0;
    std::uint64_t consumers = 0;
  };
  // With `number` as burst, queue or limit, that share of consumers would never have been denied by this limit.
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
  std::string numbers;          // as they are: `100/min, burst 20`
  std::string word;             // what the numbers below are: burst, queue, limit
  std::uint64_t present = 0;    // its present value
  bool upper_bound = false;     // the needs are upper bounds (sliding_window_log); otherwise exact
  std::uint64_t consumers = 0;  // that were looked at
  std::uint64_t one_in = 1;     // one in so many of all: a sample, if more than one
  std::uint64_t satisfied = 0;  // of these, never to be denied as it is
  std::vector<Bar> bars;
  std::vector<AtRate> rates;  // the present rate first, then multiples; for windows only the first
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
  std::vector<LimitOnRoute> routes;  // with requests, the most first
  Pace pace;
  HardestHit hardest_hit;
  std::vector<Demand> demand;  // by tier, those with consumers
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
  std::uint64_t warned = 0;     // of the admitted
  std::uint64_t delayed = 0;    // of the admitted: they waited in a queue
  std::uint64_t uncovered = 0;  // of the admitted: no limit said anything
  std::uint64_t ignored_headers = 0;
  std::uint64_t unknown_tiers = 0;
  std::uint64_t overflowed = 0;     // decided on shared states, for want of memory
  std::vector<LimitReport> limits;  // in file order
  std::vector<RouteReport> routes;  // the busiest first
  Timeline timeline;
};

// A second policy on the same requests. A difference counts for the limit that denies, and for its consumer.
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
  std::vector<Row> rows;                   // with a difference, the largest first
  std::vector<OfLimit> newly_denied_by;    // by limits of the candidate
  std::vector<OfLimit> newly_admitted_by;  // by limits of the present policy, which denied
};

struct LogReport {
  std::vector<std::string> files;
  std::optional<LogFormat> format;
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;
  std::uint64_t not_understood = 0;
  std::array<std::uint64_t, fault_kinds> faults{};  // by Fault
  std::vector<FaultTally::Example> examples;        // of the lines; the excerpts only where keys are shown
  std::uint64_t overlong_lines = 0;
  std::uint64_t late = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t left_early = 0;
  std::uint64_t whole_second_entries = 0;
  WholeSeconds whole_seconds = WholeSeconds::spread;
  std::uint64_t without_cost = 0;     // requests, where costs were asked for: they count as 1
  std::uint64_t held_for_lease = 0;   // requests without a duration, under limits on what is held at once
  std::uint64_t settled_at_once = 0;  // the same, where estimates were asked for
  std::vector<LogGap> gaps;           // what a policy needs to know of requests, and no line says
  std::string default_tier;           // that requests without one have
  std::uint64_t tiers_from_file = 0;  // requests whose tier was that of their user in the file of tiers
  std::uint64_t unlisted_users = 0;   // requests without a tier, of users who are not in that file
  std::vector<std::string> problems;  // a log that ended early
};

struct Report {
  LogReport log;
  Instant first{};  // request
  Instant last{};
  Pace pace;
  PolicyReport policy;
  std::optional<PolicyReport> candidate;
  std::optional<Comparison> comparison;
  std::optional<NodesReport> nodes;
  std::vector<EstimateReport> estimates;  // `report` first; or none
  bool shows_keys = false;                // consumers by name; otherwise by keyed hashes
};

// Whether to write escape sequences for a terminal.
enum class Colour : std::uint8_t { off, on };

// For the terminal: tables of at most about 120 columns.
[[nodiscard]] std::string report_text(const Report& report, Colour colour = Colour::off);

// report_json.cpp lists the fields. Their names are stable: new ones may come, none changes its meaning in a version.
[[nodiscard]] std::string report_json(const Report& report,
                                      text::JsonWriter::Layout layout = text::JsonWriter::Layout::indented);

// One page with charts that loads nothing: the JSON and a script that shows it.
[[nodiscard]] std::string report_html(const Report& report);

}  // namespace weir::simulate
