// The report as JUnit's XML, which CI systems show.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "policy_test/suite.h"

namespace weir::policy_test {
namespace {

// Escapes text for an attribute. XML 1.0 cannot represent most control characters, so they become `?`.
std::string attribute(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return escaped;
}

std::string case_text(const SuiteReport& report, const TestResult& result) {
  std::string text =
      fmt::format(R"(    <testcase name="{}" classname="{}" file="{}" line="{}")", attribute(result.name),
                  attribute(report.policy_path), attribute(report.test_path), result.at.line);
  if (result.passed()) return text + "/>\n";
  text += ">\n";
  for (const TestFailure& failure : result.failures) {
    text += fmt::format("      <failure message=\"{}\">{}:{}:{}</failure>\n", attribute(failure.message),
                        attribute(report.test_path), failure.at.line, failure.at.column);
  }
  return text + "    </testcase>\n";
}

}  // namespace

std::string report_junit(const std::vector<SuiteReport>& reports) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const SuiteReport& report : reports) {
    text += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n",
                        attribute(report.test_path + " with " + report.policy_path), report.results.size(),
                        report.failed());
    for (const TestResult& result : report.results) text += case_text(report, result);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace weir::policy_test
