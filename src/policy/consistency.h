// What the consistency of a limit comes to: how it is really decided where several nodes share it, and how much can be
// admitted then. Pure functions of its numbers and the number of nodes, which is at least 1; lint, explain and the
// engine go by them.
#pragma once

#include <cstdint>

#include "policy/ruleset.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::policy {

// How many nodes share a store, as long as they are not counted: `store.redis.nodes` of weir.yaml.
inline constexpr std::uint64_t default_nodes = 64;
inline constexpr std::uint64_t max_nodes = 4'096;

// A burst or a limit below this is too little to be divided into slices.
inline constexpr std::uint64_t min_divided = 8;

// Why a limit is decided exactly.
enum class WhyExact : std::uint8_t {
  not_exact,     // it is not
  written,       // its policy says so
  shadow,        // it is only watched
  queue,         // each request has a turn of its own
  log,           // each request counts from its own instant
  calendar,      // its windows have the dates of a calendar
  small,         // below min_divided
  no_allowance,  // approximate: divided among the nodes, nothing is left that one may spend unasked
};

struct EffectiveConsistency {
  Consistency kind = Consistency::exact;
  WhyExact why_exact = WhyExact::written;

  friend bool operator==(const EffectiveConsistency&, const EffectiveConsistency&) = default;
};

// Of one of the limit's live numbers: tiers may differ. All that a limit counts beside them (candidates, warnings,
// penalties) is always decided exactly.
[[nodiscard]] EffectiveConsistency effective_consistency(const CompiledLimit& limit, const Limit& numbers,
                                                         std::uint64_t nodes) noexcept;

// The most units that one node holds at a time of a leased limit.
[[nodiscard]] std::uint64_t largest_slice(const Limit& numbers) noexcept;

// What n nodes can admit of an approximate limit, at worst. Each node that joins or restarts adds `allowance`.
struct ApproximateBound {
  std::uint64_t allowance = 0;  // b: what one node may spend unasked, once a window or a time to fill
  std::uint64_t unasked = 0;    // n x b
  // fixed_window: admitted in a window. sliding_window_counter: what its estimate comes to, at each admission.
  // Buckets: admitted at once; in any stretch T, this x (1 + T / per).
  std::uint64_t most = 0;
  Duration per{};  // the window, or the time to fill
};

// Of an algorithm that can be approximate: neither a queue nor a log.
[[nodiscard]] ApproximateBound approximate_bound(const Limit& numbers, std::uint64_t nodes) noexcept;

// What has to hold for a steady error of at most 1 %.
struct SteadyError {
  std::uint64_t min_limit = 0;  // or burst
  bool is_large_enough = false;
  Duration per{};  // the window, or the time to fill
  Duration min_per{};
  bool is_long_enough = false;
};

[[nodiscard]] SteadyError steady_error(const Limit& numbers, Duration sync, std::uint64_t nodes) noexcept;

}  // namespace weir::policy
