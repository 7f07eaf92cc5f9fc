// docs/openapi.yaml, embedded at build time and served by the HTTP and the admin listener. Tests compare the tables of
// routes and the responses of a running server with it.
#pragma once

#include <string_view>

namespace weir::frontend {

inline constexpr std::string_view openapi_path = "/openapi.yaml";
inline constexpr std::string_view openapi_content_type = "application/yaml";

[[nodiscard]] std::string_view openapi_text() noexcept;

}  // namespace weir::frontend
