#include "frontend/admin/admin_json.h"

#include <algorithm>

#include "policy/words.h"
#include "text/json_writer.h"

namespace weir::frontend {
namespace {

using policy::CompiledLimit;
using policy::Tiers;

using text::or_null;

void write_numbers(const policy::TieredLimit& numbers, const Tiers& tiers, text::JsonWriter& json) {
  json.begin_object("numbers");
  for (std::size_t tier = 0; tier < numbers.by_tier.size(); ++tier) {
    json.field(tiers.names[tier], policy::numbers_text(numbers, tier));
  }
  json.end_object();
}

}  // namespace

void write_counts(const observe::TrafficCounts& counts, text::JsonWriter& json) {
  json.fields("decisions", counts.decisions, "denied", counts.denied, "shadow_denied", counts.shadow_denied);
}

void write_limit_counts(std::span<const observe::LimitTraffic> limits, text::JsonWriter& json) {
  json.list("limits", limits, [&](const observe::LimitTraffic& limit) {
    json.begin_object();
    json.field("limit", limit.limit);
    write_counts(limit.counts, json);
    json.end_object();
  });
}

void write_store_fields(const AdminStatus::Store& store, text::JsonWriter& json) {
  json.field("kind", store.kind);
  json.list("urls", store.urls);
  json.fields("servers", store.servers, "connected", store.connected, "breaker", store.breaker, "unavailable_since",
              store.unavailable_since);
  json.object_or_null("last_error", store.failed_at, [&](Instant at) { json.fields("at", at, "error", store.error); });
  json.fields("holder", or_null(store.holder), "nodes", store.nodes);
  json.list("heartbeats", store.heartbeats, [&](const AdminStatus::Store::Heartbeat& of) {
    json.object({}, "name", of.name, "version", of.version, "policy", of.policy, "last_seen_ago", of.last_seen_ago,
                "self", of.is_self, "differs", of.differs);
  });
}

std::string status_json(const AdminStatus& status, bool serving) {
  text::JsonWriter json;
  json.begin_object();
  json.fields("version", status.version, "serving", serving, "started_at", status.started_at);
  json.object("policy", "file", or_null(status.policy.file), "digest", status.policy.digest, "loaded_at",
              status.policy.loaded_at, "limits", status.policy.limits);
  write_last_reload(status.last_reload, json);
  json.list("listeners", status.listeners, [&](const AdminStatus::Listener& listener) {
    json.begin_object();
    json.field("name", listener.name);
    json.list("listen", listener.listen);
    json.field("connections", listener.connections);
    json.end_object();
  });
  // The busiest limits come first. Limits without decisions are left out.
  json.begin_object("traffic");
  json.fields("seconds", status.traffic.span, "requests", status.traffic.requests, "evaluated",
              status.traffic.evaluated, "denied_requests", status.traffic.denied_requests);
  write_limit_counts(status.traffic.limits, json);
  json.end_object();
  json.object("memory", "used", status.memory.used, "budget", status.memory.budget);
  json.object("state", "directory", or_null(status.state.directory), "hash_key_id", or_null(status.state.hash_key_id));
  json.object_or_null("last_snapshot", status.last_snapshot, [&](const AdminStatus::Snapshot& snapshot) {
    json.fields("at", snapshot.at, "error", or_null(snapshot.error));
  });
  json.list("candidates", status.candidates, [&](const AdminStatus::Candidate& of) {
    json.object({}, "limit", of.limit, "agreed", of.agreed, "newly_denied", of.newly_denied, "newly_admitted",
                of.newly_admitted);
  });
  if (status.store) {
    json.begin_object("store");
    write_store_fields(*status.store, json);
    json.end_object();
  }
  json.end_object();
  return json.take();
}

void write_last_reload(const std::optional<AdminStatus::Reload>& last, text::JsonWriter& json) {
  json.object_or_null("last_reload", last, [&](const AdminStatus::Reload& reload) {
    json.fields("at", reload.at, "applied", reload.error.empty(), "error", or_null(reload.error));
  });
}

std::string denied_json(std::span<const observe::DeniedConsumer> denied) {
  text::JsonWriter json;
  json.begin_object();
  json.list("denied", denied, [&](const observe::DeniedConsumer& of) {
    json.object({}, "limit", of.limit, "consumer", of.consumer, "count", of.count, "error", of.error);
  });
  json.end_object();
  return json.take();
}

const CompiledLimit* limit_named(const policy::Ruleset& ruleset, std::string_view name) noexcept {
  const auto found = std::ranges::find(ruleset.limits, name, &CompiledLimit::name);
  return found == ruleset.limits.end() ? nullptr : &*found;
}

void write_candidate_numbers(const CompiledLimit& limit, const Tiers& tiers, text::JsonWriter& json) {
  json.field("algorithm", name_of(limit.candidate_algorithm.value_or(limit.algorithm)));
  write_numbers(*limit.candidate, tiers, json);
}

void write_graduation(const CompiledLimit& limit, text::JsonWriter& json) {
  json.object_or_null("warn_first", limit.warn_first,
                      [&](const auto& warn) { json.fields("count", warn.count, "per", warn.per); });
  json.object_or_null("penalty", limit.penalty, [&](const auto& penalty) {
    json.fields("after", penalty.after, "within", penalty.within, "block", penalty.block);
  });
}

void write_limit_head(const CompiledLimit& limit, const Tiers& tiers, text::JsonWriter& json) {
  json.field("name", limit.name);
  json.list("routes", limit.routes, [&](const policy::RouteTemplate& route) { json.element(route.text()); });
  json.field_or_null("domain", limit.domain);
  json.field_or_null("when", limit.when.kind == policy::When::Kind::always ? "" : text_of(limit.when));
  json.field_or_null("consumer_key", limit.by_descriptor() ? "" : text_of(limit.consumer_key));
  json.fields("missing", name_of(limit.missing), "algorithm", name_of(limit.algorithm));
  write_numbers(limit.live, tiers, json);
  json.field("mode", name_of(limit.mode));
  json.field_or_null("usage", limit.usage ? name_of(*limit.usage) : std::string_view());
}

std::string ruleset_json(const policy::Ruleset& ruleset) {
  text::JsonWriter json;
  json.begin_object();
  json.field("digest", ruleset.digest);
  json.begin_object("tiers");
  json.field("header", ruleset.tiers.from_header);
  json.list("names", ruleset.tiers.names);
  json.end_object();
  json.list("limits", ruleset.limits, [&](const CompiledLimit& limit) {
    json.begin_object();
    write_limit_head(limit, ruleset.tiers, json);
    json.object_or_null("candidate", limit.candidate,
                        [&](const auto&) { write_candidate_numbers(limit, ruleset.tiers, json); });
    write_graduation(limit, json);
    json.end_object();
  });
  json.end_object();
  return json.take();
}

}  // namespace weir::frontend
