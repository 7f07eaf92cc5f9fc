// One consumer of one limit: what it has left, and how it is made to start afresh.
#pragma once

#include <string>
#include <string_view>

#include "door/desk.h"
#include "weir/result.h"

namespace weir::door {

// Charges nothing. On an error the policy does not know the limit or the tier, or the consumer does not fit.
//
//   {"limit": "api-by-user", "tier": "free", "admitted": true, "reason": "within", "retry_after": 0,
//    "mode": "enforce", "quota": 20, "remaining": 3, "reset_after": 10.2, "more_after": 0.6, "consumer": "user=alice"}
//
// `admitted`, `reason` and `retry_after` are what this limit would say to its next request; `retry_after` is null where
// waiting does not help. `remaining`, `reset_after` and `more_after` are what is there before it; `more_after` is null
// while nothing is used, and all from `mode` on in a tier without limits. Seconds, exact to the microsecond.
[[nodiscard]] Result<std::string> inspect_json(Desk& desk, std::string_view limit, std::string_view consumer,
                                               std::string_view tier);

// Forgets what was counted for it, warnings and blocks included.
[[nodiscard]] Result<std::string> reset_json(Desk& desk, std::string_view limit, std::string_view consumer);

}  // namespace weir::door
