// SPDX-License-Identifier: Apache-2.0
// The reason for a verdict.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

enum class Reason : std::uint8_t {
  not_evaluated,        // no engine has filled the Verdict: denied
  uncovered,            // no limit covers the request, or only tiers without limits: admitted
  shadow,               // only limits in shadow mode cover the request: admitted, whatever they would decide
  exempt,               // the policy exempts the request (`exempt`): admitted
  within,               // all limits admit
  warned,               // a limit is exceeded but admits the first few requests with a warning (`warn_first`)
  exceeded,             // a limit denies
  blocked,              // a limit denied this consumer too often: denied for a while (`penalty`)
  key_missing,          // a limit denies requests that lack its key (`missing: deny`)
  banned,               // a limit admits nothing, or nothing of this tier
  too_many_limits,      // more limits cover the request than can be evaluated together
  needs_receipt,        // a concurrency limit needs Engine::reserve or Engine::hold
  reserve_too_large,    // the reservation exceeds the limit's `max_reserve`; a smaller one may be admitted
  store_unavailable,    // the server's shared store is unavailable, and the limit's fallback applies
  no_memory,            // out of memory: denied
  blocked_by_operator,  // an operator of the server blocked the caller; its name is `blocked` too
};

// The name used in the server's responses: `within`, `exceeded`, ...
[[nodiscard]] std::string_view name_of(Reason reason) noexcept;

}  // namespace weir
