// Reads the `paths` of an OpenAPI document: its operations and their routes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/read/openapi/document.h"
#include "policy/route_template.h"

namespace weir::policy::openapi {

inline constexpr std::size_t max_routes = 200'000;  // maximum over all operations and base paths

using BasePaths = std::shared_ptr<const std::vector<std::string>>;

struct Operation {
  Mark at;                                 // position of its path
  std::string method;                      // in upper case
  const text::Node* node = nullptr;        // the operation object
  std::optional<Written<std::string>> id;  // operationId
  RouteTemplate path_route;                // without a base path
  BasePaths base_paths;
  std::vector<RouteTemplate> routes;  // one for each base path
};

// The operations under one path. A path item with a `$ref` and other fields has several parts; each field is in one of
// them only.
struct PathItem {
  Written<std::string> path;  // as the document writes it, without a base path
  std::vector<const text::Node*> parts;
  std::vector<Operation> operations;

  [[nodiscard]] const text::Node* find(std::string_view field) const noexcept;
};

[[nodiscard]] std::vector<PathItem> read_paths(const text::Node& root, References& references, Problems& problems);

// Converts a path of OpenAPI to a route. A route's parameters are whole segments, so `{name}.json` and `{a}-{b}` become
// `{name.json}` and `{a-b}`; `{rest+}` at the end (API Gateway) becomes `**`. The route matches at least what the path
// matches, so no request bypasses its limit.
[[nodiscard]] std::string route_path(std::string_view path);

}  // namespace weir::policy::openapi
