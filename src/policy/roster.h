// What a ruleset holds, a line for each limit and route, as it is logged when a policy is loaded:
// `login-by-ip: POST /login: sliding_window_log 10/min by ip when anonymous`.
#pragma once

#include <string>
#include <vector>

#include "policy/ruleset.h"

namespace weir::policy {

// In file order. The numbers are those of the default tier; tiers with others are named.
[[nodiscard]] std::vector<std::string> roster(const Ruleset& ruleset);

}  // namespace weir::policy
