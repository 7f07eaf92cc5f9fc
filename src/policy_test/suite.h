// Runs all tests of a file against one policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/ruleset.h"
#include "policy_test/coverage.h"
#include "policy_test/mutation.h"
#include "policy_test/scenario_run.h"
#include "policy_test/test_file.h"
#include "weir/result.h"

namespace weir::policy_test {

// The result of a scenario or of a bound.
struct TestResult {
  std::string name;
  Mark at;           // position in the test file
  std::string note;  // of a bound that holds: the number that is proved
  std::vector<TestFailure> failures;
  std::uint64_t requests = 0;

  [[nodiscard]] bool passed() const noexcept { return failures.empty(); }
};

struct SuiteReport {
  std::string test_path;
  std::string policy_path;
  std::vector<TestResult> results;
  CoverageReport coverage;
  std::optional<MutationReport> mutation;  // unset if it was not requested, or if a test failed

  [[nodiscard]] std::size_t failed() const noexcept;
};

struct SuiteOptions {
  std::string filter;  // runs only tests whose name contains it; empty: all
  bool mutate = false;
};

// Fails if the policy cannot be served.
[[nodiscard]] Result<SuiteReport> run_suite(const TestFile& file, const std::string& policy_path,
                                            const std::shared_ptr<const policy::Ruleset>& ruleset,
                                            const SuiteOptions& options = {});

// --- reports. `reports` are all suites of one run.

// The Test Anything Protocol, version 14.
[[nodiscard]] std::string report_tap(const std::vector<SuiteReport>& reports);
// JUnit's XML: a test suite for each file and policy.
[[nodiscard]] std::string report_junit(const std::vector<SuiteReport>& reports);

// Marks words of the report for people. `text` escapes what comes from files; the others return their argument if there
// are no colours.
struct ReportStyle {
  std::string (*text)(std::string_view);
  std::string (*passed)(std::string_view);
  std::string (*failed)(std::string_view);
  std::string (*faint)(std::string_view);

  [[nodiscard]] static ReportStyle plain();
};
[[nodiscard]] std::string report_text(const SuiteReport& report, const ReportStyle& style = ReportStyle::plain());
// The last line: `12 passed, 1 failed`.
[[nodiscard]] std::string summary_text(const std::vector<SuiteReport>& reports,
                                       const ReportStyle& style = ReportStyle::plain());

}  // namespace weir::policy_test
