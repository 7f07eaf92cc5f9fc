// Finds routes that are there twice: equal but for the names of their parameters.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "policy/mark.h"
#include "policy/route_template.h"

namespace weir::policy {

class RoutesOnce {
 public:
  // Where the same route was added before.
  std::optional<Mark> add(const Written<RouteTemplate>& route);

 private:
  std::unordered_map<std::string, Mark> seen_;
};

}  // namespace weir::policy
