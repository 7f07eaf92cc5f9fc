// The verdict on a query: whether it is admitted, the deciding limit, what remains, and when to retry.
//
// Views in a verdict are valid until its batch is cleared.
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

// True for a denial that does not depend on usage: retrying does not help, unless a block expires.
[[nodiscard]] constexpr bool is_outright(Reason reason) noexcept {
  return reason == Reason::key_missing || reason == Reason::banned || reason == Reason::too_many_limits ||
         reason == Reason::needs_receipt || reason == Reason::reserve_too_large ||
         reason == Reason::blocked_by_operator;
}

enum class Standing : std::uint8_t { live, shadow };

// The difference between the decisions of a candidate and of its live limit.
enum class Divergence : std::uint8_t { agrees, newly_denied, newly_admitted };

// One limit's part in a verdict.
struct Outcome {
  std::uint32_t limit = 0;  // index in Ruleset::limits
  std::uint32_t route = 0;  // index into Matcher::routes_of(limit)
  Standing standing = Standing::live;
  table::KeyHash consumer{};
  Cost cost;
  Duration max_wait = Duration::max();  // the maximum wait that the request accepts
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

  // The deciding limit. If admitted, the one with the least remaining relative to its size; if denied, the denying one
  // with the longest wait. Among equals, the first in the file.
  std::uint32_t limit = no_limit;
  Decision decision;

  std::optional<Duration> retry_after = Duration::zero();  // the longest of the denying limits; empty: never
  Duration delay = Duration::zero();                       // the longest of the admitting limits
  std::uint32_t label = 0;                                 // index into Matcher::labels() of the most specific route
  std::string_view route;                                  // that label: a route template, or `other`
  std::uint32_t tier = 0;
  Instant at{};  // the time of the evaluation, by the store's clock
  // Set by an override of the deciding limit, or by the block: its number, and the numbers that the override applies.
  match::ExceptionNumber exception = 0;
  const Limit* replaced = nullptr;
  std::span<const Outcome> outcomes;
};

// The part of one descriptor in a verdict.
struct DescriptorStatus {
  enum class Kind : std::uint8_t { unmatched, unlimited, limited };

  Kind kind = Kind::unmatched;
  bool admitted = true;                // stays true if only a shadow limit denies
  std::string_view name;               // name of the limit as configured; empty if it has none
  std::optional<std::uint32_t> limit;  // index in Ruleset::limits; unset: an override, or not limited
  WindowNumbers numbers;               // the numbers that were applied
  Decision decision;
  const policy::MetadataValue* metadata = nullptr;  // metadata of the configured descriptor; null: none
};

// The numbers of the deciding limit for the tier of the request, or those of its override. Null if it has none.
[[nodiscard]] inline const Limit* numbers_of(const policy::Ruleset& ruleset, const Verdict& verdict) noexcept {
  if (verdict.replaced != nullptr) return verdict.replaced;
  if (verdict.limit == Verdict::no_limit) return nullptr;
  const auto& numbers = ruleset.limits[verdict.limit].live.by_tier[verdict.tier];
  return numbers ? &*numbers : nullptr;
}

// --- pure functions that combine the outcomes of a request's limits into a verdict

// A query's outcomes, and the indexes of the live limits that were asked.
struct LiveOutcomes {
  std::span<const Outcome> outcomes;
  std::span<const std::uint32_t> live;

  [[nodiscard]] const Outcome& operator[](std::size_t c) const noexcept { return outcomes[live[c]]; }
  [[nodiscard]] std::size_t size() const noexcept { return live.size(); }
};

struct Deniers {
  std::size_t count = 0;
  std::size_t last = 0;  // index into `live`
};
[[nodiscard]] Deniers deniers_of(const LiveOutcomes& outcomes) noexcept;

// True if `a` waits longer than `b`. An unset duration means forever.
[[nodiscard]] bool waits_longer(const std::optional<Duration>& a, const std::optional<Duration>& b) noexcept;

// Makes `decision` a denial by a block that lasts for `block_wait`: nothing remains, and the longer wait applies.
void deny_for_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept;

// Applies a block that `decision`, a denial, has started.
void begin_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept;

// `warned` is the index into `live` of the limit that warned. Used only with the reason `warned`.
[[nodiscard]] Verdict admitted_verdict(const LiveOutcomes& outcomes, Reason reason, std::size_t warned) noexcept;

// `outright` is the limit that denies regardless of usage. Used only if is_outright(reason).
[[nodiscard]] Verdict denied_verdict(const LiveOutcomes& outcomes, Reason reason, std::uint32_t outright) noexcept;

}  // namespace weir::engine
