// The JSON Schema (draft 2020-12) of weir.yaml, for editors: src/server/config_schema.json, as it is there.
#pragma once

#include <string_view>

namespace weir::server {

[[nodiscard]] std::string_view config_schema() noexcept;

}  // namespace weir::server
