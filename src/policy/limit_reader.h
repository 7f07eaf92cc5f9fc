// One limit, as policy.yaml and OpenAPI's x-rate-limit write it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/problem.h"
#include "policy/route_reader.h"
#include "policy/spec.h"
#include "policy/yaml/document.h"

namespace weir::policy {

// What the place of a limit says already.
struct LimitPlace {
  // The name of a limit that has no `name`; without it, `name` is required.
  std::optional<Written<std::string>> name;
  // The routes of a limit that stands beside them, where `routes` has no place; without it, `routes` says them.
  std::optional<std::vector<Written<RouteTemplate>>> routes;
  MoreMethods methods = nullptr;
};

// None if anything in it is wrong by itself: `problems` then says what.
[[nodiscard]] std::optional<LimitSpec> read_limit(const yaml::Node& node, const LimitPlace& place, Problems& problems);

}  // namespace weir::policy
