#include "server/config_values.h"

#include <utility>

#include <fmt/core.h>

namespace weir::server {

using policy::Form;

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
