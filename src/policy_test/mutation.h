// Runs the tests of a policy against its mutants, and reports those that no test detects.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policy/ruleset.h"
#include "policy_test/test_file.h"

namespace weir::policy_test {

// A mutant that passes every test.
struct Survivor {
  Mark at;  // the limit in the policy file
  std::string limit;
  std::string change;
  std::string missing_test;
};

struct MutationReport {
  std::uint64_t mutants = 0;
  std::vector<Survivor> survivors;  // in file order

  [[nodiscard]] std::uint64_t killed() const noexcept { return mutants - survivors.size(); }
};

// All tests must pass for the policy itself.
[[nodiscard]] MutationReport run_mutants(const TestFile& file, const policy::Ruleset& ruleset);

}  // namespace weir::policy_test
