// Evaluates conditions on the caller of a request (policy::When).
//
// Invariants:
// 1. A condition on something that a client may have forged is unknown, and so is its negation.
// 2. A limit applies unless its condition is `no`; an exemption applies only if its condition is `yes`. So no spelling
//    of a header or an address lifts a limit.
#pragma once

#include <cstdint>
#include <span>

#include "match/caller.h"
#include "match/matcher.h"
#include "policy/ruleset.h"
#include "weir/query.h"

namespace weir::match {

enum class Truth : std::uint8_t { no, unknown, yes };

struct ConditionInput {
  const policy::Identity& identity;
  const Caller& caller;
  const Query& query;
};

// `all` is as true as its least true part, `any` as its most true one.
[[nodiscard]] Truth evaluate(const policy::When& when, const ConditionInput& input) noexcept;

// True if the query surely matches one of these routes (policy/route_template.h).
[[nodiscard]] bool surely_matches_any(std::span<const policy::RouteTemplate> routes, const Query& query) noexcept;

// Returns the part of the policy's `exempt` that applies to a request. In doubt there is none:
//
// - An address must be known. A trusted proxy's own address, which counts where the proxy forwards none, is not exempt:
//   the client may be anyone.
// - An identity must have one value. The policy names only identities that no client can choose.
// - A route must match in every reading of the path.
[[nodiscard]] ExemptBy exempt_by(const policy::Ruleset& ruleset, const Caller& caller, const Query& query) noexcept;

}  // namespace weir::match
