// Reads `when`.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/ascii.h"
#include "policy/read/policy_reader.h"
#include "text/yaml/map_reader.h"

namespace weir::policy {
namespace {

using Kind = When::Kind;

constexpr std::size_t max_values = 10'000;
constexpr std::string_view forms =
    "write authenticated, anonymous, { ip_in: [...] }, { ip_not_in: [...] }, { identified_by: NAME }, "
    "{ identity_in: { NAME: [...] } }, { all: [...] }, { any: [...] } or { not: ... }, or leave it out";
constexpr std::array<std::string_view, 7> condition_fields{"ip_in", "ip_not_in", "identified_by", "identity_in", "all",
                                                           "any",   "not"};

class ConditionReader {
 public:
  ConditionReader(const Identity& identity, Problems& problems) : identity_(identity), problems_(problems) {}

  std::optional<When> read(const text::Node& node, std::size_t depth = 0) {
    if (++conditions_ > max_conditions || depth > max_condition_depth) {
      if (!std::exchange(is_too_large_, true)) {
        problems_.error(node.at, "when is too large: at most {} conditions, nested at most {} deep", max_conditions,
                        max_condition_depth);
      }
      return {};
    }
    if (node.is_scalar()) return read_word(node);
    if (!node.is_map()) {
      problems_.error(node.at, "when must be a word or a map, not {}", name_of(node.kind));
      return {};
    }
    return read_map(node, depth);
  }

 private:
  std::optional<When> read_word(const text::Node& node) {
    static const std::array<std::string, 2> words{"authenticated", "anonymous"};
    if (node.text == words[0]) return When{.kind = Kind::authenticated};
    if (node.text == words[1]) return When{.kind = Kind::anonymous};
    const std::string near = text::did_you_mean(node.text, words);
    problems_.error(node.at, "when {}: unknown{}", in_quotes(node.text),
                    near.empty() ? fmt::format("; {}", forms) : near);
    return {};
  }

  std::optional<When> read_map(const text::Node& node, std::size_t depth) {
    const std::size_t errors = problems_.errors();
    text::MapReader map(node, "when", problems_);
    std::vector<std::pair<std::string_view, const text::Node*>> given;
    for (const std::string_view field : condition_fields) {
      if (const text::Node* value = map.find(field)) given.emplace_back(field, value);
    }
    map.finish();
    if (problems_.errors() > errors) return {};
    if (given.size() != 1) {
      problems_.error(node.at, "`when` must have exactly one of {}{}", fmt::join(condition_fields, ", "),
                      given.empty() ? "" : "; to combine conditions, list them under `all` or `any`");
      return {};
    }
    const auto [field, value] = given.front();
    if (field == "not") return read_not(*value, depth);
    if (field == "all" || field == "any") return read_list(*value, field, depth);
    if (field == "identified_by") return read_identified_by(*value);
    if (field == "identity_in") return read_identity_in(*value);
    return read_addresses(*value, field);
  }

  std::optional<When> read_not(const text::Node& node, std::size_t depth) {
    auto inner = read(node, depth + 1);
    if (!inner) return {};
    return negated(*std::move(inner));
  }

  std::optional<When> read_list(const text::Node& node, std::string_view field, std::size_t depth) {
    const auto* items = text::items_of(node, field, problems_);
    if (items == nullptr) return {};
    if (items->size() == 1) {
      problems_.error(node.at, "{} has one condition: write it alone", field);
      return {};
    }
    When when{.kind = field == "all" ? Kind::all : Kind::any};
    bool good = true;
    for (const text::Node& item : *items) {
      auto condition = read(item, depth + 1);
      good = good && condition;
      if (!condition) continue;
      if (std::ranges::find(when.conditions, *condition) != when.conditions.end()) {
        problems_.error(item.at, "{}: duplicate condition {}", field, text_of(*condition));
        good = false;
      }
      when.conditions.push_back(*std::move(condition));
    }
    if (!good) return {};
    return when;
  }

  std::optional<When> read_addresses(const text::Node& node, std::string_view field) {
    if (text::items_of(node, field, problems_) == nullptr) return {};
    auto ranges = read_ranges(node, field, problems_);
    if (!ranges) return {};
    return When{.kind = field == "ip_in" ? Kind::ip_in : Kind::ip_not_in, .ranges = *std::move(ranges)};
  }

  std::optional<When> read_identified_by(const text::Node& node) {
    constexpr std::string_view field = "identified_by";
    const std::string* name = text::single_value(node, field, text::Form::text, problems_);
    if (name == nullptr || !can_depend_on({*name, node.at}, field, identity_, problems_)) return {};
    return When{.kind = Kind::identified_by, .identity = *name};
  }

  std::optional<When> read_identity_in(const text::Node& node) {
    if (!node.is_map() || node.members.size() != 1) {
      problems_.error(node.at, "identity_in must name one identity and its values: write { organization: [acme] }");
      return {};
    }
    const text::Member& member = node.members.front();
    if (!can_depend_on(member.key, "identity_in", identity_, problems_)) return {};
    auto values = read_identity_values(member.value, member.key.value, problems_);
    if (!values) return {};
    return When{.kind = Kind::identity_in, .identity = member.key.value, .values = *std::move(values)};
  }

  const Identity& identity_;
  Problems& problems_;
  std::size_t conditions_ = 0;
  bool is_too_large_ = false;
};

}  // namespace

std::optional<Written<When>> read_when(const text::Node& node, const Identity& identity, Problems& problems) {
  auto when = ConditionReader(identity, problems).read(node);
  if (!when) return {};
  return Written<When>{*std::move(when), node.at};
}

std::optional<std::vector<std::string>> read_identity_values(const text::Node& node, std::string_view field,
                                                             Problems& problems) {
  const auto* items = text::items_of(node, field, problems);
  if (items == nullptr) return {};
  if (items->size() > max_values) {
    problems.error(node.at, "too many values of {}: {}, at most {}", field, items->size(), max_values);
    return {};
  }
  const std::size_t errors = problems.errors();
  std::vector<std::string> values;
  for (const text::Node& item : *items) {
    const std::string* value = text::single_value(item, field, text::Form::text, problems);
    if (value == nullptr) continue;
    // Header values are compared without the spaces around them, so such a value would never match.
    if (value->empty() || base::trimmed(*value) != *value) {
      problems.error(item.at, "{} {}: a value is not empty and has no spaces around it", field, in_quotes(*value));
    }
    values.push_back(*value);
  }
  std::ranges::sort(values);
  if (const auto twice = std::ranges::adjacent_find(values); twice != values.end()) {
    problems.error(node.at, "{} {}: duplicate value", field, in_quotes(*twice));
  }
  if (problems.errors() > errors) return {};
  return values;
}

bool can_depend_on(const Written<std::string>& name, std::string_view field, const Identity& identity,
                   Problems& problems) {
  if (identity.is_verified(name.value)) return true;
  if (identity.has(name.value)) {
    problems.error(name.at,
                   "{} {}: any client can choose this identity, so it cannot decide which limits apply; if the proxy "
                   "verifies it, {}",
                   field, in_quotes(name.value),
                   name.value == "api_key" ? "set 'verified: true' in identity.api_key"
                                           : fmt::format("remove 'verified: false' in identity.{}", name.value));
    return false;
  }
  std::vector<std::string> known{"user", "api_key"};
  for (const NamedIdentity& each : identity.named) known.push_back(each.name);
  const std::string near = text::did_you_mean(name.value, known);
  problems.error(name.at, "{} {}: unknown identity{}", field, in_quotes(name.value),
                 near.empty() ? fmt::format("; write {}, or define it in identity", fmt::join(known, ", ")) : near);
  return false;
}

}  // namespace weir::policy
