#include "policy/openapi/extension.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "policy/scalar.h"

namespace weir::policy::openapi {

namespace {

constexpr std::array<std::string_view, 3> names{limit_field, identity_field, tiers_field};

// What is left of a name when nobody is sure about letter case, dashes and underscores.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.' || c == ' ') continue;
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// One character more, less or different, or two swapped.
bool one_slip_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto same = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  a.remove_prefix(same);
  b.remove_prefix(same);
  if (a.size() < b.size()) return b.substr(1) == a;
  if (a.empty() || a.substr(1) == b.substr(1)) return true;
  return a.size() >= 2 && a[0] == b[1] && a[1] == b[0] && a.substr(2) == b.substr(2);
}

// The one of our names that `name` was probably meant to be. Typing errors are rare in a first letter, and other
// extensions are not (x-date-limit).
std::string_view meant(std::string_view name) {
  const std::string text = folded(name);
  if (!text.starts_with("xr") && !text.starts_with("r")) return {};
  for (const std::string_view ours : names) {
    if (one_slip_apart(text, folded(ours))) return ours;
  }
  return text.starts_with(folded(limit_field)) ? limit_field : std::string_view();
}

// At the root, what a policy.yaml would have there: OpenAPI knows no such field, so that nobody else means anything
// by it.
std::string_view meant_at_root(std::string_view name) {
  std::string text = folded(name);
  for (const std::string_view prefix : {"x", "weir"}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  if (text == "identity") return identity_field;
  if (text == "tiers" || text == "tier") return tiers_field;
  return text == "limits" || text == "limit" ? limit_field : std::string_view();
}

void check(const Written<std::string>& key, Level level, Problems& problems) {
  const std::string& name = key.value;
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    if (const std::string_view ours = meant(name); !ours.empty()) {
      problems.error(key.at, fmt::format("unknown field {}, did you mean '{}'?", quoted(name), ours));
    } else if (const std::string_view root = meant_at_root(name); level == Level::root && !root.empty()) {
      problems.warning(key.at, fmt::format("{} means nothing at the root of an OpenAPI document, did you mean '{}'?",
                                           quoted(name), root));
    }
  } else if (level == Level::elsewhere) {
    problems.error(key.at, fmt::format("{} has no effect here: it belongs at the root{}", name,
                                       name == limit_field ? ", on a path or on an operation" : ""));
  } else if (level != Level::root && name != limit_field) {
    problems.error(key.at, fmt::format("{} has no effect here: it belongs at the root", name));
  }
}

}  // namespace

void check_extensions(const yaml::Node& map, Level level, Problems& problems) {
  for (const yaml::Member& member : map.members) check(member.key, level, problems);
}

void check_misplaced(const yaml::Node& root, Problems& problems) {
  for (const std::string_view place : {"paths", "info", "components"}) {
    const yaml::Node* node = root.find(place);
    if (node == nullptr) continue;
    for (const yaml::Member& member : node->members) {
      // components/x-rate-limits is where shared limits may be kept.
      if (place != "components" || member.key.value != "x-rate-limits") check(member.key, Level::elsewhere, problems);
    }
  }
  // Webhooks are requests that the API makes, not those that it gets.
  const yaml::Node* webhooks = root.find("webhooks");
  if (webhooks == nullptr) return;
  for (const yaml::Member& webhook : webhooks->members) {
    check_extensions(webhook.value, Level::elsewhere, problems);
    for (const yaml::Member& operation : webhook.value.members) {
      check_extensions(operation.value, Level::elsewhere, problems);
    }
  }
}

}  // namespace weir::policy::openapi
