// Why a verdict is what it is.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

enum class Reason : std::uint8_t {
  not_evaluated,      // a Verdict that no engine has filled: denied
  uncovered,          // no limit covers the request, or only tiers without limits: admitted
  within,             // all limits admit
  warned,             // one limit would deny, but lets the first few pass with a warning (`warn_first`)
  exceeded,           // a limit denies
  blocked,            // a limit denied this consumer too often: denied outright for a while (`penalty`)
  key_missing,        // a limit does not let requests pass that lack its key (`missing: deny`)
  banned,             // a limit lets nothing pass, or nothing of this tier
  too_many_limits,    // more limits cover the request than are evaluated together
  needs_receipt,      // a limit on what runs at once is asked by Engine::reserve or Engine::hold
  store_unavailable,  // the shared store of a server is unavailable, and the limit says what applies then
  no_memory,          // there was no memory to evaluate it: denied
};

// `within`, `exceeded`, ...: the words that the server answers with.
[[nodiscard]] std::string_view name_of(Reason reason) noexcept;

}  // namespace weir
