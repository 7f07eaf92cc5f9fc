#include "frontend/admin/admin_json.h"

#include <algorithm>

#include "policy/words.h"
#include "text/json_writer.h"

namespace weir::frontend {
namespace {

using policy::CompiledLimit;
using policy::Tiers;

void write_policy(const AdminStatus::Policy& policy, text::JsonWriter& json) {
  json.begin_object("policy");
  json.field_or_null("file", policy.file);
  json.field("digest", policy.digest);
  json.field("loaded_at", policy.loaded_at);
  json.field("limits", policy.limits);
  json.end_object();
}

void write_reload(const AdminStatus::Reload& reload, text::JsonWriter& json) {
  json.begin_object("last_reload");
  json.field("at", reload.at);
  json.field("applied", reload.error.empty());
  json.field_or_null("error", reload.error);
  json.end_object();
}

void write_listeners(std::span<const AdminStatus::Listener> listeners, text::JsonWriter& json) {
  json.begin_array("listeners");
  for (const AdminStatus::Listener& listener : listeners) {
    json.begin_object();
    json.field("name", listener.name);
    json.begin_array("listen");
    for (const std::string& address : listener.listen) json.element(address);
    json.end_array();
    json.field("connections", listener.connections);
    json.end_object();
  }
  json.end_array();
}

// Limits that decided nothing are left out, the busiest come first.
void write_traffic(const observe::RecentTraffic::Summary& traffic, text::JsonWriter& json) {
  json.begin_object("traffic");
  json.field("seconds", traffic.span);
  json.field("requests", traffic.requests);
  json.begin_array("limits");
  for (const observe::LimitTraffic& limit : traffic.limits) {
    json.begin_object();
    json.field("limit", limit.limit);
    json.field("decisions", limit.counts.decisions);
    json.field("denied", limit.counts.denied);
    json.field("shadow_denied", limit.counts.shadow_denied);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_snapshot(const AdminStatus::Snapshot& snapshot, text::JsonWriter& json) {
  json.begin_object("last_snapshot");
  json.field("at", snapshot.at);
  json.field_or_null("error", snapshot.error);
  json.end_object();
}

void write_candidates(std::span<const AdminStatus::Candidate> candidates, text::JsonWriter& json) {
  json.begin_array("candidates");
  for (const AdminStatus::Candidate& candidate : candidates) {
    json.begin_object();
    json.field("limit", candidate.limit);
    json.field("agreed", candidate.agreed);
    json.field("newly_denied", candidate.newly_denied);
    json.field("newly_admitted", candidate.newly_admitted);
    json.end_object();
  }
  json.end_array();
}

void write_heartbeat(const AdminStatus::Store::Heartbeat& heartbeat, text::JsonWriter& json) {
  json.begin_object();
  json.field("name", heartbeat.name);
  json.field("version", heartbeat.version);
  json.field("policy", heartbeat.policy);
  json.field("heard_ago", heartbeat.heard_ago);
  json.field("self", heartbeat.is_self);
  json.field("differs", heartbeat.differs);
  json.end_object();
}

}  // namespace

void write_store_fields(const AdminStatus::Store& store, text::JsonWriter& json) {
  json.field("kind", store.kind);
  json.begin_array("urls");
  for (const std::string& url : store.urls) json.element(url);
  json.end_array();
  json.field("servers", store.servers);
  json.field("connected", store.connected);
  json.field("breaker", store.breaker);
  json.field("away_since", store.away_since);
  if (store.failed_at) {
    json.begin_object("last_error");
    json.field("at", *store.failed_at);
    json.field("error", store.error);
    json.end_object();
  } else {
    json.null("last_error");
  }
  json.field_or_null("holder", store.holder);
  json.field("nodes", store.nodes);
  json.list("heartbeats", store.heartbeats,
            [&](const AdminStatus::Store::Heartbeat& heartbeat) { write_heartbeat(heartbeat, json); });
}

std::string status_json(const AdminStatus& status, bool serving) {
  text::JsonWriter json;
  json.begin_object();
  json.field("version", status.version);
  json.field("serving", serving);
  json.field("started_at", status.started_at);
  write_policy(status.policy, json);
  if (status.last_reload) {
    write_reload(*status.last_reload, json);
  } else {
    json.null("last_reload");
  }
  write_listeners(status.listeners, json);
  write_traffic(status.traffic, json);
  json.begin_object("memory");
  json.field("used", status.memory.used);
  json.field("budget", status.memory.budget);
  json.end_object();
  json.begin_object("state");
  json.field_or_null("directory", status.state.directory);
  json.field_or_null("hash_key_id", status.state.hash_key_id);
  json.end_object();
  if (status.last_snapshot) {
    write_snapshot(*status.last_snapshot, json);
  } else {
    json.null("last_snapshot");
  }
  write_candidates(status.candidates, json);
  if (status.store) {
    json.begin_object("store");
    write_store_fields(*status.store, json);
    json.end_object();
  }
  json.end_object();
  return json.take();
}

std::string denied_json(std::span<const observe::DeniedConsumer> denied) {
  text::JsonWriter json;
  json.begin_object();
  json.begin_array("denied");
  for (const observe::DeniedConsumer& consumer : denied) {
    json.begin_object();
    json.field("limit", consumer.limit);
    json.field("consumer", consumer.consumer);
    json.field("count", consumer.count);
    json.field("error", consumer.error);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

// Of a ruleset.

const CompiledLimit* limit_named(const policy::Ruleset& ruleset, std::string_view name) noexcept {
  const auto found = std::ranges::find(ruleset.limits, name, &CompiledLimit::name);
  return found == ruleset.limits.end() ? nullptr : &*found;
}

static void write_tiers(const Tiers& tiers, text::JsonWriter& json) {
  json.begin_object("tiers");
  json.field("header", tiers.from_header);
  json.begin_array("names");
  for (const std::string& name : tiers.names) json.element(name);
  json.end_array();
  json.end_object();
}

static void write_numbers(const policy::TieredLimit& numbers, const Tiers& tiers, text::JsonWriter& json) {
  json.begin_object("numbers");
  for (std::size_t tier = 0; tier < numbers.by_tier.size(); ++tier) {
    json.field(tiers.names[tier], policy::numbers_text(numbers, tier));
  }
  json.end_object();
}

void write_candidate_numbers(const CompiledLimit& limit, const Tiers& tiers, text::JsonWriter& json) {
  json.field("algorithm", name_of(limit.candidate_algorithm.value_or(limit.algorithm)));
  write_numbers(*limit.candidate, tiers, json);
}

void write_graduation(const CompiledLimit& limit, text::JsonWriter& json) {
  if (limit.warn_first) {
    json.begin_object("warn_first");
    json.field("count", limit.warn_first->count);
    json.field("per", limit.warn_first->per);
    json.end_object();
  } else {
    json.null("warn_first");
  }
  if (limit.penalty) {
    json.begin_object("penalty");
    json.field("after", limit.penalty->after);
    json.field("within", limit.penalty->within);
    json.field("block", limit.penalty->block);
    json.end_object();
  } else {
    json.null("penalty");
  }
}

void write_limit_head(const CompiledLimit& limit, const Tiers& tiers, text::JsonWriter& json) {
  json.field("name", limit.name);
  json.begin_array("routes");
  for (const policy::RouteTemplate& route : limit.routes) json.element(route.text());
  json.end_array();
  json.field_or_null("domain", limit.domain);
  json.field_or_null("when", limit.when.kind == policy::When::Kind::always ? "" : text_of(limit.when));
  json.field_or_null("consumer_key", limit.by_descriptor() ? "" : text_of(limit.consumer_key));
  json.field("missing", name_of(limit.missing));
  json.field("algorithm", name_of(limit.algorithm));
  write_numbers(limit.live, tiers, json);
  json.field("mode", name_of(limit.mode));
  json.field_or_null("usage", limit.usage ? name_of(*limit.usage) : std::string_view());
}

static void write_limit(const CompiledLimit& limit, const Tiers& tiers, text::JsonWriter& json) {
  json.begin_object();
  write_limit_head(limit, tiers, json);
  if (limit.candidate) {
    json.begin_object("candidate");
    write_candidate_numbers(limit, tiers, json);
    json.end_object();
  } else {
    json.null("candidate");
  }
  write_graduation(limit, json);
  json.end_object();
}

std::string ruleset_json(const policy::Ruleset& ruleset) {
  text::JsonWriter json;
  json.begin_object();
  json.field("digest", ruleset.digest);
  write_tiers(ruleset.tiers, json);
  json.begin_array("limits");
  for (const CompiledLimit& limit : ruleset.limits) write_limit(limit, ruleset.tiers, json);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace weir::frontend
