#include "policy_test/suite.h"

#include <algorithm>
#include <utility>

#include "match/matcher.h"
#include "policy_test/proof.h"

namespace weir::policy_test {
namespace {

TestResult result_of_bound(const BoundSpec& bound, const match::Matcher& matcher, std::uint64_t nodes) {
  const BoundResult proved = prove(bound, matcher, nodes);
  TestResult result{.name = "at most " + bound.text, .at = bound.at, .note = {}, .failures = {}};
  if (proved.holds) {
    result.note = proved.text();
  } else {
    result.failures.push_back({bound.at, proved.text()});
  }
  return result;
}

}  // namespace

std::size_t SuiteReport::failed() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(results, [](const auto& each) { return !each.passed(); }));
}

Result<SuiteReport> run_suite(const TestFile& file, const std::string& policy_path,
                              const std::shared_ptr<const policy::Ruleset>& ruleset, const SuiteOptions& options) {
  const auto matcher = match::Matcher::create(ruleset);
  if (!matcher) return tl::unexpected(matcher.error());
  const auto is_wanted = [&](std::string_view name) { return name.find(options.filter) != std::string_view::npos; };
  SuiteReport report;
  report.test_path = file.path;
  report.policy_path = policy_path;
  Coverage coverage(ruleset);
  for (const Scenario& scenario : file.scenarios) {
    if (!is_wanted(scenario.name.value)) continue;
    auto result = run_scenario(scenario, ruleset, file.nodes, &coverage);
    if (!result) return tl::unexpected(result.error());
    report.results.push_back(
        {scenario.name.value, scenario.name.at, {}, std::move(result->failures), result->requests});
  }
  for (const BoundSpec& bound : file.bounds) {
    if (is_wanted(bound.text)) report.results.push_back(result_of_bound(bound, **matcher, file.nodes));
  }
  report.coverage = coverage.report();
  if (options.mutate && report.failed() == 0) report.mutation = run_mutants(file, *ruleset);
  return report;
}

}  // namespace weir::policy_test
