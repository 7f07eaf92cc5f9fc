#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <simdjson.h>

#include "overrides/record.h"
#include "text/date.h"
#include "text/json_writer.h"

namespace weir::overrides {
namespace {

namespace dom = simdjson::dom;
using text::JsonWriter;

// Writes microseconds only if the time has any.
void write_time(JsonWriter& json, std::string_view name, Instant at) {
  if (at.time_since_epoch() % std::chrono::seconds(1) == Duration::zero()) return json.field(name, at);
  const text::Rfc3339Micros text = text::rfc3339_micros(at);
  json.field(name, std::string_view(text.data(), text.size()));
}

void write_terms(JsonWriter& json, const Terms& terms) {
  if (!terms.numbers.empty()) {
    json.begin_object("numbers");
    for (const auto& [name, value] : terms.numbers) json.field(name, value);
    json.end_object();
  }
  if (terms.factor > 0) json.field("factor", static_cast<double>(terms.factor) / static_cast<double>(whole_factor));
  if (terms.unlimited) json.field("unlimited", true);
  if (terms.banned) json.field("banned", true);
  if (terms.add > 0) json.field("add", terms.add);
}

void write_record(JsonWriter& json, const Record& record) {
  json.field("id", record.id);
  if (record.kind == Kind::block) {
    json.field("identity", record.target);
    if (!record.routes.empty()) json.list("routes", record.routes);
  } else {
    json.fields("limit", record.limit, "consumer", record.target);
    write_terms(json, record.terms);
  }
  if (record.is_permanent()) {
    json.field("permanent", true);
  } else {
    write_time(json, "until", record.expires_at);
  }
  json.fields("reason", record.reason, "by", record.by);
  write_time(json, "created_at", record.created_at);
  json.field("version", record.version);
}

std::string text_at(dom::object object, std::string_view name) {
  std::string_view text;
  return object[name].get_string().get(text) ? std::string() : std::string(text);
}

std::uint64_t number_at(dom::object object, std::string_view name) {
  std::uint64_t number = 0;
  return object[name].get_uint64().get(number) ? 0 : number;
}

std::optional<Instant> time_at(dom::object object, std::string_view name) {
  const auto stamp = text::parse_rfc3339(text_at(object, name));
  return stamp ? std::optional(stamp->at) : std::nullopt;
}

std::vector<std::string> texts_at(dom::object object, std::string_view name) {
  std::vector<std::string> texts;
  dom::array array;
  if (object[name].get_array().get(array)) return texts;
  for (const dom::element each : array) {
    std::string_view text;
    if (!each.get_string().get(text)) texts.emplace_back(text);
  }
  return texts;
}

Terms terms_at(dom::object object) {
  Terms terms;
  dom::object numbers;
  if (!object["numbers"].get_object().get(numbers)) {
    for (const auto& [name, value] : numbers) {
      std::string_view text;
      if (!value.get_string().get(text)) terms.numbers.emplace_back(name, text);
    }
  }
  double factor = 0;
  if (!object["factor"].get_double().get(factor)) {
    terms.factor = static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(whole_factor)));
  }
  terms.add = number_at(object, "add");
  bool truth = false;
  terms.unlimited = !object["unlimited"].get_bool().get(truth) && truth;
  terms.banned = !object["banned"].get_bool().get(truth) && truth;
  return terms;
}

std::optional<Record> record_at(dom::object object, Kind kind) {
  Record record{.kind = kind,
                .id = text_at(object, "id"),
                .limit = text_at(object, "limit"),
                .target = text_at(object, kind == Kind::block ? "identity" : "consumer"),
                .routes = texts_at(object, "routes"),
                .reason = text_at(object, "reason"),
                .by = text_at(object, "by"),
                .version = number_at(object, "version")};
  if (kind == Kind::limit_override) record.terms = terms_at(object);
  const auto created_at = time_at(object, "created_at");
  if (record.id.empty() || record.target.empty() || record.version == 0 || !created_at) return std::nullopt;
  record.created_at = *created_at;
  bool permanent = false;
  if (!object["permanent"].get_bool().get(permanent) && permanent) return record;
  const auto until = time_at(object, "until");
  if (!until) return std::nullopt;
  record.expires_at = *until;
  return record;
}

void write_change(JsonWriter& json, const Change& change) {
  json.fields("action", name_of(change.action), "version", change.version);
  write_time(json, "at", change.at);
  json.field("by", change.by);
}

}  // namespace

std::string record_json(const Record& record, std::string_view inactive) {
  JsonWriter json;
  json.begin_object();
  write_record(json, record);
  if (record.kind == Kind::limit_override) json.field("words", terms_text(record.terms));
  json.field_or_null("inactive", inactive);
  json.end_object();
  std::string text = json.take();
  text.pop_back();  // the line feed
  return text;
}

std::string change_json(const Change& change) {
  JsonWriter json;
  json.begin_object();
  write_change(json, change);
  json.begin_object(name_of(change.record.kind));
  write_record(json, change.record);
  json.end_object();
  json.end_object();
  std::string text = json.take();
  text.pop_back();
  return text;
}

std::string change_line(const Change& change) {
  return change_json(change) + "\n";
}

std::optional<Change> read_change(std::string_view line) {
  thread_local dom::parser parser;  // reused: a log may have a million lines
  dom::object object;
  if (parser.parse(line.data(), line.size()).get_object().get(object)) return std::nullopt;
  constexpr std::array actions{Change::Action::set, Change::Action::remove, Change::Action::expire};
  const std::string word = text_at(object, "action");
  const auto action = std::ranges::find(actions, word, [](Change::Action each) { return std::string(name_of(each)); });
  const auto at = time_at(object, "at");
  Change change{.version = number_at(object, "version"), .by = text_at(object, "by")};
  if (action == actions.end() || !at || change.version == 0) return std::nullopt;
  change.action = *action;
  change.at = *at;
  for (const Kind kind : {Kind::limit_override, Kind::block}) {
    dom::object fields;
    if (object[name_of(kind)].get_object().get(fields)) continue;
    auto record = record_at(fields, kind);
    if (!record) return std::nullopt;
    change.record = std::move(*record);
    return change;
  }
  return std::nullopt;
}

}  // namespace weir::overrides
