// The policy in force as JSON, its numbers in the words of the policy language:
//
//   {"digest": "...", "tiers": {"header": "x-plan", "names": ["free", "pro"]},
//    "limits": [{"name": "api-by-user", "routes": ["/api/**"], "domain": null, "when": null,
//                "consumer_key": "[user, api_key]", "missing": "skip", "algorithm": "token_bucket",
//                "numbers": {"free": "100/min, burst 20", "pro": "1000/min, burst 100"}, "mode": "enforce",
//                "candidate": {"algorithm": "sliding_window_counter", "numbers": {...}},
//                "warn_first": {"count": 3, "per": 3600},
//                "penalty": {"after": 10, "within": 60, "block": 600}}]}
//
// Times are seconds. A limit without routes covers every request, one with a domain is reached by descriptors. What a
// limit does not have is null.
#pragma once

#include <string>

#include "policy/ruleset.h"

namespace weir::door {

[[nodiscard]] std::string ruleset_json(const policy::Ruleset& ruleset);

}  // namespace weir::door
