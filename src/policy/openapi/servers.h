// `servers:` of OpenAPI: below which paths the operations are found.
#pragma once

#include <string>
#include <vector>

#include "policy/problem.h"
#include "policy/yaml/document.h"

namespace weir::policy::openapi {

inline constexpr std::size_t most_base_paths = 100;    // of one list of servers
inline constexpr std::size_t most_server_urls = 1000;  // of one server, by its variables' values

// The path of each server's URL: "/v1", or "" for the root; each once. A variable stands for its default and for
// each of its `enum`. Absent or empty servers: the root.
[[nodiscard]] std::vector<std::string> base_paths(const yaml::Node* servers, Problems& problems);

}  // namespace weir::policy::openapi
