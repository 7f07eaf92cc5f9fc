// PolicySpec -> Ruleset: everything that takes more than one value to be wrong.
#pragma once

#include <memory>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// None if there is an error; `problems` says which.
[[nodiscard]] std::shared_ptr<const Ruleset> compile(const PolicySpec& spec, Problems& problems);

}  // namespace weir::policy
