#include "policy/tools/allow.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "policy/rules.h"
#include "text/yaml/comments.h"

namespace weir::policy {
namespace {

// Removes the first word and the blanks around it from `text`, and returns the word.
std::string_view take_word(std::string_view& text) noexcept {
  text = base::trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text = base::trimmed(text.substr(word.size()));
  return word;
}

std::optional<text::Rule> find_rule(std::string_view name) noexcept {
  const auto* found = std::ranges::find(rule::all, name, &text::Rule::name);
  if (found == rule::all.end()) return {};
  return *found;
}

std::string near_rule(std::string_view name) {
  std::vector<std::string> names;
  for (const text::Rule& each : rule::all) names.emplace_back(each.name);
  const std::string near = text::did_you_mean(name, names);
  return near.empty() ? "; see docs/reference-lint.md" : near;
}

// These rules depend on the number of nodes, which is not in the policy: one server may warn where another does not.
bool depends_on_nodes(text::Rule rule) noexcept {
  return rule == rule::approximate_nodes;
}

void read_allowance(const text::Comment& comment, Problems& problems) {
  std::string_view rest = comment.text;
  if (take_word(rest) != "weir:" || take_word(rest) != "allow") return;
  const std::string_view name = take_word(rest);
  const auto rule = find_rule(name);
  if (name.empty() || name == "because") {
    problems.error(comment.at, "missing rule: write '# weir: allow RULE because REASON'");
  } else if (!rule) {
    problems.error(comment.at, "unknown rule {}{}", in_quotes(name), near_rule(name));
  } else if (*rule == rule::unused_allow) {
    problems.error(comment.at, "{} cannot be allowed: remove the unused comment instead", name);
  } else if (take_word(rest) != "because" || rest.empty()) {
    problems.error(comment.at, "missing reason: write '# weir: allow {} because REASON'", name);
  } else {
    problems.allow({.line = comment.line, .rule = *rule, .at = comment.at});
  }
}

}  // namespace

void read_allowances(std::string_view text, Problems& problems) {
  for (const text::Comment& comment : text::comments_of(text)) read_allowance(comment, problems);
}

void warn_of_unused_allowances(Problems& problems) {
  for (const text::Allowance& unused : problems.unused_allowances()) {
    if (depends_on_nodes(unused.rule)) continue;
    problems.warning(unused.at, rule::unused_allow, "no {} warning in line {}: remove or move the comment",
                     unused.rule.name, unused.line == 0 ? unused.at.line : unused.line);
  }
}

}  // namespace weir::policy
