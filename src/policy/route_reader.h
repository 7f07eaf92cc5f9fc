// Routes as people write them in a policy: what parse_route() reads, but for what it would read and nobody means, which
// would never match a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/mark.h"
#include "policy/problem.h"
#include "policy/route_template.h"
#include "policy/yaml/document.h"

namespace weir::policy {

// The methods that `methods` adds to those of the IANA's registry, in upper case. Null where none can be added.
using MoreMethods = const std::vector<std::string>*;

// None after the mistake has been said: no route at all, a method that nobody knows, `:id` instead of `{id}`, or a
// regular expression.
[[nodiscard]] std::optional<Written<RouteTemplate>> read_route(std::string_view text, Mark at, MoreMethods more,
                                                               Problems& problems);

// The list under `methods`.
[[nodiscard]] std::vector<std::string> read_methods(const yaml::Node& node, Problems& problems);

}  // namespace weir::policy
