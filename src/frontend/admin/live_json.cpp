#include "frontend/admin/live_json.h"

#include <algorithm>
#include <cstddef>

#include "base/histogram.h"
#include "frontend/admin/admin_json.h"
#include "text/json_writer.h"

namespace weir::frontend {
namespace {

using observe::Notice;
using observe::Second;
using text::JsonWriter;

constexpr std::size_t max_streamed_limits = 200;

using text::or_null;

void write_notices(std::span<const Notice> notices, JsonWriter& json) {
  json.list("events", notices, [&](const Notice& of) {
    json.object({}, "id", of.id, "at", of.at, "kind", name_of(of.kind), "level", name_of(of.level), "limit",
                or_null(of.limit), "consumer", or_null(of.consumer), "message", of.message);
  });
}

void write_problems(std::string_view name, std::span<const text::Problem> problems, text::Severity severity,
                    JsonWriter& json) {
  json.begin_array(name);
  for (const text::Problem& problem : problems) {
    if (problem.severity != severity) continue;
    json.object({}, "file", problem.file, "line", static_cast<unsigned>(problem.at.line), "column",
                static_cast<unsigned>(problem.at.column), "message", problem.named_message());
  }
  json.end_array();
}

// Writes one number of every second.
template <class Number>
void write_column(std::string_view name, std::span<const Second> seconds, const Number& number, JsonWriter& json) {
  json.list(name, seconds, [&](const Second& second) { json.field({}, number(second)); });
}

void write_running(const PolicyReport::Running& running, JsonWriter& json) {
  json.begin_object("running");
  json.fields("file", or_null(running.file), "origin", running.origin, "digest", running.digest, "loaded_at",
              running.loaded_at, "limits", running.limits);
  write_problems("warnings", running.warnings, text::Severity::warning, json);
  json.end_object();
}

void write_on_disk(const PolicyReport& report, JsonWriter& json) {
  const PolicyReport::OnDisk& disk = report.on_disk;
  using policy::Direction;
  json.begin_object("on_disk");
  json.fields("read_at", disk.read_at, "digest", or_null(disk.digest), "same", disk.digest == report.running.digest);
  json.list("changes", disk.changes, [&](const policy::Change& change) {
    json.object({}, "subject", change.subject, "sentence", change.sentence, "direction", name_of(change.direction));
  });
  for (const Direction direction : {Direction::tighter, Direction::looser, Direction::different, Direction::neutral}) {
    const auto count = std::ranges::count(disk.changes, direction, &policy::Change::direction);
    json.field(name_of(direction), static_cast<std::uint64_t>(count));
  }
  write_problems("errors", disk.problems, text::Severity::error, json);
  write_problems("warnings", disk.problems, text::Severity::warning, json);
  json.end_object();
}

// `counts` has one element more than `bounds`.
template <std::size_t Bounds>
void write_histogram(const base::Scale<Bounds>& scale, const base::HistogramTotals<Bounds>& totals, JsonWriter& json) {
  double unit = 1;
  for (unsigned i = 0; i < scale.places; ++i) unit /= 10;
  json.list("bounds", scale.bounds, [&](std::uint64_t bound) { json.field({}, static_cast<double>(bound) * unit); });
  json.list("counts", totals.counts);
}

void write_store_report(const StoreReport& report, JsonWriter& json) {
  json.fields("topology", report.topology, "opened", report.opened);
  json.begin_object("round_trip");
  json.field("p50", observe::quantile(store::round_trip_scale, report.round_trip, 0.5));
  json.field("p99", observe::quantile(store::round_trip_scale, report.round_trip, 0.99));
  write_histogram(store::round_trip_scale, report.round_trip, json);
  json.end_object();
  json.begin_object("batch_size");
  const auto batches = static_cast<double>(report.batch_size.count());
  json.field("mean", batches > 0 ? std::optional(static_cast<double>(report.batch_size.sum) / batches) : std::nullopt);
  json.field("p99", observe::quantile(store::batch_size_scale, report.batch_size, 0.99));
  write_histogram(store::batch_size_scale, report.batch_size, json);
  json.end_object();
  json.begin_object("decisions");
  for (std::size_t i = 0; i < report.decisions.size(); ++i) {
    json.field(engine::store_path_names[i], report.decisions[i]);
  }
  json.end_object();
  json.list("slices", report.slices, [&](const StoreReport::Slices& out) {
    json.object({}, "limit", out.limit, "slices", out.slices, "units", out.units);
  });
  json.begin_object("errors");
  for (const auto& [kind, count] : report.errors) json.field(kind, count);
  json.end_object();
}

}  // namespace

void write_series(std::span<const observe::TrafficCounts> counts, JsonWriter& json) {
  using observe::TrafficCounts;
  const auto list = [&](std::string_view name, std::uint64_t TrafficCounts::* count) {
    json.list(name, counts, [&](const TrafficCounts& each) { json.field({}, each.*count); });
  };
  list("decisions", &TrafficCounts::decisions);
  list("denied", &TrafficCounts::denied);
  list("shadow_denied", &TrafficCounts::shadow_denied);
}

std::string second_message(std::uint64_t id, const observe::MeasuredSecond& measured, std::uint64_t memory_budget,
                           std::span<const Notice> notices) {
  const Second& second = measured.second;
  JsonWriter json;
  json.begin_object();
  json.fields("at", second.at, "seconds", second.span, "requests", second.requests, "evaluated", second.evaluated,
              "denied_requests", second.denied_requests);
  write_counts(second.counts, json);
  json.fields("p50", second.p50, "p99", second.p99, "connections", second.gauges.connections);
  json.object("memory", "used", second.gauges.used, "budget", memory_budget, "resident", second.gauges.resident);
  json.field("store", name_of(second.gauges.store));
  const std::size_t listed = std::min(measured.limits.size(), max_streamed_limits);
  write_limit_counts(std::span(measured.limits).first(listed), json);
  json.field("more_limits", measured.limits.size() - listed);
  write_notices(notices, json);
  json.end_object();
  return "id: " + std::to_string(id) + "\nevent: second\ndata: " + without_markup(json.take()) + "\n";
}

std::string history_json(const HistoryReport& report, std::string_view limit) {
  const std::span<const Second> all = report.seconds;
  JsonWriter json;
  json.begin_object();
  write_column("at", all, [](const Second& of) { return of.at; }, json);
  write_column("seconds", all, [](const Second& of) { return of.span; }, json);
  write_column("requests", all, [](const Second& of) { return of.requests; }, json);
  write_column("evaluated", all, [](const Second& of) { return of.evaluated; }, json);
  write_column("denied_requests", all, [](const Second& of) { return of.denied_requests; }, json);
  write_column("decisions", all, [](const Second& of) { return of.counts.decisions; }, json);
  write_column("denied", all, [](const Second& of) { return of.counts.denied; }, json);
  write_column("shadow_denied", all, [](const Second& of) { return of.counts.shadow_denied; }, json);
  write_column("p50", all, [](const Second& of) { return of.p50; }, json);
  write_column("p99", all, [](const Second& of) { return of.p99; }, json);
  write_column("connections", all, [](const Second& of) { return of.gauges.connections; }, json);
  write_column("used", all, [](const Second& of) { return of.gauges.used; }, json);
  write_column("resident", all, [](const Second& of) { return of.gauges.resident; }, json);
  write_column("store", all, [](const Second& of) { return name_of(of.gauges.store); }, json);
  json.object_or_null("limit", report.limit, [&](const auto& counts) {
    json.field("limit", limit);
    write_series(counts, json);
  });
  json.end_object();
  return json.take();
}

std::string notices_json(std::span<const Notice> notices) {
  JsonWriter json;
  json.begin_object();
  write_notices(notices, json);
  json.end_object();
  return json.take();
}

std::string policy_json(const PolicyReport& report) {
  JsonWriter json;
  json.begin_object();
  write_running(report.running, json);
  write_on_disk(report, json);
  write_last_reload(report.last_reload, json);
  json.object_or_null("last_rejected", report.last_rejected, [&](const PolicyReport::Rejected& rejected) {
    json.fields("at", rejected.at, "error", rejected.error);
    write_problems("problems", rejected.problems, text::Severity::error, json);
  });
  json.end_object();
  return json.take();
}

std::string cluster_json(const AdminStatus& status, const std::optional<StoreReport>& report) {
  JsonWriter json;
  json.begin_object();
  json.object("node", "version", status.version, "digest", status.policy.digest);
  if (status.store && report) {
    json.begin_object("store");
    write_store_fields(*status.store, json);
    write_store_report(*report, json);
    json.end_object();
  } else {
    json.null("store");
  }
  json.end_object();
  return json.take();
}

std::string without_markup(std::string json) {
  if (json.find_first_of("<>&") == std::string::npos) return json;
  std::string safe;
  safe.reserve(json.size() + 64);
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace weir::frontend
