// Generates a first policy.yaml for `weir init`, with comments and without lint warnings, and the JSON Schema of
// policies.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/limit_fields.h"
#include "policy/vocabulary.h"

namespace weir::policy {

[[nodiscard]] std::string starter_policy();

// Uses the operations of an OpenAPI document (YAML or JSON). Limits those that look like a sign-in by address, and
// everything by consumer; suggests limits for expensive operations in comments. Ignores x-rate-limit. Returns nothing
// after an error.
[[nodiscard]] std::optional<std::string> starter_policy(std::string_view openapi, Problems& problems);

// Returns the JSON Schema (draft 2020-12) of policy.yaml, for editors.
[[nodiscard]] std::string schema(LimitFields fields = limit_fields());

}  // namespace weir::policy
