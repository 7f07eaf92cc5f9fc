// policy.yaml, as it was written.
#pragma once

#include "policy/problem.h"
#include "policy/spec.h"
#include "policy/yaml/document.h"

namespace weir::policy {

// Without the limits that are wrong by themselves: compile() can still find what is wrong between the others.
[[nodiscard]] PolicySpec read_policy(const yaml::Node& root, Problems& problems);

}  // namespace weir::policy
