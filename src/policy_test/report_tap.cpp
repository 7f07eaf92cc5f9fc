// The report in the Test Anything Protocol, version 14: one line per test, with the failures as YAML below it.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "policy_test/suite.h"
#include "text/json.h"

namespace weir::policy_test {
namespace {

// Escapes what would start a directive or continue the line.
std::string description(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '#' || c == '\\') escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

std::string report_tap(const std::vector<SuiteReport>& reports) {
  std::size_t tests = 0;
  for (const SuiteReport& report : reports) tests += report.results.size();
  std::string text = fmt::format("TAP version 14\n1..{}\n", tests);
  std::size_t number = 0;
  for (const SuiteReport& report : reports) {
    for (const TestResult& result : report.results) {
      text += fmt::format("{} {} - {}: {}\n", result.passed() ? "ok" : "not ok", ++number,
                          description(report.policy_path), description(result.name));
      if (result.passed()) continue;
      text += "  ---\n  failures:\n";
      for (const TestFailure& failure : result.failures) {
        text +=
            fmt::format("    - message: {}\n      at: {}\n", text::json_text(failure.message),
                        text::json_text(fmt::format("{}:{}:{}", report.test_path, failure.at.line, failure.at.column)));
      }
      text += "  ...\n";
    }
  }
  return text;
}

}  // namespace weir::policy_test
