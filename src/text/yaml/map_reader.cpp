#include "text/yaml/map_reader.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/format.h>

namespace weir::text {

const std::string* single_value(const Node& node, std::string_view field, Form form, Problems& problems) {
  if (node.is_null()) {
    problems.error(node.at, "{} has no value", field);
    return nullptr;
  }
  if (!node.is_scalar()) {
    problems.error(node.at, "{} must be a single value, not {}", field, name_of(node.kind));
    return nullptr;
  }
  if (form == Form::number && node.quoted) {
    problems.error(node.at, "{} {}: write it without quotes", field, in_quotes(node.text));
    return nullptr;
  }
  return &node.text;
}

const std::vector<Node>* items_of(const Node& node, std::string_view field, Problems& problems) {
  if (!node.is_sequence()) {
    problems.error(node.at, "{} must be a list, not {}", field, name_of(node.kind));
    return nullptr;
  }
  if (node.items.empty()) {
    problems.error(node.at, "{} is an empty list", field);
    return nullptr;
  }
  return &node.items;
}

void report(const Error& error, std::string_view field, Mark at, Problems& problems) {
  problems.error(at, "{} {}: {}", field, error.where, error.what);
}

MapReader::MapReader(const Node& node, std::string_view what, Problems& problems) : node_(node), problems_(problems) {
  if (!node.is_map()) problems.error(node.at, "{} must be a map, not {}", what, name_of(node.kind));
}

const Node* MapReader::find(std::string_view field) {
  known_.emplace_back(field);
  const Node* value = node_.find(field);
  if (value == nullptr || !value->is_null()) return value;
  problems_.error(value->at, "{} has no value", field);
  return nullptr;
}

const Node* MapReader::require(std::string_view field, std::string_view instead) {
  const Node* value = find(field);
  if (is_map() && node_.find(field) == nullptr) {
    problems_.error(node_.at, "missing {}{}{}", field, instead.empty() ? "" : ": write ", instead);
  }
  return value;
}

void MapReader::refuse(std::string_view field, std::string_view why) {
  for (const Member& member : node_.members) {
    if (member.key.value == field) problems_.error(member.key.at, "{} is not allowed here: {}", field, why);
  }
  // finish() must neither report the field again nor suggest it for a misspelled one.
  refused_.emplace_back(field);
}

std::optional<Written<std::uint64_t>> MapReader::whole(std::string_view field, Bounds bounds) {
  return value(field, Form::number, [&](std::string_view text) { return parse_whole(text, bounds); });
}

std::optional<Written<Duration>> MapReader::duration(std::string_view field) {
  return value(field, Form::text, parse_duration);
}

std::optional<Written<std::string>> MapReader::header_name(std::string_view field) {
  return value(field, Form::text, parse_header_name);
}

std::optional<Written<std::size_t>> MapReader::one_of(std::string_view field, const std::vector<std::string>& names) {
  return value(field, Form::text, [&](std::string_view text) -> Result<std::size_t> {
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const std::string near = did_you_mean(text, names);
    return failure(in_quotes(text),
                   near.empty() ? fmt::format("unknown; write {}", fmt::join(names, ", ")) : "unknown" + near);
  });
}

void MapReader::belongs(std::span<const std::string_view> fields, std::string_view where) {
  for (const std::string_view field : fields) elsewhere_.emplace_back(field, where);
}

void MapReader::finish() {
  const auto is_in = [](const std::vector<std::string>& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  };
  for (const Member& member : node_.members) {
    const std::string& field = member.key.value;
    if (is_in(known_, field) || is_in(refused_, field)) continue;
    std::string hint = did_you_mean(field, known_);
    const auto meant = std::ranges::find_if(meanings_, [&](const auto& m) { return m.first == field; });
    if (meant != meanings_.end()) hint = fmt::format(", did you mean '{}'?", meant->second);
    const auto other = std::ranges::find_if(elsewhere_, [&](const auto& e) { return e.first == field; });
    if (hint.empty() && other != elsewhere_.end()) hint = fmt::format(": it belongs {}", other->second);
    problems_.error(member.key.at, "unknown field {}{}", in_quotes(field), hint);
  }
}

}  // namespace weir::text
