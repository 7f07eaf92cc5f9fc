// For people who begin with a policy: a schema for their editors and a first policy.yaml, for `weir init`: commented,
// loading as it stands without a warning, meant to be edited.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/limit_fields.h"
#include "policy/vocabulary.h"

namespace weir::policy {

[[nodiscard]] std::string starter_policy();

// With the operations of an OpenAPI document (YAML or JSON): those that look like a sign-in limited by address,
// everything by consumer, and what may deserve a limit of its own as comments. The x-rate-limit in it are not looked
// at. None if the document cannot be read: `problems` then says why.
[[nodiscard]] std::optional<std::string> starter_policy(std::string_view openapi, Problems& problems);

// The JSON Schema (draft 2020-12) of policy.yaml, for editors.
[[nodiscard]] std::string schema(LimitFields fields = limit_fields());

}  // namespace weir::policy
