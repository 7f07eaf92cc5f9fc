// What a policy asks for that a store cannot give: refused at the load, not found out by a request.
#pragma once

#include <string>
#include <vector>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "server/store_config.h"

namespace weir::server {

// Errors, one for each limit; `file` is the policy's. None for the store in this process, where every decision is
// exact.
[[nodiscard]] std::vector<policy::Problem> misfits(const policy::Ruleset& ruleset, const StoreConfig& store,
                                                   const std::string& file);

}  // namespace weir::server
