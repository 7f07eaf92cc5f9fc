#include "policy_test/mutation.h"

#include <algorithm>
#include <utility>

#include "match/matcher.h"
#include "policy_test/mutants.h"
#include "policy_test/proof.h"
#include "policy_test/scenario_run.h"

namespace weir::policy_test {
namespace {

// True if a test fails. A policy that cannot be served is detected too.
bool is_detected(const TestFile& file, const std::shared_ptr<const policy::Ruleset>& ruleset,
                 std::vector<std::size_t>& order) {
  const auto matcher = match::Matcher::create(ruleset);
  if (!matcher) return true;
  const bool breaks_bound = std::ranges::any_of(
      file.bounds, [&](const BoundSpec& bound) { return !prove(bound, **matcher, file.nodes).holds; });
  if (breaks_bound) return true;
  for (auto each = order.begin(); each != order.end(); ++each) {
    const auto result = run_scenario(file.scenarios[*each], ruleset, file.nodes, nullptr);
    if (result && result->passed()) continue;
    // The next mutant is probably of the same limit, so the same scenario runs first.
    std::rotate(order.begin(), each, each + 1);
    return true;
  }
  return false;
}

}  // namespace

MutationReport run_mutants(const TestFile& file, const policy::Ruleset& ruleset) {
  MutationReport report;
  std::vector<std::size_t> order(file.scenarios.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for_each_mutant(ruleset, [&](Mutant mutant) {
    ++report.mutants;
    if (is_detected(file, mutant.ruleset, order)) return;
    const policy::CompiledLimit& limit = ruleset.limits[mutant.limit];
    report.survivors.push_back({limit.at, limit.name, std::move(mutant.change), std::move(mutant.missing_test)});
  });
  return report;
}

}  // namespace weir::policy_test
