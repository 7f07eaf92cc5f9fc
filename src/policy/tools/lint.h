// Warnings: what is no mistake in the language and yet is hardly meant. Each says what happens and what to do.
//
// - a fixed window on a route that is written to: one that names POST, PUT, PATCH or DELETE, or that covers a route
//   of the policy which does. A limit on every request is a backstop, and a route without a method is mostly read:
//   to warn of all these would be to warn of most policies.
// - a limit by ip alone on an authenticated route: where another limit counts by user (or verified api_key), or
//   `when: authenticated`. Not with `when: anonymous`.
// - a key that any client can choose: `header:`, always; an unverified api_key, unless a limit by ip or user covers the
//   same callers; a penalty on either, unless ip or user is part of the key.
// - `value_to_metric` of a descriptor: no client's value becomes a label.
// - a header that holds a raw path, as a key; and a descriptor of that kind without a value.
// - a route on which a caller without the key is covered by no limit that is enforced.
// - tier_overrides without tiers.from, but for the default tier.
// - a burst (token_bucket, gcra) far above the rate: over ten times what the rate brings in its own period as written,
//   and over an hour of it. A slow rate with a small burst is fine, and so is a day's quota at once.
// - a burst below what one second of the rate brings: who sends once a second can never reach the rate. Exactly one
//   second's worth is the default of N/s, and just enough.
// - a consistency that is decided exactly all the same (consistency.h): of a queue or a log, in shadow, of a burst or
//   limit that is too small for slices or, approximate, for the number of nodes.
// - `consistency: approximate` where an error of at most 1 % is not promised: the burst or limit is too small for the
//   number of nodes, or the window or time to fill too short for the sync.
// - a limit that never decides: another denies first, always, or there is nobody whom it covers.
// - warn_first or penalty with `mode: shadow`.
#pragma once

#include <cstdint>

#include "policy/ruleset.h"
#include "policy/spec.h"
#include "text/yaml/problem.h"

namespace weir::policy {

// `ruleset` is what compile() made of `spec`; `nodes` are those that share the store.
void lint(const PolicySpec& spec, const Ruleset& ruleset, std::uint64_t nodes, Problems& problems);

}  // namespace weir::policy
