// Runs one scenario against a policy, and compares each answer with what is expected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policy/ruleset.h"
#include "policy_test/coverage.h"
#include "policy_test/test_file.h"
#include "weir/result.h"

namespace weir::policy_test {

struct TestFailure {
  Mark at;
  std::string message;
};

struct ScenarioResult {
  std::vector<TestFailure> failures;  // of the first step that failed; the steps after it do not run
  std::uint64_t requests = 0;

  [[nodiscard]] bool passed() const noexcept { return failures.empty(); }
};

// Adds what the scenario touches to `coverage`, which may be null. Fails if the policy cannot be served.
[[nodiscard]] Result<ScenarioResult> run_scenario(const Scenario& scenario,
                                                  std::shared_ptr<const policy::Ruleset> ruleset, std::uint64_t nodes,
                                                  Coverage* coverage);

}  // namespace weir::policy_test
