#include "door/admin/status_json.h"

#include "door/admin/json_writer.h"

namespace weir::door {
namespace {

void write_policy(const AdminStatus::Policy& policy, JsonWriter& json) {
  json.begin_object("policy");
  json.field_or_null("file", policy.file);
  json.field("digest", policy.digest);
  json.field("loaded_at", policy.loaded_at);
  json.field("limits", policy.limits);
  json.end_object();
}

void write_reload(const AdminStatus::Reload& reload, JsonWriter& json) {
  json.begin_object("last_reload");
  json.field("at", reload.at);
  json.field("applied", reload.error.empty());
  json.field_or_null("error", reload.error);
  json.end_object();
}

void write_doors(std::span<const AdminStatus::Door> doors, JsonWriter& json) {
  json.begin_array("doors");
  for (const AdminStatus::Door& door : doors) {
    json.begin_object();
    json.field("name", door.name);
    json.begin_array("listen");
    for (const std::string& address : door.listen) json.element(address);
    json.end_array();
    json.field("connections", door.connections);
    json.end_object();
  }
  json.end_array();
}

// Limits that decided nothing are left out, the busiest come first.
void write_traffic(const observe::RecentTraffic::Summary& traffic, JsonWriter& json) {
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

void write_snapshot(const AdminStatus::Snapshot& snapshot, JsonWriter& json) {
  json.begin_object("last_snapshot");
  json.field("at", snapshot.at);
  json.field_or_null("error", snapshot.error);
  json.end_object();
}

void write_candidates(std::span<const AdminStatus::Candidate> candidates, JsonWriter& json) {
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

void write_store(const AdminStatus::Store& store, JsonWriter& json) {
  json.begin_object("store");
  json.field("kind", store.kind);
  json.begin_array("urls");
  for (const std::string& url : store.urls) json.element(url);
  json.end_array();
  json.field("servers", store.servers);
  json.field("connected", store.connected);
  json.field("breaker", store.breaker);
  if (store.away_since) {
    json.field("away_since", *store.away_since);
  } else {
    json.null("away_since");
  }
  if (store.failed_at) {
    json.begin_object("last_error");
    json.field("at", *store.failed_at);
    json.field("error", store.error);
    json.end_object();
  } else {
    json.null("last_error");
  }
  json.end_object();
}

}  // namespace

std::string status_json(const AdminStatus& status, bool serving) {
  JsonWriter json;
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
  write_doors(status.doors, json);
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
  if (status.store) write_store(*status.store, json);
  json.end_object();
  return json.take();
}

std::string denied_json(std::span<const observe::DeniedConsumer> denied) {
  JsonWriter json;
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

}  // namespace weir::door
