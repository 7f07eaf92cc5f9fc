// The JSON Schema (draft 2020-12) of policy.yaml, for editors: src/policy/schema.json, as it is there.
#pragma once

#include <string_view>

namespace weir::policy {

[[nodiscard]] std::string_view schema() noexcept;

}  // namespace weir::policy
