// `paths:` of OpenAPI: the operations and the routes at which they are found.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/read/openapi/document.h"
#include "policy/route_template.h"

namespace weir::policy::openapi {

inline constexpr std::size_t max_routes = 200'000;  // of all operations, with their base paths

using BasePaths = std::shared_ptr<const std::vector<std::string>>;

struct Operation {
  Mark at;                                 // of its path
  std::string method;                      // in upper case
  const text::Node* node = nullptr;        // the operation object
  std::optional<Written<std::string>> id;  // operationId
  RouteTemplate path_route;                // without a base path
  BasePaths base_paths;
  std::vector<RouteTemplate> routes;  // one for each base path
};

// Operations under one path. A path item may be a `$ref` with more beside it: then it has several parts, and a field
// is in one of them only.
struct PathItem {
  Written<std::string> path;  // as the document writes it, without a base path
  std::vector<const text::Node*> parts;
  std::vector<Operation> operations;

  [[nodiscard]] const text::Node* find(std::string_view field) const noexcept;
};

[[nodiscard]] std::vector<PathItem> read_paths(const text::Node& root, References& references, Problems& problems);

// A path of OpenAPI as routes are written. They know parameters only as whole segments, so `{name}.json` and `{a}-{b}`
// become parameters, `{name.json}` and `{a-b}`; `{rest+}` at the end (API Gateway) becomes `**`. Such a route matches
// more than the path says and never less: nothing escapes its limit.
[[nodiscard]] std::string route_path(std::string_view path);

}  // namespace weir::policy::openapi
