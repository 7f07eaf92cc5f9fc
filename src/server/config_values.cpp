#include "server/config_values.h"

#include <utility>

#include <fmt/core.h>

namespace weir::server {

using policy::Form;

namespace {

constexpr std::size_t most_values = 100;

}  // namespace

void read_path(policy::MapReader& map, std::string_view field, const std::filesystem::path& folder,
               std::optional<std::filesystem::path>& value) {
  auto path = map.value(field, Form::text, [&](std::string_view text) { return parse_path(text, folder); });
  if (path) value = std::move(path->value);
}

void read_size(policy::MapReader& map, std::string_view field, SizeBounds bounds, std::size_t& value) {
  const auto size = map.value(field, Form::text, [&](std::string_view text) { return parse_size(text, bounds); });
  if (size) value = size->value;
}

void read_time(policy::MapReader& map, std::string_view field, TimeBounds bounds, Duration& value) {
  const auto time = map.value(field, Form::text, [&](std::string_view text) { return parse_time(text, bounds); });
  if (time) value = time->value;
}

void read_truth(policy::MapReader& map, std::string_view field, bool& value) {
  if (const auto truth = map.value(field, Form::number, policy::parse_truth)) value = truth->value;
}

void read_one_or_more(const policy::yaml::Node& node, std::string_view field, policy::Problems& problems,
                      const TakeValue& take) {
  const auto take_one = [&](const policy::yaml::Node& one) {
    if (const std::string* text = policy::single_value(one, field, Form::text, problems)) take(one, *text);
  };
  if (node.is_scalar()) {
    take_one(node);
  } else if (node.is_map()) {
    problems.error(node.at, fmt::format("{} has to be a single value or a list of them, not a map", field));
  } else if (node.items.size() > most_values) {
    problems.error(node.at, fmt::format("{} has {} values: at most {}", field, node.items.size(), most_values));
  } else if (const auto* items = policy::items_of(node, field, problems)) {
    for (const policy::yaml::Node& item : *items) take_one(item);
  }
}

Switch read_switch(policy::MapReader& map, std::string_view field) {
  const policy::yaml::Node* node = map.find(field);
  if (node == nullptr) return {};
  if (node->is_map()) return {node, false};
  if (node->is_scalar() && node->text == "off") return {nullptr, true};
  const std::string found = node->is_scalar() ? policy::quoted(node->text) : std::string(name_of(node->kind));
  map.problems().error(node->at, fmt::format("{} has to be off or a map, not {}", field, found));
  return {};
}

}  // namespace weir::server
