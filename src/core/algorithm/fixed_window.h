// Fixed window: one count per window. Windows either have one length and are aligned to the epoch, so that nodes agree
// on them, or follow a calendar.
//
// Simple and small, but up to 2 x limit can pass within one window's length around a boundary. When the clock steps
// back into an earlier window, the newest window continues to count.
//
// A state identifies its window by the window's end. With a calendar, a state may have been written under other edges
// (another time zone or other zone data). Until it expires, its count is carried into the window whose end is nearest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/calendar.h"
#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

struct FixedWindow {
  struct Limit : WindowLimit {
    const Calendar* calendar = nullptr;  // null: windows of one length

    Limit() = default;
    explicit Limit(const weir::Limit& checked) noexcept : WindowLimit(checked), calendar(checked.calendar()) {}
  };

  struct State {
    std::int64_t end = never;  // end of the counted window; `never` if nothing is counted
    std::uint64_t count = 0;
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const auto [current, start] = at(limit, state, now);
    Decision decision{.limit = limit.limit, .charged_at = instant_at(std::max(now, start))};
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

  static void refund(const Limit& limit, State& state, Cost cost, const Charged& charged, Instant /*now*/) noexcept {
    const bool still_counts = limit.calendar == nullptr
                                  ? end_at(limit, micros(charged.at)) == state.end
                                  : limit.calendar->around(micros(charged.at)).is_ended_by(state.end);
    if (still_counts) state.count -= std::min(state.count, cost.units());
  }

  // Charges even if the limit is exceeded; the debt is at most one limit. Returns the units that did not fit.
  static std::uint64_t owe(const Limit& limit, State& state, Cost cost, Instant now) noexcept {
    state = at(limit, state, micros(now)).state;
    const std::uint64_t more = std::min(cost.units(), 2 * limit.limit - std::min(state.count, 2 * limit.limit));
    state.count += more;
    return cost.units() - more;
  }

  // Keeps the count. A window that has not begun is replaced by the current one.
  static void carry_over(const Limit& limit, State& state, Instant now) noexcept {
    state.end = std::min(state.end, end_at(limit, micros(now)));
  }

  static Instant forget_at(const Limit& /*limit*/, const State& state) noexcept {
    return instant_at(state.count == 0 ? never : state.end);
  }

 private:
  // A state at an instant, and the start of the window whose usage it counts.
  struct Counted {
    State state;
    std::int64_t start;
  };

  static std::int64_t end_at(const Limit& limit, std::int64_t now) noexcept {
    if (limit.calendar != nullptr) [[unlikely]]
      return limit.calendar->around(now).end;
    return window_start(now, limit.window) + limit.window;
  }

  static Counted at(const Limit& limit, const State& state, std::int64_t now) noexcept {
    if (limit.calendar != nullptr) [[unlikely]]
      return at(limit.calendar->around(now), state, now);
    const std::int64_t end = window_start(now, limit.window) + limit.window;
    const State current = state.end >= end ? state : State{end, 0};
    return {current, current.end - limit.window};
  }

  static Counted at(const WindowEdges& edges, const State& state, std::int64_t now) noexcept {
    if (state.end >= edges.end) return {state, edges.is_ended_by(state.end) ? edges.start : edges.end};
    const bool is_taken_over = state.end > now && edges.is_ended_by(state.end);
    return {{edges.end, is_taken_over ? state.count : 0}, edges.start};
  }
};

}  // namespace weir::core
