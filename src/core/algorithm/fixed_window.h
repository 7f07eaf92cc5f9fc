// Fixed window: a count in each window, aligned to the epoch so that nodes agree.
//
// Simple and small, but at the seam of two windows 2 x limit can pass within one window's length.
// When the clock steps back into an earlier window, the newest window goes on counting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

struct FixedWindow {
  using Limit = WindowLimit;

  struct State {
    std::int64_t end = never;  // of the window that is counted; `never` with no count
    std::uint64_t count = 0;
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const State current = at(limit, state, now);
    Decision decision{.limit = limit.limit, .charged_at = instant_at(std::max(now, current.end - limit.window))};
    std::uint64_t count = current.count;
    if (cost.units() > limit.limit) [[unlikely]] {
      decision.retry_after = std::nullopt;
    } else if (count + cost.units() <= limit.limit) {
      decision.admitted = true;
      count += cost.units();
      if (cost.units() > 0) state = {current.end, count};
    } else {
      decision.retry_after = Duration{current.end - now};
    }
    decision.remaining = limit.limit - std::min(count, limit.limit);
    if (count > 0) decision.reset_after = Duration{current.end - now};
    return decision;
  }

  static Decision peek(const Limit& limit, const State& state, Cost cost, Instant now) noexcept {
    State copy = state;
    return decide(limit, copy, cost, now);
  }

  static void refund(const Limit& limit, State& state, Cost cost, Instant charged_at, Instant /*now*/) noexcept {
    const bool still_counts = window_start(micros(charged_at), limit.window) + limit.window == state.end;
    if (still_counts) state.count -= std::min(state.count, cost.units());
  }

  // Charges without asking, into a debt of at most one limit.
  static void owe(const Limit& limit, State& state, Cost cost, Instant now) noexcept {
    state = at(limit, state, micros(now));
    const std::uint64_t most = std::max(state.count, 2 * limit.limit);
    state.count = std::min(state.count + std::min(cost.units(), 2 * limit.limit), most);
  }

  // Counts stay. A window that has not begun yet cannot have been counted: it is the present one.
  static void carry_over(const Limit& limit, State& state, Instant now) noexcept {
    state.end = std::min(state.end, window_start(micros(now), limit.window) + limit.window);
  }

  static Instant forget_at(const Limit& /*limit*/, const State& state) noexcept {
    return instant_at(state.count == 0 ? never : state.end);
  }

 private:
  static State at(const Limit& limit, const State& state, std::int64_t now) noexcept {
    const std::int64_t end = window_start(now, limit.window) + limit.window;
    return state.end >= end ? state : State{end, 0};
  }
};

}  // namespace weir::core
