// The implementation of weir::Policy.
#pragma once

#include <memory>
#include <vector>

#include "policy/ruleset.h"
#include "weir/result.h"

namespace weir::embedded {

struct PolicyBody {
  std::shared_ptr<const policy::Ruleset> ruleset;
  std::vector<Error> warnings;
};

}  // namespace weir::embedded
