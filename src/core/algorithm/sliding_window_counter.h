// Sliding window counter: one count for the current window and one for the previous window, which is weighted by how
// much of it the sliding window still overlaps.
//
// At e microseconds into a window of length W, a request is admitted iff ceil(prev x (W - e) / W) + curr + cost <=
// limit. The state has a constant size; on real traffic the result differs from the exact log by a few percent. A time
// before the current window counts as the start of that window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/arithmetic.h"
#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

struct SlidingWindowCounter {
  using Limit = WindowLimit;

  struct State {
    std::int64_t start = never;  // start of the current window
    std::uint64_t previous = 0;
    std::uint64_t current = 0;
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    State rolled = at(limit, state, now);
    Decision decision{.limit = limit.limit, .charged_at = instant_at(std::max(now, rolled.start))};
    const std::uint64_t used = weighted_previous(limit, rolled, now) + rolled.current;
    if (cost.units() > limit.limit) [[unlikely]] {
      decision.retry_after = std::nullopt;
    } else if (used + cost.units() <= limit.limit) {
      decision.admitted = true;
      decision.remaining = limit.limit - used - cost.units();
      rolled.current += cost.units();
      decision.reset_after = reset_after(limit, rolled, now);
      if (cost.units() > 0) state = rolled;
      return decision;
    } else {
      decision.retry_after = Duration{fits_at(limit, rolled, cost.units()) - now};
    }
    decision.remaining = limit.limit - std::min(used, limit.limit);
    decision.reset_after = reset_after(limit, rolled, now);
    return decision;
  }

  static Decision peek(const Limit& limit, const State& state, Cost cost, Instant now) noexcept {
    State copy = state;
    return decide(limit, copy, cost, now);
  }

  // The units that count now.
  static std::uint64_t used(const Limit& limit, const State& state, std::int64_t now) noexcept {
    const State rolled = at(limit, state, now);
    return weighted_previous(limit, rolled, now) + rolled.current;
  }

  static void refund(const Limit& limit, State& state, Cost cost, const Charged& charged, Instant /*now*/) noexcept {
    const std::int64_t start = window_start(micros(charged.at), limit.window);
    if (start == state.start) state.current -= std::min(state.current, cost.units());
    if (start == state.start - limit.window) state.previous -= std::min(state.previous, cost.units());
  }

  // Charges even if the limit is exceeded; the debt is at most one limit. Returns the units that did not fit.
  static std::uint64_t owe(const Limit& limit, State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    state = at(limit, state, now);
    const std::uint64_t room = 2 * limit.limit - std::min(used(limit, state, now), 2 * limit.limit);
    const std::uint64_t more = std::min(cost.units(), room);
    state.current += more;
    return cost.units() - more;
  }

  // Keeps the counts. A window that has not begun is replaced by the current one.
  static void carry_over(const Limit& limit, State& state, Instant now) noexcept {
    state.start = std::min(state.start, window_start(micros(now), limit.window));
  }

  static Instant forget_at(const Limit& limit, const State& state) noexcept {
    if (state.current > 0) return instant_at(state.start + 2 * limit.window);
    if (state.previous > 0) return instant_at(state.start + limit.window);
    return instant_at(never);
  }

 private:
  static State at(const Limit& limit, const State& state, std::int64_t now) noexcept {
    const std::int64_t start = window_start(now, limit.window);
    if (start <= state.start) return state;
    if (start - limit.window == state.start) return {start, state.current, 0};
    return {start, 0, 0};
  }

  static std::uint64_t weighted_previous(const Limit& limit, const State& state, std::int64_t now) noexcept {
    if (state.previous == 0) return 0;
    const std::int64_t into = std::max<std::int64_t>(0, now - state.start);
    return multiply_divide_ceil(state.previous, static_cast<std::uint64_t>(limit.window - into),
                                static_cast<std::uint64_t>(limit.window));
  }

  // Returns how far into a window the weight of the previous one has dropped to `room`.
  static std::int64_t light_enough(const Limit& limit, std::uint64_t previous, std::uint64_t room) noexcept {
    if (previous <= room) return 0;
    const auto overlap = multiply_divide_floor(room, static_cast<std::uint64_t>(limit.window), previous);
    return limit.window - static_cast<std::int64_t>(overlap);
  }

  // The first instant at which `cost`, denied now, fits: in this window or the next one.
  static std::int64_t fits_at(const Limit& limit, const State& state, std::uint64_t cost) noexcept {
    if (state.current + cost <= limit.limit) {
      return state.start + light_enough(limit, state.previous, limit.limit - state.current - cost);
    }
    return state.start + limit.window + light_enough(limit, state.current, limit.limit - cost);
  }

  static Duration reset_after(const Limit& limit, const State& state, std::int64_t now) noexcept {
    if (state.current > 0) return Duration{state.start + 2 * limit.window - now};
    if (state.previous > 0) return Duration{state.start + limit.window - now};
    return Duration::zero();
  }
};

}  // namespace weir::core
