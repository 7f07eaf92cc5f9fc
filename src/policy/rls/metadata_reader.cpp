#include "policy/rls/metadata_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "policy/segment_text.h"

namespace weir::policy::rls {
namespace {

using Kind = MetadataValue::Kind;

std::optional<bool> truth_of(std::string text) {
  constexpr std::array<std::string_view, 4> yes{"true", "yes", "on", "y"};
  constexpr std::array<std::string_view, 4> no{"false", "no", "off", "n"};
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  if (std::find(yes.begin(), yes.end(), text) != yes.end()) return true;
  if (std::find(no.begin(), no.end(), text) != no.end()) return false;
  return {};
}

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  // Not `inf` and `nan`, which from_chars would read.
  if (digits.empty() || (digits.front() != '.' && (digits.front() < '0' || digits.front() > '9'))) return {};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return {};
  return number;
}

MetadataValue scalar(const yaml::Node& node) {
  MetadataValue value;
  if (!node.quoted) {
    if (const auto truth = truth_of(node.text)) {
      value.kind = Kind::truth;
      value.truth = *truth;
      return value;
    }
    if (const auto number = number_of(node.text)) {
      value.kind = Kind::number;
      value.number = *number;
      return value;
    }
  }
  value.kind = Kind::text;
  value.text = node.text;
  return value;
}

}  // namespace

MetadataValue read_metadata(const yaml::Node& node) {
  if (node.is_scalar()) return scalar(node);
  MetadataValue value;
  if (node.is_sequence()) {
    value.kind = Kind::list;
    for (const yaml::Node& item : node.items) value.items.push_back(read_metadata(item));
  } else if (node.is_map()) {
    value.kind = Kind::map;
    for (const yaml::Member& member : node.members) {
      value.names.push_back(member.key.value);
      value.items.push_back(read_metadata(member.value));
    }
  }
  return value;
}

}  // namespace weir::policy::rls
