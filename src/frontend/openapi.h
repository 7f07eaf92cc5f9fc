// docs/openapi.yaml as it was at build: what the HTTP and the admin listener answer, served by both. Tests hold the
// tables of routes, and the answers of a running server, against it.
#pragma once

#include <string_view>

namespace weir::frontend {

inline constexpr std::string_view openapi_path = "/openapi.yaml";
inline constexpr std::string_view openapi_content_type = "application/yaml";

[[nodiscard]] std::string_view openapi_text() noexcept;

}  // namespace weir::frontend
