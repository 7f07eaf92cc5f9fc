// Helpers that lint and compare policies given as text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/load.h"
#include "policy/tools/diff.h"

namespace weir::policy {

using Lines = std::vector<std::string>;

// LINE:COLUMN: message, without its rule.
inline std::string line_of(const Problem& problem) {
  return std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column) + ": " + problem.message;
}

// All problems of loading; errors have the prefix `error:`.
inline Lines problems_of(std::string_view text) {
  Lines lines;
  for (const Problem& problem : load_text(text, "p").problems) {
    lines.push_back((problem.severity == Severity::error ? "error: " : "") + line_of(problem));
  }
  return lines;
}

// Limits in flow style, one per line, from line 3.
inline std::string policy_of(const Lines& limits) {
  std::string text = "version: 1\nlimits:\n";
  for (const std::string& limit : limits) text += "- { " + limit + " }\n";
  return text;
}

inline Lines warnings_of(const Lines& limits) {
  return problems_of(policy_of(limits));
}

inline std::shared_ptr<const Ruleset> loaded(std::string_view text) {
  const Loaded loaded = load_text(text, "p");
  for (const Problem& problem : loaded.problems) {
    EXPECT_EQ(problem.severity, Severity::warning) << problem.text();
  }
  return loaded.ruleset;
}

// The changes between two policies, one per line.
inline std::string between(std::string_view before, std::string_view after) {
  const auto old_rules = loaded(before);
  const auto new_rules = loaded(after);
  if (old_rules == nullptr || new_rules == nullptr) return "not loaded";
  return render_text(diff(*old_rules, *new_rules));
}

}  // namespace weir::policy
