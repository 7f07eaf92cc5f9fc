// Loads small policies and test files, and runs them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "match/matcher.h"
#include "policy/load.h"
#include "policy_test/proof.h"
#include "policy_test/suite.h"
#include "policy_test/test_file.h"

namespace weir::policy_test {

// `limits` is the value of `limits:`, indented by two spaces; a text with `limits:` is a whole policy.
inline std::shared_ptr<const policy::Ruleset> policy_of(std::string_view limits) {
  const bool is_whole = limits.find("limits:") != std::string_view::npos;
  const std::string text = is_whole ? std::string(limits) : "version: 1\nlimits:\n" + std::string(limits);
  const auto loaded = policy::load_text(text, "policy.yaml");
  for (const auto& problem : loaded.problems) {
    EXPECT_NE(problem.severity, text::Severity::error) << problem.text();
  }
  return loaded.ruleset;
}

inline TestFile tests_of(std::string_view text) {
  const auto loaded = read_tests("version: 1\n" + std::string(text), "policy.test.yaml");
  for (const auto& problem : loaded.problems) ADD_FAILURE() << problem.text();
  return loaded.file.value_or(TestFile{});
}

// The steps of one test, indented by six spaces.
inline SuiteReport run_steps(std::string_view limits, std::string_view steps, const SuiteOptions& options = {}) {
  const TestFile file = tests_of("tests:\n  - name: test\n    steps:\n" + std::string(steps));
  auto report = run_suite(file, "policy.yaml", policy_of(limits), options);
  EXPECT_TRUE(report.has_value());
  return report.value_or(SuiteReport{});
}

// The first failure of the test; empty if it passed.
inline std::string failure_of(std::string_view limits, std::string_view steps) {
  const SuiteReport report = run_steps(limits, steps);
  if (report.results.empty()) return "no test ran";
  const auto& failures = report.results.front().failures;
  return failures.empty() ? "" : failures.front().message;
}

inline BoundResult bound_result(std::string_view limits, std::string_view bound) {
  const auto parsed = parse_bound(bound);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message());
  const auto matcher = match::Matcher::create(policy_of(limits));
  EXPECT_TRUE(matcher.has_value());
  return prove(*parsed, **matcher, 2);
}

}  // namespace weir::policy_test
