// What a request costs, checked against what a limit can ever admit.
#pragma once

#include <optional>
#include <string_view>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// The live numbers of `limit` are those that count; its routes are those that a cost can be for.
[[nodiscard]] CostRule compile_cost(const LimitSpec& spec, const TieredLimit& live, const Tiers& tiers,
                                    Problems& problems);

// Reports costs that could never be admitted. `whose` is "" or "candidate's ".
void check_costs(const LimitSpec& spec, const TieredLimit& limits, const Tiers& tiers, std::string_view whose,
                 Problems& problems);

}  // namespace weir::policy
