#include "app/explanation_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "policy/words.h"
#include "simulate/json_writer.h"

namespace weir::app {
namespace {

using engine::LimitExplanation;
using policy::CompiledLimit;
using simulate::JsonWriter;

const CompiledLimit& limit_of(const ExplainedQuery& explained, const LimitExplanation& part) {
  return explained.ruleset.limits[part.limit];
}

std::string caller_text(const ExplainedQuery& explained) {
  const engine::Caller& caller = explained.explanation.caller;
  const std::string address = caller.address ? caller.address->text() : "unknown";
  std::vector<std::string> words;
  if (!caller.trusted) {
    words.push_back(address + ", which is not a trusted proxy");
  } else if (address == explained.query.ip) {
    words.push_back(address + ", a trusted proxy that speaks for itself");
  } else {
    words.push_back(fmt::format("{}, by the word of the trusted proxy {}", address, explained.query.ip));
  }
  if (!caller.user.empty()) words.push_back("user " + printable(caller.user));
  if (!caller.api_key.empty()) words.push_back("api_key " + printable(caller.api_key));
  words.emplace_back(caller.authenticated ? "authenticated" : "anonymous");
  words.push_back("tier " + explained.explanation.tier + (caller.unknown_tier ? ", for want of a known one" : ""));
  return fmt::format("{}", fmt::join(words, "; "));
}

// What else there is to say about a limit that covers the request.
std::vector<std::string> notes_on(const ExplainedQuery& explained, const LimitExplanation& part) {
  const CompiledLimit& limit = limit_of(explained, part);
  std::vector<std::string> notes;
  const std::size_t tier = explained.explanation.caller.tier;
  if (limit.mode == policy::Mode::shadow) notes.emplace_back("shadow: counted, never denies");
  if (limit.candidate) {
    const auto algorithm = name_of(limit.candidate_algorithm.value_or(limit.algorithm));
    notes.push_back(
        fmt::format("candidate, not enforced: {}, {}", policy::numbers_text(*limit.candidate, tier), algorithm));
  }
  if (limit.warn_first) {
    notes.push_back(fmt::format("the first {} denials in {} are warnings only", limit.warn_first->count,
                                policy::duration_text(limit.warn_first->per)));
  }
  if (limit.penalty) {
    notes.push_back(fmt::format("{} denials within {} block for {}", limit.penalty->after,
                                policy::duration_text(limit.penalty->within),
                                policy::duration_text(limit.penalty->block)));
  }
  return notes;
}

constexpr std::size_t column_count = 5;
using Row = std::array<std::string, column_count>;

Row row_of(const ExplainedQuery& explained, const LimitExplanation& part) {
  const CompiledLimit& limit = limit_of(explained, part);
  return {printable(limit.name), policy::numbers_text(limit.live, explained.explanation.caller.tier),
          std::string(name_of(limit.algorithm)), printable(part.consumer), std::to_string(part.cost.units())};
}

std::string aligned(const Row& row, const std::array<std::size_t, column_count>& widths) {
  std::string line = " ";
  for (std::size_t i = 0; i + 1 < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
  return line + " " + row.back();
}

struct Named {
  std::string limit;
  std::string text;
};

// Limits under a title; nothing if there are none.
std::string listed(std::string_view title, const std::vector<Named>& all) {
  if (all.empty()) return {};
  std::size_t width = 0;
  for (const Named& each : all) width = std::max(width, each.limit.size());
  std::string text = fmt::format("\n{}:\n", title);
  for (const Named& each : all) text += fmt::format("  {:<{}}  {}\n", each.limit, width, each.text);
  return text;
}

std::vector<Named> bans_in(const ExplainedQuery& explained) {
  std::vector<Named> bans;
  for (const LimitExplanation& part : explained.explanation.limits) {
    const CompiledLimit& limit = limit_of(explained, part);
    const std::string_view watched = limit.mode == policy::Mode::shadow ? "; shadow: never denies" : "";
    if (part.bans) bans.push_back({printable(limit.name), fmt::format("{}{}", policy::banned_text, watched)});
  }
  return bans;
}

std::string covered_text(const ExplainedQuery& explained, const Paint& paint) {
  std::vector<Row> rows = {{"limit", "numbers", "algorithm", "consumer", "cost"}};
  std::vector<std::vector<std::string>> notes(1);
  for (const LimitExplanation& part : explained.explanation.limits) {
    if (!part.covers) continue;
    rows.push_back(row_of(explained, part));
    notes.push_back(notes_on(explained, part));
  }
  if (rows.size() == 1) return bans_in(explained).empty() ? "No limit covers it.\n" : "No other limit covers it.\n";
  std::array<std::size_t, column_count> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text =
      fmt::format("Covered by {}{}:\n", counted(rows.size() - 1, "limit"), rows.size() > 2 ? ", judged together" : "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string line = aligned(rows[i], widths);
    text += (i == 0 ? paint.faint(line) : line) + "\n";
    for (const std::string& note : notes[i]) text += fmt::format("  {:<{}}  {}\n", "", widths[0], paint.faint(note));
  }
  return text;
}

std::string uncovered_text(const ExplainedQuery& explained) {
  std::vector<Named> others;
  for (const LimitExplanation& part : explained.explanation.limits) {
    if (part.covers || part.bans) continue;
    others.push_back({printable(limit_of(explained, part).name), printable(part.why_not)});
  }
  return listed("The others", others);
}

void write_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  if (text.empty()) {
    json.null(name);
  } else {
    json.field(name, text);
  }
}

void write_numbers(JsonWriter& json, std::string_view name, const policy::TieredLimit& limits, std::size_t tier) {
  const std::string text = policy::numbers_text(limits, tier);
  const std::optional<Limit>& limit = limits.by_tier[tier];
  if (!limit) {
    json.field(name, text);  // unlimited, or banned
    return;
  }
  json.begin_object(name);
  json.field("text", text);
  json.field("algorithm", name_of(limit->algorithm()));
  json.field("count", limit->rate().count);
  json.field("per_microseconds", static_cast<std::uint64_t>(limit->rate().per.count()));
  json.field("capacity", limit->capacity());
  json.end_object();
}

void write_limit(JsonWriter& json, const ExplainedQuery& explained, const LimitExplanation& part) {
  const CompiledLimit& limit = limit_of(explained, part);
  json.begin_object();
  json.field("name", limit.name);
  json.field("line", static_cast<unsigned>(limit.at.line));
  json.field("covers", part.covers || part.bans);
  if (part.covers) {
    write_or_null(json, "route", part.route);
    json.field("consumer", part.consumer);
    json.field("cost", part.cost.units());
    json.field("mode", name_of(limit.mode));
    const std::size_t tier = explained.explanation.caller.tier;
    write_numbers(json, "numbers", limit.live, tier);
    if (limit.candidate) write_numbers(json, "candidate", *limit.candidate, tier);
  } else {
    if (part.bans) {
      json.field("banned", true);
      json.field("numbers", "banned");
    }
    json.field("why_not", part.why_not);
  }
  json.end_object();
}

void write_caller(JsonWriter& json, const ExplainedQuery& explained) {
  const engine::Caller& caller = explained.explanation.caller;
  json.begin_object("caller");
  write_or_null(json, "address", caller.address ? caller.address->text() : "");
  json.field("sender", explained.query.ip);
  json.field("sender_is_trusted", caller.trusted);
  write_or_null(json, "user", caller.user);
  write_or_null(json, "api_key", caller.api_key);
  json.field("authenticated", caller.authenticated);
  json.field("tier", explained.explanation.tier);
  json.field("tier_is_unknown", caller.unknown_tier);
  json.begin_array("ignored_headers");
  for (const std::string& header : explained.explanation.ignored_headers) json.field({}, header);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string explanation_text(const ExplainedQuery& explained, const Paint& paint) {
  const std::string request = fmt::format("{} {}", explained.query.method, explained.query.target);
  std::string text = paint.bold(printable(request)) + "\n";
  text += fmt::format("  route   {}\n", printable(explained.explanation.route));
  text += fmt::format("  caller  {}\n", caller_text(explained));
  if (const auto& ignored = explained.explanation.ignored_headers; !ignored.empty()) {
    const std::string names = printable(fmt::format("{}", fmt::join(ignored, ", ")));
    text += fmt::format("  ignored {}\n", paint.yellow(names + ": only a trusted proxy is believed"));
  }
  return text + listed("Banned by", bans_in(explained)) + "\n" + covered_text(explained, paint) +
         uncovered_text(explained);
}

std::string explanation_json(const ExplainedQuery& explained) {
  JsonWriter json;
  json.begin_object();
  json.begin_object("request");
  json.field("method", explained.query.method);
  json.field("target", explained.query.target);
  json.field("route", explained.explanation.route);
  json.end_object();
  write_caller(json, explained);
  json.begin_array("limits");
  for (const LimitExplanation& part : explained.explanation.limits) write_limit(json, explained, part);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace weir::app
