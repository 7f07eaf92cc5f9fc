// Computes how a limit is decided when several nodes share it, and how much can be admitted. Pure functions of the
// limit's numbers and the number of nodes, which is at least 1. Used by lint, explain and the engine.
#pragma once

#include <chrono>
#include <cstdint>

#include "policy/ruleset.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::policy {

// The default of `store.redis.nodes` in weir.yaml: the number of nodes that share a store.
inline constexpr std::uint64_t default_nodes = 64;
inline constexpr std::uint64_t max_nodes = 4'096;

// A burst or a limit below this is too small to be divided into slices.
inline constexpr std::uint64_t min_divided = 8;

// The reason why a limit is decided exactly.
enum class WhyExact : std::uint8_t {
  not_exact,     // it is not decided exactly
  written,       // `consistency: exact`
  shadow,        // it is in shadow mode
  queue,         // each request has its own turn
  log,           // each request counts from its own instant
  calendar,      // its windows follow the calendar
  small,         // below min_divided
  no_allowance,  // approximate: the allowance of each node would be 0
  brief,         // approximate: the window, or the time to fill, is shorter than ten times min_sync
};

struct EffectiveConsistency {
  Consistency kind = Consistency::exact;
  WhyExact why_exact = WhyExact::written;

  friend bool operator==(const EffectiveConsistency&, const EffectiveConsistency&) = default;
};

// `numbers` is the live numbers of one tier; tiers may differ. Candidates, warnings and penalties are always decided
// exactly.
[[nodiscard]] EffectiveConsistency effective_consistency(const CompiledLimit& limit, const Limit& numbers,
                                                         std::uint64_t nodes) noexcept;

// The minimum time between the exchanges of an approximate limit, written or effective.
inline constexpr Duration min_sync = std::chrono::milliseconds(20);

// The time between the exchanges of an approximate limit: as written, but at most a tenth of the window or of the time
// to fill, so that nodes do not deny what the limit would admit.
[[nodiscard]] Duration effective_sync(const CompiledLimit& limit, const Limit& numbers) noexcept;

// The maximum number of units that one node holds at a time of a leased limit.
[[nodiscard]] std::uint64_t largest_slice(const Limit& numbers) noexcept;

// The worst case of an approximate limit on n nodes. Each node that joins or restarts adds `allowance`.
struct ApproximateBound {
  std::uint64_t allowance = 0;  // b: the units that one node may spend without asking, per window or time to fill
  std::uint64_t unasked = 0;    // n x b: the units that all nodes together may spend without asking
  // The maximum depends on the algorithm. For fixed_window it is the units admitted in a window; for
  // sliding_window_counter, the estimate at each admission; for a bucket, the units admitted at once. In any period T,
  // a bucket admits at most this x (1 + T / per).
  std::uint64_t max_admitted = 0;
  Duration per{};  // the window, or the time to fill
};

// The algorithm must be neither a queue nor a log.
[[nodiscard]] ApproximateBound approximate_bound(const Limit& numbers, std::uint64_t nodes) noexcept;

// The conditions for a steady error of at most 1 %.
struct SteadyError {
  std::uint64_t min_limit = 0;  // the minimum limit or burst
  bool is_large_enough = false;
};

[[nodiscard]] SteadyError steady_error(const Limit& numbers, std::uint64_t nodes) noexcept;

}  // namespace weir::policy
