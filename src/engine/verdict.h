// The answer to a query: may it pass, by which limit, what is left, when to come back.
//
// Views in a verdict hold until the judge that gave it is asked again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "table/cells.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::engine {

enum class Reason : std::uint8_t {
  uncovered,        // no limit covers the request, or only tiers without limits
  within,           // all limits admit
  warned,           // one limit would deny, but lets the first few pass with a warning
  exceeded,         // a limit denies
  blocked,          // a limit denied this consumer too often: denied outright for a while
  key_missing,      // a limit does not let requests pass that lack its key
  banned,           // a limit lets nothing pass, or nothing of this tier
  too_many_limits,  // more limits cover the request than are judged together
  store_away,       // the shared store is away, and the limit says what holds then: all pass, or nobody
};

[[nodiscard]] std::string_view name_of(Reason reason) noexcept;

// Denied whatever is left: no number has a part in it, and waiting never helps.
[[nodiscard]] constexpr bool is_outright(Reason reason) noexcept {
  return reason == Reason::key_missing || reason == Reason::banned || reason == Reason::too_many_limits;
}

enum class Standing : std::uint8_t { live, shadow };

// How a candidate's answer compares with its live limit's.
enum class Divergence : std::uint8_t { agrees, newly_denied, newly_admitted };

// One limit's part in a verdict.
struct Outcome {
  std::uint32_t limit = 0;  // of Ruleset::limits
  std::uint32_t route = 0;  // of the limit's routes; for a limit without routes, of the engine's labels
  Standing standing = Standing::live;
  table::KeyHash consumer{};
  Cost cost;
  Duration max_wait = Duration::max();  // of who asked
  Decision decision;
  std::optional<Decision> candidate;

  bool only_looked = false;  // what is admitted was not charged

  // Decided by this process's share of the limit, a shared store being away.
  bool is_local_share = false;
  // Decided elsewhere, where it is also known when more will be left than now; nothing if all is there.
  bool is_shared = false;
  std::optional<Duration> more_after;

  [[nodiscard]] Divergence divergence() const noexcept {
    if (!candidate || candidate->admitted == decision.admitted) return Divergence::agrees;
    return candidate->admitted ? Divergence::newly_admitted : Divergence::newly_denied;
  }
};

struct Verdict {
  static constexpr std::uint32_t no_limit = ~std::uint32_t{0};

  bool admitted = true;
  Reason reason = Reason::uncovered;

  // The limit that decided: admitted, the one with the least left relative to its size; denied, the denying one with
  // the longest wait. Of equals, the first in the file.
  std::uint32_t limit = no_limit;
  Decision decision;

  std::optional<Duration> retry_after = Duration::zero();  // the longest among the limits that deny; empty: never
  Duration delay = Duration::zero();                       // the longest turn to wait for
  std::uint32_t label = 0;                                 // of Plan::labels: the most specific route,
  std::string_view route;                                  // and its template, or `other`
  std::uint32_t tier = 0;
  Instant at{};  // when it was judged, by the clock of whoever keeps the states
  std::span<const Outcome> outcomes;
};

}  // namespace weir::engine
