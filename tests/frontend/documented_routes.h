// The routes of docs/openapi.yaml, to compare with the tables of the listeners.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/openapi.h"
#include "policy/read/openapi/document.h"
#include "policy/read/openapi/operations.h"
#include "text/yaml/document.h"

namespace weir::frontend {

// Returns routes like `GET /healthz` of the paths with a server at `port`. Paths without servers have those of the
// root.
inline std::set<std::string> documented_routes(std::string_view port) {
  policy::Problems problems("openapi.yaml");
  const auto root = text::parse_yaml(openapi_text(), problems);
  EXPECT_TRUE(root.has_value());
  if (!root) return {};
  policy::openapi::References references(*root, problems);
  const auto is_at_port = [&](const text::Node* servers) {
    return servers != nullptr && std::ranges::any_of(servers->items, [&](const text::Node& server) {
             const text::Node* const url = server.find("url");
             return url != nullptr && url->text.ends_with(port);
           });
  };
  std::set<std::string> found;
  for (const auto& item : policy::openapi::read_paths(*root, references, problems)) {
    const text::Node* const own = item.find("servers");
    if (!is_at_port(own != nullptr ? own : root->find("servers"))) continue;
    for (const auto& operation : item.operations) found.insert(operation.method + " " + item.path.value);
  }
  EXPECT_FALSE(problems.any_error());
  return found;
}

}  // namespace weir::frontend
