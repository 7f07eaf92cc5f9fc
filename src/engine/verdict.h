// The answer to a query: may it pass, by which limit, what is left, when to come back.
//
// Views in a verdict hold until the batch that it is of is cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "match/matcher.h"
#include "policy/ruleset.h"
#include "table/cells.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/reason.h"
#include "weir/time.h"

namespace weir::engine {

using weir::Reason;

// Denied whatever is left: no number has a part in it, and waiting never helps.
[[nodiscard]] constexpr bool is_outright(Reason reason) noexcept {
  return reason == Reason::key_missing || reason == Reason::banned || reason == Reason::too_many_limits ||
         reason == Reason::needs_receipt;
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

  [[nodiscard]] Divergence divergence() const noexcept {
    if (!candidate || candidate->admitted == decision.admitted) return Divergence::agrees;
    return candidate->admitted ? Divergence::newly_admitted : Divergence::newly_denied;
  }
};

struct Verdict {
  static constexpr std::uint32_t no_limit = match::no_limit;

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
  Instant at{};  // when it was evaluated, by the clock of whoever keeps the states
  std::span<const Outcome> outcomes;
};

// What is said about one descriptor.
struct DescriptorStatus {
  enum class Kind : std::uint8_t { unmatched, unlimited, limited };

  Kind kind = Kind::unmatched;
  bool admitted = true;                // also if only a shadow limit would deny
  std::string_view name;               // of the limit, as configured; empty if it has none
  std::optional<std::uint32_t> limit;  // of Ruleset::limits; empty if none of them was asked
  WindowNumbers numbers;               // that were applied
  Decision decision;
  const policy::MetadataValue* metadata = nullptr;  // of what is configured; null: none
};

// --- how the answers of a request's limits make one verdict: pure, whichever store gave the answers

// A query's outcomes, and which of them are live limits that were asked.
struct LiveOutcomes {
  std::span<const Outcome> outcomes;
  std::span<const std::uint32_t> live;

  [[nodiscard]] const Outcome& operator[](std::size_t c) const noexcept { return outcomes[live[c]]; }
  [[nodiscard]] std::size_t size() const noexcept { return live.size(); }
};

struct Deniers {
  std::size_t count = 0;
  std::size_t last = 0;  // of the live ones
};
[[nodiscard]] Deniers deniers_of(const LiveOutcomes& outcomes) noexcept;

// Whether `a` waits longer than `b`. Nothing is longer than never.
[[nodiscard]] bool waits_longer(const std::optional<Duration>& a, const std::optional<Duration>& b) noexcept;

// Denied outright by a block: nothing is left, and the waits are the longer of the two.
void deny_for_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept;

// A denial has filled the count, and the block has begun.
void begin_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept;

// `warned`, of the live ones, is the limit that would have denied; only where that is the reason.
[[nodiscard]] Verdict admitted_verdict(const LiveOutcomes& outcomes, Reason reason, std::size_t warned) noexcept;

// `outright` is the limit that denies without being asked, where that is the reason.
[[nodiscard]] Verdict denied_verdict(const LiveOutcomes& outcomes, Reason reason, std::uint32_t outright) noexcept;

}  // namespace weir::engine
