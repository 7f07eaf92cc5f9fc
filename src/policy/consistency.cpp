#include "policy/consistency.h"

#include <algorithm>

#include "core/rule.h"

namespace weir::policy {
namespace {

// All nodes together may spend at most a quarter of a limit without asking.
constexpr std::uint64_t shares = 4;

// A limit needs this many units per node for a steady error of at most 1 %.
constexpr std::uint64_t units_per_node = 250;
constexpr std::int64_t syncs_per_window = 10;  // per window or time to fill, at least

std::uint64_t allowance_of(const Limit& numbers, std::uint64_t nodes) noexcept {
  return numbers.capacity() / (shares * nodes);
}

WhyExact why_exact(const CompiledLimit& limit, const Limit& numbers, std::uint64_t nodes) noexcept {
  if (limit.consistency.kind == Consistency::exact) return WhyExact::written;
  if (numbers.algorithm() == Algorithm::leaky_bucket_queue) return WhyExact::queue;
  if (numbers.algorithm() == Algorithm::sliding_window_log) return WhyExact::log;
  if (numbers.calendar() != nullptr) return WhyExact::calendar;
  if (limit.mode == Mode::shadow) return WhyExact::shadow;
  if (numbers.capacity() < min_divided) return WhyExact::small;
  const bool is_approximate = limit.consistency.kind == Consistency::approximate;
  if (is_approximate && core::time_to_fill(numbers) < syncs_per_window * min_sync) return WhyExact::brief;
  if (is_approximate && allowance_of(numbers, nodes) == 0) return WhyExact::no_allowance;
  return WhyExact::not_exact;
}

}  // namespace

EffectiveConsistency effective_consistency(const CompiledLimit& limit, const Limit& numbers,
                                           std::uint64_t nodes) noexcept {
  const WhyExact why = why_exact(limit, numbers, nodes);
  return {why == WhyExact::not_exact ? limit.consistency.kind : Consistency::exact, why};
}

Duration effective_sync(const CompiledLimit& limit, const Limit& numbers) noexcept {
  return std::clamp(core::time_to_fill(numbers) / syncs_per_window, min_sync, limit.consistency.sync);
}

std::uint64_t largest_slice(const Limit& numbers) noexcept {
  return numbers.capacity() / 2;
}

ApproximateBound approximate_bound(const Limit& numbers, std::uint64_t nodes) noexcept {
  ApproximateBound bound;
  const std::uint64_t limit = numbers.capacity();
  bound.allowance = allowance_of(numbers, nodes);
  bound.unasked = nodes * bound.allowance;
  // The sliding estimate includes the excess of the previous window, so only the coarser bound, a quarter of the limit,
  // is guaranteed.
  const bool is_estimate = numbers.algorithm() == Algorithm::sliding_window_counter;
  bound.max_admitted = limit + (is_estimate ? limit / shares : bound.unasked);
  bound.per = core::time_to_fill(numbers);
  return bound;
}

SteadyError steady_error(const Limit& numbers, std::uint64_t nodes) noexcept {
  SteadyError error;
  error.min_limit = units_per_node * nodes;
  error.is_large_enough = numbers.capacity() >= error.min_limit;
  return error;
}

}  // namespace weir::policy
