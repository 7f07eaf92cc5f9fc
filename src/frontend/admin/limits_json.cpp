#include "frontend/admin/live_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "frontend/admin/admin_json.h"
#include "policy/words.h"
#include "text/json_writer.h"

namespace weir::frontend {
namespace {

using engine::Event;
using policy::CompiledLimit;
using text::JsonWriter;

constexpr std::size_t max_listed_routes = 20;

std::uint64_t count_of(const engine::EventTotals& totals, Event event) noexcept {
  return totals[static_cast<std::size_t>(event)];
}

std::optional<double> share_of(std::uint64_t part, std::uint64_t whole) noexcept {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

void write_last_minute(const LimitFigures& figures, JsonWriter& json) {
  json.begin_object("traffic");
  write_counts(figures.traffic, json);
  json.end_object();
  json.field("denied_share", share_of(figures.traffic.denied, figures.traffic.decisions));
  json.field("shadow_share", share_of(figures.traffic.shadow_denied, figures.traffic.decisions));
}

void write_since_start(const LimitFigures& figures, JsonWriter& json) {
  constexpr std::array<std::pair<Event, std::string_view>, 9> listed{{{Event::admitted, "admitted"},
                                                                      {Event::denied, "denied"},
                                                                      {Event::uncharged, "uncharged"},
                                                                      {Event::warned, "warned"},
                                                                      {Event::blocked, "blocked"},
                                                                      {Event::shadow_denied, "shadow_denied"},
                                                                      {Event::skipped, "skipped"},
                                                                      {Event::shared, "shared"},
                                                                      {Event::unlimited, "unlimited"}}};
  json.begin_object("total");
  for (const auto& [event, name] : listed) json.field(name, count_of(figures.total, event));
  json.end_object();
  const std::size_t routes = std::min(figures.by_route.size(), max_listed_routes);
  json.list("by_route", std::span(figures.by_route).first(routes), [&](const LimitFigures::OfRoute& of) {
    json.begin_object();
    json.field("route", of.route);
    write_counts(of.counts, json);
    json.end_object();
  });
}

// Omits the last bucket, which lies beyond the whole limit and is always empty.
void write_headroom(const observe::HeadroomHistogram::Totals& headroom, JsonWriter& json) {
  constexpr double unit = 1e-6;
  json.begin_object("headroom");
  json.list("bounds", observe::headroom_scale.bounds,
            [&](std::uint64_t bound) { json.field({}, static_cast<double>(bound) * unit); });
  json.list("counts", std::span(headroom.counts).first(observe::HeadroomHistogram::bounds));
  json.end_object();
}

void write_candidate_figures(const CompiledLimit& limit, const policy::Tiers& tiers, const LimitFigures& figures,
                             JsonWriter& json) {
  json.object_or_null("candidate", limit.candidate, [&](const auto&) {
    write_candidate_numbers(limit, tiers, json);
    json.fields("agreed", count_of(figures.total, Event::candidate_agrees), "newly_denied",
                count_of(figures.total, Event::candidate_newly_denied), "newly_admitted",
                count_of(figures.total, Event::candidate_newly_admitted), "newly_denied_consumers",
                figures.newly_denied_consumers, "newly_admitted_consumers", figures.newly_admitted_consumers);
  });
}

void write_recent(const LimitFigures& figures, JsonWriter& json) {
  json.object_or_null("spike", figures.spike, [&](const observe::Spikes::Lasting& spike) {
    json.fields("since", spike.since, "rate", spike.rates.now, "past", spike.rates.past, "seconds",
                spike.rates.seconds);
  });
  json.object_or_null("recent", figures.recent, [&](const auto& counts) { write_series(counts, json); });
}

void write_listed_limit(const CompiledLimit& limit, const policy::Ruleset& ruleset, const LimitsReport& report,
                        JsonWriter& json) {
  static const LimitFigures nothing;
  const auto found = report.limits.find(limit.name);
  const LimitFigures& figures = found == report.limits.end() ? nothing : found->second;
  write_limit_head(limit, ruleset.tiers, json);
  json.field("line", static_cast<unsigned>(limit.at.line));
  json.field("words", policy::limit_text(limit));
  json.field("consistency", name_of(limit.consistency.kind));
  json.field("on_store_failure", name_of(limit.on_store_failure));
  write_graduation(limit, json);
  write_last_minute(figures, json);
  write_since_start(figures, json);
  write_headroom(figures.headroom, json);
  json.object("states", "entries", figures.states.entries, "bytes", figures.states.bytes, "budget",
              figures.states.budget, "overflowed", figures.states.overflowed);
  json.field("consumers", figures.consumers);
  write_candidate_figures(limit, ruleset.tiers, figures, json);
  json.list("top_denied", figures.top_denied, [&](const observe::DeniedConsumer& denied) {
    json.object({}, "consumer", denied.consumer, "count", denied.count, "error", denied.error);
  });
  write_recent(figures, json);
}

}  // namespace

std::string limits_json(const policy::Ruleset& ruleset, const LimitsReport& report) {
  const std::size_t listed = std::min(ruleset.limits.size(), max_listed_limits);
  JsonWriter json;
  json.begin_object();
  json.fields("seconds", report.span, "more", ruleset.limits.size() - listed);
  json.object("throttle", "decisions", report.throttle.decisions, "denied", report.throttle.denied);
  json.list("limits", std::span(ruleset.limits).first(listed), [&](const CompiledLimit& limit) {
    json.begin_object();
    write_listed_limit(limit, ruleset, report, json);
    json.end_object();
  });
  json.end_object();
  return json.take();
}

std::string limit_json(const policy::Ruleset& ruleset, const CompiledLimit& limit, const LimitsReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("seconds", report.span);
  json.begin_object("limit");
  write_listed_limit(limit, ruleset, report, json);
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace weir::frontend
