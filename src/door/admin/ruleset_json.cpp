#include "door/admin/ruleset_json.h"

#include "door/admin/json_writer.h"
#include "policy/words.h"

namespace weir::door {
namespace {

using policy::CompiledLimit;
using policy::Tiers;

void write_tiers(const Tiers& tiers, JsonWriter& json) {
  json.begin_object("tiers");
  json.field("header", tiers.from_header);
  json.begin_array("names");
  for (const std::string& name : tiers.names) json.element(name);
  json.end_array();
  json.end_object();
}

void write_numbers(const policy::TieredLimit& numbers, const Tiers& tiers, JsonWriter& json) {
  json.begin_object("numbers");
  for (std::size_t tier = 0; tier < numbers.by_tier.size(); ++tier) {
    json.field(tiers.names[tier], policy::numbers_text(numbers, tier));
  }
  json.end_object();
}

void write_candidate(const CompiledLimit& limit, const Tiers& tiers, JsonWriter& json) {
  if (!limit.candidate) {
    json.null("candidate");
    return;
  }
  json.begin_object("candidate");
  json.field("algorithm", name_of(limit.candidate_algorithm.value_or(limit.algorithm)));
  write_numbers(*limit.candidate, tiers, json);
  json.end_object();
}

void write_graduation(const CompiledLimit& limit, JsonWriter& json) {
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

void write_limit(const CompiledLimit& limit, const Tiers& tiers, JsonWriter& json) {
  json.begin_object();
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
  write_candidate(limit, tiers, json);
  write_graduation(limit, json);
  json.end_object();
}

}  // namespace

std::string ruleset_json(const policy::Ruleset& ruleset) {
  JsonWriter json;
  json.begin_object();
  json.field("digest", ruleset.digest);
  write_tiers(ruleset.tiers, json);
  json.begin_array("limits");
  for (const CompiledLimit& limit : ruleset.limits) write_limit(limit, ruleset.tiers, json);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace weir::door
