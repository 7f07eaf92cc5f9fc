// The report as JSON. Field names are stable: fields may be added, none changes its meaning within a version.
//
//   version         1
//   from, to        first and last request, RFC 3339, UTC, whole seconds
//   pace            requests, mean_per_second, peak_second {count, at}, peak_minute {count, at}, burst_ratio
//                   (`at`: its start; a minute is any 60 consecutive seconds; burst_ratio: peak second over the mean)
//   log             files, format, lines, entries, not_understood {total, <kind>..., examples [{line, kind, excerpt}]},
//                   overlong_lines, late, out_of_order, left_early, whole_second_entries,
//                   whole_seconds ("spread" | "stacked"), without_cost, held_for_lease, settled_at_once,
//                   tiers_from_file, unlisted_users, gaps [{what ("tier" | "user" | "api_key" | "header:NAME"),
//                   limits}] (needed by these limits and in no line), problems
//   policy          name, digest, admitted, denied, warned, delayed, uncovered, ignored_headers, unknown_tiers,
//                   overflowed,
//                   limits [{name, algorithm, numbers, consumer_key, mode, COUNTS, pace,
//                     routes [{route, COUNTS}],
//                     hardest_hit RANKING,
//                     demand [{tier, numbers, number ("burst" | "queue" | "limit"), present, upper_bound, consumers,
//                       sampled_one_in, satisfied, needed [{rate, p50, p99, p999, max}],
//                       histogram [{from, to, consumers}]}],
//                     candidate {algorithm, numbers, agrees, newly_denied, newly_admitted,
//                       newly_denied_consumers RANKING, newly_admitted_consumers RANKING} | null}],
//                   routes [{route, admitted, denied, pace}],
//                   timeline {start, seconds_per_bin, admitted [...], denied [...]}
//   candidate       the second policy, like `policy`, or null
//   comparison      both_admit, both_deny, newly_denied, newly_admitted,
//                   by_limit_and_route [{limit, route, newly_denied, newly_admitted}],
//                   newly_denied_consumers [{limit, consumers RANKING}], newly_admitted_consumers likewise; or null
//   nodes           count, spread ("round-robin" | "client"), round_trip (seconds), consistency (of all limits; null:
//                   as configured), admitted, denied, newly_denied, newly_admitted, covered, without_round_trip
//                   (of the covered), messages {total, mean_per_second, peak_second {count, at}, peak_minute {count,
//                   at}}, limits [{name, consistency, evaluated, exact_admitted, exact_denied, admitted, denied,
//                     newly_denied, newly_admitted, contended_denials, without_round_trip, messages, over (or null),
//                     max_excess (or null)}]; or null
//   estimates       [{estimate ("report" | "max" | "p95 of 100" | "4096"), admitted, denied, newly_denied,
//                   newly_admitted (compared with costs known in advance),
//                   limits [{name, denied, reserved, spent, given_back, wasted (units x seconds), overspent,
//                     not_kept}]}]; or null
//   keys            "hashed" | "shown"
//   words           sentences for people, which may change in any version: cautions_title, cautions, remarks,
//                   nodes_title and nodes_traffic (or null), estimates, faults {<kind>: sentence}
//
// COUNTS: admitted, denied, blocked (of the denied, by a penalty), uncharged (another limit denied), warned,
// shadow_denied, skipped, shared, unlimited.
// RANKING: total, consumers (how many; an estimate unless `exact`), exact, top [{consumer, count, error}].
#include <array>
#include <string_view>

#include "simulate/report.h"
#include "simulate/report_words.h"

namespace weir::simulate {
namespace {

class ReportJson {
 public:
  explicit ReportJson(text::JsonWriter::Layout layout) : json_(layout) {}

  [[nodiscard]] std::string write(const Report& report) {
    json_.begin_object();
    json_.fields("version", 1U, "from", report.first, "to", report.last);
    pace(report.pace);
    log(report.log);
    policy("policy", &report.policy);
    policy("candidate", report.candidate ? &*report.candidate : nullptr);
    comparison(report.comparison);
    nodes(report.nodes);
    estimates(report.estimates);
    json_.field("keys", report.shows_keys ? "shown" : "hashed");
    words(report);
    json_.end_object();
    return json_.take();
  }

 private:
  void texts(std::string_view name, const std::vector<std::string>& texts) {
    json_.list(name, texts, [&](const std::string& text) { json_.element(text); });
  }

  void peak(std::string_view name, const Peak& peak) { json_.object(name, "count", peak.count, "at", peak.at); }

  void pace(const Pace& pace) {
    json_.begin_object("pace");
    json_.fields("requests", pace.requests, "mean_per_second", pace.mean_per_second);
    peak("peak_second", pace.second);
    peak("peak_minute", pace.minute);
    json_.field("burst_ratio", pace.burst_ratio());
    json_.end_object();
  }

  void log(const LogReport& log) {
    json_.begin_object("log");
    texts("files", log.files);
    constexpr std::array formats{"combined", "json"};
    json_.field_or_null("format", log.format ? formats[static_cast<std::size_t>(*log.format)] : "");
    json_.fields("lines", log.lines, "entries", log.entries);
    faults(log);
    json_.fields("overlong_lines", log.overlong_lines, "late", log.late, "out_of_order", log.out_of_order, "left_early",
                 log.left_early, "whole_second_entries", log.whole_second_entries, "whole_seconds",
                 log.whole_seconds == WholeSeconds::spread ? "spread" : "stacked", "without_cost", log.without_cost,
                 "held_for_lease", log.held_for_lease, "settled_at_once", log.settled_at_once, "tiers_from_file",
                 log.tiers_from_file, "unlisted_users", log.unlisted_users);
    json_.list("gaps", log.gaps, [&](const LogGap& gap) {
      json_.begin_object();
      json_.field("what", gap.what);
      texts("limits", gap.limits);
      json_.end_object();
    });
    texts("problems", log.problems);
    json_.end_object();
  }

  void faults(const LogReport& log) {
    json_.begin_object("not_understood");
    json_.field("total", log.not_understood);
    for (std::size_t kind = 0; kind < fault_kinds; ++kind) json_.field(fault_words[kind].name, log.faults[kind]);
    json_.list("examples", log.examples, [&](const FaultTally::Example& example) {
      json_.object({}, "line", example.line_number, "kind", name_of(example.fault), "excerpt", example.excerpt);
    });
    json_.end_object();
  }

  void policy(std::string_view name, const PolicyReport* found) {
    if (found == nullptr) return json_.null(name);
    const PolicyReport& policy = *found;
    json_.begin_object(name);
    json_.fields("name", policy.name, "digest", policy.digest, "admitted", policy.admitted, "denied", policy.denied,
                 "warned", policy.warned, "delayed", policy.delayed, "uncovered", policy.uncovered, "ignored_headers",
                 policy.ignored_headers, "unknown_tiers", policy.unknown_tiers, "overflowed", policy.overflowed);
    json_.list("limits", policy.limits, [&](const LimitReport& of) { limit(of); });
    json_.list("routes", policy.routes, [&](const RouteReport& route) {
      json_.begin_object();
      json_.fields("route", route.route, "admitted", route.admitted, "denied", route.denied);
      pace(route.pace);
      json_.end_object();
    });
    timeline(policy.timeline);
    json_.end_object();
  }

  void counts(const LimitCounts& counts) {
    using engine::Event;
    json_.fields("admitted", counts.of(Event::admitted), "denied", counts.denied(), "blocked",
                 counts.of(Event::blocked), "uncharged", counts.of(Event::uncharged), "warned",
                 counts.of(Event::warned), "shadow_denied", counts.of(Event::shadow_denied), "skipped",
                 counts.of(Event::skipped), "shared", counts.of(Event::shared), "unlimited",
                 counts.of(Event::unlimited));
  }

  void limit(const LimitReport& limit) {
    json_.begin_object();
    json_.fields("name", limit.name, "algorithm", limit.algorithm, "numbers", limit.numbers, "consumer_key",
                 limit.consumer_key, "mode", limit.mode);
    counts(limit.counts);
    pace(limit.pace);
    json_.list("routes", limit.routes, [&](const LimitOnRoute& route) {
      json_.begin_object();
      json_.field("route", route.route);
      counts(route.counts);
      json_.end_object();
    });
    ranking("hardest_hit", limit.hardest_hit);
    json_.list("demand", limit.demand, [&](const Demand& of) { demand(of); });
    candidate(limit.candidate);
    json_.end_object();
  }

  void candidate(const std::optional<CandidateReport>& candidate) {
    if (!candidate) return json_.null("candidate");
    json_.begin_object("candidate");
    json_.fields("algorithm", candidate->algorithm, "numbers", candidate->numbers, "agrees", candidate->agrees,
                 "newly_denied", candidate->newly_denied, "newly_admitted", candidate->newly_admitted);
    ranking("newly_denied_consumers", candidate->newly_denied_consumers);
    ranking("newly_admitted_consumers", candidate->newly_admitted_consumers);
    json_.end_object();
  }

  void demand(const Demand& demand) {
    json_.begin_object();
    json_.fields("tier", demand.tier, "numbers", demand.numbers, "number", demand.word, "present", demand.present,
                 "upper_bound", demand.upper_bound, "consumers", demand.consumers, "sampled_one_in", demand.one_in,
                 "satisfied", demand.satisfied);
    json_.list("needed", demand.rates, [&](const Demand::AtRate& rate) {
      json_.object({}, "rate", rate.rate, "p50", rate.number.half, "p99", rate.number.p99, "p999", rate.number.p999,
                   "max", rate.number.all);
    });
    json_.list("histogram", demand.bars, [&](const Demand::Bar& bar) {
      json_.object({}, "from", bar.from, "to", bar.to, "consumers", bar.consumers);
    });
    json_.end_object();
  }

  void ranking(std::string_view name, const HardestHit& hit) {
    json_.begin_object(name);
    json_.fields("total", hit.total, "consumers", hit.affected, "exact", hit.exact);
    json_.list("top", hit.consumers, [&](const HardestHit::Consumer& consumer) {
      json_.object({}, "consumer", consumer.name, "count", consumer.count, "error", consumer.error);
    });
    json_.end_object();
  }

  void timeline(const Timeline& timeline) {
    json_.begin_object("timeline");
    json_.fields("start", timeline.start(), "seconds_per_bin",
                 static_cast<std::uint64_t>(timeline.width() / std::chrono::seconds{1}));
    json_.list("admitted", timeline.bins(), [&](const Timeline::Bin& bin) { json_.field({}, bin.admitted); });
    json_.list("denied", timeline.bins(), [&](const Timeline::Bin& bin) { json_.field({}, bin.denied); });
    json_.end_object();
  }

  void comparison(const std::optional<Comparison>& comparison) {
    if (!comparison) return json_.null("comparison");
    json_.begin_object("comparison");
    json_.fields("both_admit", comparison->both_admit, "both_deny", comparison->both_deny, "newly_denied",
                 comparison->newly_denied, "newly_admitted", comparison->newly_admitted);
    json_.list("by_limit_and_route", comparison->rows, [&](const Comparison::Row& row) {
      json_.object({}, "limit", row.limit, "route", row.route, "newly_denied", row.newly_denied, "newly_admitted",
                   row.newly_admitted);
    });
    by_limit("newly_denied_consumers", comparison->newly_denied_by);
    by_limit("newly_admitted_consumers", comparison->newly_admitted_by);
    json_.end_object();
  }

  void nodes(const std::optional<NodesReport>& nodes) {
    if (!nodes) return json_.null("nodes");
    json_.begin_object("nodes");
    json_.fields("count", nodes->nodes, "spread", name_of(nodes->spread), "round_trip", nodes->round_trip);
    json_.field_or_null("consistency", nodes->consistency);
    json_.fields("admitted", nodes->admitted, "denied", nodes->denied, "newly_denied", nodes->newly_denied,
                 "newly_admitted", nodes->newly_admitted, "covered", nodes->covered, "without_round_trip",
                 nodes->without_round_trip);
    json_.begin_object("messages");
    json_.fields("total", nodes->messages.requests, "mean_per_second", nodes->messages_per_second);
    peak("peak_second", nodes->messages.second);
    peak("peak_minute", nodes->messages.minute);
    json_.end_object();
    json_.list("limits", nodes->limits, [&](const NodesReport::OfLimit& of) {
      json_.object({}, "name", of.name, "consistency", of.consistency, "evaluated", of.evaluated, "exact_admitted",
                   of.exact_admitted, "exact_denied", of.exact_denied, "admitted", of.admitted, "denied", of.denied,
                   "newly_denied", of.newly_denied, "newly_admitted", of.newly_admitted, "contended_denials",
                   of.contended_denials, "without_round_trip", of.without_round_trip, "messages", of.messages, "over",
                   of.over, "max_excess", of.max_excess);
    });
    json_.end_object();
  }

  void estimates(const std::vector<EstimateReport>& estimates) {
    if (estimates.empty()) return json_.null("estimates");
    json_.list("estimates", estimates, [&](const EstimateReport& one) {
      json_.begin_object();
      json_.fields("estimate", one.estimate, "admitted", one.admitted, "denied", one.denied, "newly_denied",
                   one.newly_denied, "newly_admitted", one.newly_admitted);
      json_.list("limits", one.limits, [&](const EstimateReport::OfLimit& of) {
        json_.object({}, "name", of.name, "denied", of.denied, "reserved", of.reserved, "spent", of.spent, "given_back",
                     of.given_back, "wasted", of.wasted, "overspent", of.overspent, "not_kept", of.not_kept);
      });
      json_.end_object();
    });
  }

  void by_limit(std::string_view name, const std::vector<Comparison::OfLimit>& limits) {
    json_.list(name, limits, [&](const Comparison::OfLimit& of) {
      json_.begin_object();
      json_.field("limit", of.limit);
      ranking("consumers", of.consumers);
      json_.end_object();
    });
  }

  // The sentences shared by the text report and the page.
  void words(const Report& report) {
    json_.begin_object("words");
    json_.field("cautions_title", cautions_title);
    texts("cautions", cautions_on(report.log));
    texts("remarks", remarks_on(report.log));
    json_.field_or_null("nodes_title", report.nodes ? title_of(*report.nodes) : "");
    json_.field_or_null("nodes_traffic", report.nodes ? traffic_of(*report.nodes) : "");
    texts("estimates", words_on_estimates());
    json_.begin_object("faults");
    for (const FaultWords& fault : fault_words) json_.field(fault.name, fault.sentence);
    json_.end_object();
    json_.end_object();
  }

  text::JsonWriter json_;
};

}  // namespace

std::string report_json(const Report& report, text::JsonWriter::Layout layout) {
  return ReportJson(layout).write(report);
}

}  // namespace weir::simulate
