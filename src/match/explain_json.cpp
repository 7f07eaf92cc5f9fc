#include "match/explain.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/calendar.h"
#include "policy/consistency.h"
#include "policy/words.h"

namespace weir::match {
namespace {

using policy::CompiledLimit;
using text::JsonWriter;

void write_numbers(JsonWriter& json, std::string_view name, const std::string& text,
                   const std::optional<Limit>& limit) {
  if (!limit) return json.field(name, text);  // unlimited, or banned
  json.begin_object(name);
  json.fields("text", text, "algorithm", name_of(limit->algorithm()), "count", limit->rate().count);
  if (const core::Calendar* calendar = limit->calendar()) {
    json.fields("calendar", name_of(calendar->unit()), "timezone", calendar->zone());
  } else {
    const bool is_held = limit->algorithm() == Algorithm::concurrency;
    json.field(is_held ? "lease_microseconds" : "per_microseconds",
               static_cast<std::uint64_t>(limit->rate().per.count()));
  }
  json.field("capacity", limit->capacity());
  json.end_object();
}

void write_numbers(JsonWriter& json, std::string_view name, const policy::TieredLimit& limits, std::size_t tier) {
  write_numbers(json, name, policy::numbers_text(limits, tier), limits.by_tier[tier]);
}

void write_consistency(JsonWriter& json, const CompiledLimit& limit, const Limit& numbers, std::uint64_t nodes) {
  const policy::Consistency kind = policy::effective_consistency(limit, numbers, nodes).kind;
  const auto microseconds = [](Duration time) { return static_cast<std::uint64_t>(time.count()); };
  json.begin_object("consistency");
  json.fields("written", name_of(limit.consistency.kind), "decided", name_of(kind));
  if (kind == policy::Consistency::leased) {
    json.fields("lease_microseconds", microseconds(limit.consistency.lease), "largest_slice",
                policy::largest_slice(numbers));
  } else if (kind == policy::Consistency::approximate) {
    const policy::ApproximateBound bound = policy::approximate_bound(numbers, nodes);
    json.fields("sync_microseconds", microseconds(policy::effective_sync(limit, numbers)), "nodes", nodes, "allowance",
                bound.allowance, "max_admitted", bound.max_admitted, "per_microseconds", microseconds(bound.per));
  }
  json.end_object();
}

void write_explained_limit(JsonWriter& json, const ExplainedRequest& explained, const LimitExplanation& part) {
  const CompiledLimit& limit = explained.ruleset.limits[part.limit];
  json.begin_object();
  json.fields("name", limit.name, "line", static_cast<unsigned>(limit.at.line), "covers", part.covers || part.bans);
  if (part.covers) {
    json.field_or_null("route", part.route);
    json.fields("consumer", part.consumer, "cost", part.cost.units(), "mode", name_of(limit.mode));
    const std::size_t tier = explained.explanation.caller.tier;
    if (part.exception != 0) {
      write_numbers(json, "numbers", policy::numbers_text(*part.numbers), part.numbers);
    } else {
      write_numbers(json, "numbers", limit.live, tier);
    }
    if (part.numbers) write_consistency(json, limit, *part.numbers, explained.nodes);
    if (limit.candidate) write_numbers(json, "candidate", *limit.candidate, tier);
  } else {
    if (part.bans) json.fields("banned", true, "numbers", "banned");
    json.field("why_not", part.why_not);
  }
  if (part.exception != 0 && explained.id_of) json.field("override", explained.id_of(part.exception));
  json.end_object();
}

void write_caller(JsonWriter& json, const ExplainedRequest& explained) {
  const match::Caller& caller = explained.explanation.caller;
  json.begin_object("caller");
  json.field_or_null("address", caller.address ? caller.address->text() : "");
  json.fields("sender", explained.query.ip, "sender_is_trusted", caller.trusted);
  json.field_or_null("user", caller.user);
  json.field_or_null("api_key", caller.api_key);
  if (!explained.explanation.identities.empty()) {
    json.begin_object("identities");
    for (const auto& [name, value] : explained.explanation.identities) json.field(name, value);
    json.end_object();
  }
  json.fields("authenticated", caller.authenticated, "tier", explained.explanation.tier, "tier_is_unknown",
              caller.unknown_tier);
  json.list("ignored_headers", explained.explanation.ignored_headers, [&](const auto& name) { json.element(name); });
  json.end_object();
}

}  // namespace

std::string explanation_json(const ExplainedRequest& explained, JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  const ExplainedOutcome& outcome = explained.explanation.outcome;
  json.begin_object("outcome");
  json.fields("admitted", outcome.admitted, "status", outcome.status);
  json.field_or_null("limit", outcome.limit == no_limit ? "" : explained.ruleset.limits[outcome.limit].name);
  json.field("text", outcome.text);
  if (explained.explanation.block != 0 && explained.id_of) {
    json.field("block", explained.id_of(explained.explanation.block));
  }
  json.end_object();
  json.object("request", "method", explained.query.method, "target", explained.query.path, "route",
              explained.explanation.route);
  write_caller(json, explained);
  json.list("limits", explained.explanation.limits,
            [&](const auto& part) { write_explained_limit(json, explained, part); });
  json.end_object();
  return json.take();
}

}  // namespace weir::match
