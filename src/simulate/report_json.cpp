#include "simulate/report_json.h"

#include <array>
#include <string_view>

#include "simulate/json_writer.h"
#include "simulate/report_words.h"

namespace weir::simulate {
namespace {

using engine::Event;

// As Fault has them.
constexpr std::array<std::string_view, fault_kinds> fault_names{
    "no_address", "no_time", "bad_time", "no_quoted_request", "no_request", "bad_request", "not_json"};

class ReportJson {
 public:
  [[nodiscard]] std::string write(const Report& report) {
    json_.begin_object();
    json_.field("version", 1U);
    json_.field("from", rfc3339(report.first));
    json_.field("to", rfc3339(report.last));
    pace(report.pace);
    log(report.log);
    policy("policy", report.policy);
    if (report.candidate) {
      policy("candidate", *report.candidate);
    } else {
      json_.null("candidate");
    }
    if (report.comparison) {
      comparison(*report.comparison);
    } else {
      json_.null("comparison");
    }
    json_.field("keys", report.shows_keys ? "shown" : "hashed");
    json_.end_object();
    return json_.take();
  }

 private:
  void peak(std::string_view name, const Peak& peak) {
    json_.begin_object(name);
    json_.field("count", peak.count);
    json_.field("at", rfc3339(peak.at));
    json_.end_object();
  }

  void pace(const Pace& pace) {
    json_.begin_object("pace");
    json_.field("requests", pace.requests);
    json_.field("mean_per_second", pace.mean_per_second);
    peak("peak_second", pace.second);
    peak("peak_minute", pace.minute);
    json_.field("burst_ratio", pace.burst_ratio());
    json_.end_object();
  }

  void log(const LogReport& log) {
    json_.begin_object("log");
    json_.begin_array("files");
    for (const std::string& file : log.files) json_.field({}, file);
    json_.end_array();
    if (log.format) {
      json_.field("format", *log.format == LogFormat::json ? "json" : "combined");
    } else {
      json_.null("format");
    }
    json_.field("lines", log.lines);
    json_.field("entries", log.entries);
    faults(log);
    json_.field("overlong_lines", log.overlong_lines);
    json_.field("late", log.late);
    json_.field("out_of_order", log.out_of_order);
    json_.field("left_early", log.left_early);
    json_.field("whole_second_entries", log.whole_second_entries);
    json_.field("whole_seconds", log.whole_seconds == WholeSeconds::spread ? "spread" : "stacked");
    json_.begin_array("problems");
    for (const std::string& problem : log.problems) json_.field({}, problem);
    json_.end_array();
    json_.end_object();
  }

  void faults(const LogReport& log) {
    json_.begin_object("not_understood");
    json_.field("total", log.not_understood);
    for (std::size_t kind = 0; kind < fault_kinds; ++kind) json_.field(fault_names[kind], log.faults[kind]);
    json_.begin_array("examples");
    for (const FaultTally::Example& example : log.examples) {
      json_.begin_object();
      json_.field("line", example.line_number);
      json_.field("kind", fault_names[static_cast<std::size_t>(example.fault)]);
      json_.field("excerpt", example.excerpt);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void policy(std::string_view name, const PolicyReport& policy) {
    json_.begin_object(name);
    json_.field("name", policy.name);
    json_.field("digest", policy.digest);
    json_.field("admitted", policy.admitted);
    json_.field("denied", policy.denied);
    json_.field("warned", policy.warned);
    json_.field("delayed", policy.delayed);
    json_.field("uncovered", policy.uncovered);
    json_.field("ignored_headers", policy.ignored_headers);
    json_.field("unknown_tiers", policy.unknown_tiers);
    json_.field("overflowed", policy.overflowed);
    json_.begin_array("limits");
    for (const LimitReport& of : policy.limits) limit(of);
    json_.end_array();
    json_.begin_array("routes");
    for (const RouteReport& route : policy.routes) {
      json_.begin_object();
      json_.field("route", route.route);
      json_.field("admitted", route.admitted);
      json_.field("denied", route.denied);
      pace(route.pace);
      json_.end_object();
    }
    json_.end_array();
    timeline(policy.timeline);
    json_.end_object();
  }

  void counts(const LimitCounts& counts) {
    json_.field("admitted", counts.of(Event::admitted));
    json_.field("denied", counts.denied());
    json_.field("blocked", counts.of(Event::blocked));
    json_.field("uncharged", counts.of(Event::uncharged));
    json_.field("warned", counts.of(Event::warned));
    json_.field("shadow_denied", counts.of(Event::shadow_denied));
    json_.field("skipped", counts.of(Event::skipped));
    json_.field("shared", counts.of(Event::shared));
    json_.field("unlimited", counts.of(Event::unlimited));
  }

  void limit(const LimitReport& limit) {
    json_.begin_object();
    json_.field("name", limit.name);
    json_.field("algorithm", limit.algorithm);
    json_.field("numbers", limit.numbers);
    json_.field("consumer_key", limit.consumer_key);
    json_.field("mode", limit.mode);
    counts(limit.counts);
    pace(limit.pace);
    json_.begin_array("routes");
    for (const LimitOnRoute& route : limit.routes) {
      json_.begin_object();
      json_.field("route", route.route);
      counts(route.counts);
      json_.end_object();
    }
    json_.end_array();
    ranking("hardest_hit", limit.hardest_hit);
    json_.begin_array("demand");
    for (const Demand& of : limit.demand) demand(of);
    json_.end_array();
    candidate(limit.candidate);
    json_.end_object();
  }

  void candidate(const std::optional<CandidateReport>& candidate) {
    if (!candidate) {
      json_.null("candidate");
      return;
    }
    json_.begin_object("candidate");
    json_.field("algorithm", candidate->algorithm);
    json_.field("numbers", candidate->numbers);
    json_.field("agrees", candidate->agrees);
    json_.field("newly_denied", candidate->newly_denied);
    json_.field("newly_admitted", candidate->newly_admitted);
    ranking("newly_denied_consumers", candidate->newly_denied_consumers);
    ranking("newly_admitted_consumers", candidate->newly_admitted_consumers);
    json_.end_object();
  }

  void demand(const Demand& demand) {
    json_.begin_object();
    json_.field("tier", demand.tier);
    json_.field("numbers", demand.numbers);
    json_.field("number", demand.word);
    json_.field("present", demand.present);
    json_.field("upper_bound", demand.upper_bound);
    json_.field("consumers", demand.consumers);
    json_.field("sampled_one_in", demand.one_in);
    json_.field("satisfied", demand.satisfied);
    json_.begin_array("needed");
    for (const Demand::AtRate& rate : demand.rates) {
      json_.begin_object();
      json_.field("rate", rate.rate);
      json_.field("p50", rate.number.half);
      json_.field("p99", rate.number.p99);
      json_.field("p999", rate.number.p999);
      json_.field("max", rate.number.all);
      json_.end_object();
    }
    json_.end_array();
    json_.begin_array("histogram");
    for (const Demand::Bar& bar : demand.bars) {
      json_.begin_object();
      json_.field("from", bar.from);
      json_.field("to", bar.to);
      json_.field("consumers", bar.consumers);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void ranking(std::string_view name, const HardestHit& hit) {
    json_.begin_object(name);
    json_.field("total", hit.total);
    json_.field("consumers", hit.affected);
    json_.field("exact", hit.exact);
    json_.begin_array("top");
    for (const HardestHit::Consumer& consumer : hit.consumers) {
      json_.begin_object();
      json_.field("consumer", consumer.name);
      json_.field("count", consumer.count);
      json_.field("error", consumer.error);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void timeline(const Timeline& timeline) {
    json_.begin_object("timeline");
    json_.field("start", rfc3339(timeline.start()));
    json_.field("seconds_per_bin", static_cast<std::uint64_t>(timeline.width() / std::chrono::seconds{1}));
    json_.begin_array("admitted");
    for (const Timeline::Bin& bin : timeline.bins()) json_.field({}, bin.admitted);
    json_.end_array();
    json_.begin_array("denied");
    for (const Timeline::Bin& bin : timeline.bins()) json_.field({}, bin.denied);
    json_.end_array();
    json_.end_object();
  }

  void comparison(const Comparison& comparison) {
    json_.begin_object("comparison");
    json_.field("both_admit", comparison.both_admit);
    json_.field("both_deny", comparison.both_deny);
    json_.field("newly_denied", comparison.newly_denied);
    json_.field("newly_admitted", comparison.newly_admitted);
    json_.begin_array("by_limit_and_route");
    for (const Comparison::Row& row : comparison.rows) {
      json_.begin_object();
      json_.field("limit", row.limit);
      json_.field("route", row.route);
      json_.field("newly_denied", row.newly_denied);
      json_.field("newly_admitted", row.newly_admitted);
      json_.end_object();
    }
    json_.end_array();
    by_limit("newly_denied_consumers", comparison.newly_denied_by);
    by_limit("newly_admitted_consumers", comparison.newly_admitted_by);
    json_.end_object();
  }

  void by_limit(std::string_view name, const std::vector<Comparison::OfLimit>& limits) {
    json_.begin_array(name);
    for (const Comparison::OfLimit& of : limits) {
      json_.begin_object();
      json_.field("limit", of.limit);
      ranking("consumers", of.consumers);
      json_.end_object();
    }
    json_.end_array();
  }

  JsonWriter json_;
};

}  // namespace

std::string report_json(const Report& report) {
  return ReportJson().write(report);
}

}  // namespace weir::simulate
