// `identity` and `tiers`: who is calling. The same shape at the root of policy.yaml, and in OpenAPI's
// x-rate-limit-identity and x-rate-limit-tiers. What is wrong is reported, and is then as if it were not there.
#pragma once

#include <string_view>

#include "policy/problem.h"
#include "policy/spec.h"
#include "policy/yaml/document.h"

namespace weir::policy {

// `called` is what the field is called in the file.
[[nodiscard]] Identity read_identity(const yaml::Node& node, std::string_view called, Problems& problems);

[[nodiscard]] TiersSpec read_tiers(const yaml::Node& node, std::string_view called, Problems& problems);

}  // namespace weir::policy
