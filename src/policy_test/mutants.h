// Mutants of a policy: the ruleset with one change each. A good set of tests fails for every one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "policy/ruleset.h"

namespace weir::policy_test {

struct Mutant {
  std::uint32_t limit = 0;   // index in Ruleset::limits of the original
  std::string change;        // `burst 20 -> 21`
  std::string missing_test;  // the test that would fail for this mutant
  std::shared_ptr<const policy::Ruleset> ruleset;
};

// Calls `use` for each mutant: numbers, algorithms, routes, keys, `missing`, `when`, `mode` and costs are changed one
// at a time, and each limit is removed. Changes that no request can show are left out, such as gcra for token_bucket.
void for_each_mutant(const policy::Ruleset& ruleset, const std::function<void(Mutant)>& use);

}  // namespace weir::policy_test
