// The report for people.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "policy_test/suite.h"

namespace weir::policy_test {
namespace {

std::string unchanged(std::string_view text) {
  return std::string(text);
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string position(const std::string& file, Mark at) {
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

std::string coverage_text(const SuiteReport& report, const ReportStyle& style) {
  const CoverageReport& coverage = report.coverage;
  if (coverage.parts == 0) return {};
  std::string text = fmt::format("  coverage: {} of {}\n", coverage.touched(), counted(coverage.parts, "part"));
  for (const Untouched& part : coverage.untouched) {
    text += fmt::format("    {} {}: no test has {}\n", style.faint(style.text(position(report.policy_path, part.at))),
                        part.limit, style.text(part.what));
  }
  return text;
}

std::string mutation_text(const SuiteReport& report, const ReportStyle& style) {
  if (!report.mutation) return {};
  const MutationReport& mutation = *report.mutation;
  const std::uint64_t percent = mutation.mutants == 0 ? 100 : 100 * mutation.killed() / mutation.mutants;
  std::string text = fmt::format("  mutants: {} of {} detected ({} %)\n", mutation.killed(), mutation.mutants, percent);
  for (const Survivor& survivor : mutation.survivors) {
    text += fmt::format("    {} {}: no test detects {}\n      missing test: {}\n",
                        style.faint(style.text(position(report.policy_path, survivor.at))), survivor.limit,
                        style.text(survivor.change), style.text(survivor.missing_test));
  }
  return text;
}

}  // namespace

ReportStyle ReportStyle::plain() {
  return {unchanged, unchanged, unchanged, unchanged};
}

std::string report_text(const SuiteReport& report, const ReportStyle& style) {
  std::string text = fmt::format("{} with {}\n", style.text(report.test_path), style.text(report.policy_path));
  for (const TestResult& result : report.results) {
    const std::string note = result.note.empty() ? "" : style.faint(style.text(fmt::format(" ({})", result.note)));
    text += fmt::format("  {} {}{}\n", result.passed() ? style.passed("ok  ") : style.failed("FAIL"),
                        style.text(result.name), note);
    for (const TestFailure& failure : result.failures) {
      text += fmt::format("       {}: {}\n", style.text(position(report.test_path, failure.at)),
                          style.text(failure.message));
    }
  }
  return text + coverage_text(report, style) + mutation_text(report, style);
}

std::string summary_text(const std::vector<SuiteReport>& reports, const ReportStyle& style) {
  std::size_t tests = 0;
  std::size_t failed = 0;
  std::uint64_t requests = 0;
  for (const SuiteReport& report : reports) {
    tests += report.results.size();
    failed += report.failed();
    for (const TestResult& result : report.results) requests += result.requests;
  }
  const std::string failures = fmt::format("{} failed", failed);
  return fmt::format("{} passed, {}; {}\n", tests - failed, failed == 0 ? failures : style.failed(failures),
                     counted(requests, "request"));
}

}  // namespace weir::policy_test
