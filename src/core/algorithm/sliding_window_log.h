// Sliding window log: every admitted cost with its time. Exact: at no instant is there more than `limit` in
// the window (now - W, now]; an entry leaves exactly at t + W.
//
// Memory is bounded by the limit: one ring of at most `limit` entries, made at the first charge. Costs of one
// instant share an entry. Writes use max(now, newest), so the times never decrease. Decisions take O(log limit).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/instant.h"
#include "core/log_ring.h"
#include "core/window_limit.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

struct SlidingWindowLog {
  struct Limit : WindowLimit {
    using WindowLimit::WindowLimit;

    [[nodiscard]] std::uint32_t most_entries() const noexcept { return static_cast<std::uint32_t>(limit); }
  };

  struct State {
    LogRing::Handle ring;  // empty: never used

    [[nodiscard]] bool empty() const noexcept { return !ring || ring->size() == 0; }
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now) noexcept {
    Decision decision = peek(limit, state, cost, now);
    if (!decision.admitted || cost.units() == 0) return decision;
    if (make_room(limit, state, micros(now))) [[likely]] {
      charge(limit, state, static_cast<std::uint32_t>(cost.units()), micros(decision.charged_at));
    } else {
      // Without memory to remember the request, it cannot pass.
      decision = peek(limit, state, Cost{0}, now);
      decision.admitted = false;
      decision.retry_after = Duration{limit.window};
    }
    return decision;
  }

  static Decision peek(const Limit& limit, const State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const std::int64_t newest = state.empty() ? never : state.ring->newest();
    const std::int64_t charged_at = std::max(now, newest);
    Decision decision{.limit = limit.limit, .charged_at = instant_at(charged_at)};
    const std::uint32_t first = first_live(limit, state, now);
    const std::uint64_t used = state.empty() ? 0 : state.ring->cost_between(first, state.ring->size());
    decision.remaining = limit.limit - std::min(used, limit.limit);
    if (used > 0) decision.reset_after = Duration{newest + limit.window - now};
    if (cost.units() > limit.limit) [[unlikely]] {
      decision.retry_after = std::nullopt;
    } else if (used + cost.units() <= limit.limit) {
      decision.admitted = true;
      decision.remaining -= cost.units();
      if (cost.units() > 0) decision.reset_after = Duration{charged_at + limit.window - now};
    } else {
      const auto excess = static_cast<std::uint32_t>(used + cost.units() - limit.limit);
      const std::int64_t last_in_the_way = state.ring->time(state.ring->first_reaching(first, excess));
      decision.retry_after = Duration{last_in_the_way + limit.window - now};
    }
    return decision;
  }

  // Credits the entry that was charged, if it still counts.
  static void refund(const Limit& limit, State& state, Cost cost, Instant charged_at, Instant now) noexcept {
    if (state.empty()) return;
    LogRing& ring = *state.ring;
    const std::int64_t charged = micros(charged_at);
    const std::uint32_t i = ring.first_after(charged - 1);
    const bool still_counts = charged > micros(now) - limit.window && i < ring.size() && ring.time(i) == charged;
    if (!still_counts || cost.units() == 0) return;
    ring.take(i, static_cast<std::uint32_t>(std::min<std::uint64_t>(cost.units(), ring.cost(i))));
  }

  // Charges without asking, into a debt of at most one limit.
  static void owe(const Limit& limit, State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const std::uint32_t first = first_live(limit, state, now);
    const std::uint64_t used = state.empty() ? 0 : state.ring->cost_between(first, state.ring->size());
    const std::uint64_t more = std::min(cost.units(), 2 * limit.limit - std::min(used, 2 * limit.limit));
    if (more == 0 || !make_room(limit, state, now)) return;
    charge(limit, state, static_cast<std::uint32_t>(more), state.empty() ? now : std::max(now, state.ring->newest()));
  }

  // Entries stay; none of them can lie in the future.
  static void carry_over(const Limit& /*limit*/, State& state, Instant now) noexcept {
    if (state.ring) state.ring->move_all_back_to(micros(now));
  }

  static Instant forget_at(const Limit& limit, const State& state) noexcept {
    return instant_at(state.empty() ? never : state.ring->newest() + limit.window);
  }

 private:
  static std::uint32_t first_live(const Limit& limit, const State& state, std::int64_t now) noexcept {
    return state.empty() ? 0 : state.ring->first_after(now - limit.window);
  }

  // Drops what no longer counts and sees to it that the ring is there and as large as this limit may need.
  static bool make_room(const Limit& limit, State& state, std::int64_t now) noexcept {
    if (!state.empty()) state.ring->drop_first(first_live(limit, state, now));
    if (state.ring && (state.ring->size() < state.ring->capacity() || full(limit, *state.ring))) return true;
    const std::uint32_t entries = limit.most_entries();
    LogRing::Handle larger = state.ring ? state.ring->copy(entries) : LogRing::create(entries);
    if (!larger) return false;
    state.ring = std::move(larger);
    return true;
  }

  // More entries than the limit only come from settling upward: then the newest entry takes the charge and
  // moves to its time, so that memory stays bounded.
  static void charge(const Limit& limit, State& state, std::uint32_t cost, std::int64_t time) noexcept {
    LogRing& ring = *state.ring;
    if (ring.size() > 0 && (ring.newest() == time || full(limit, ring))) {
      ring.add_to_newest(cost);
      ring.move_newest_to(time);
    } else {
      ring.append(time, cost);
    }
  }

  static bool full(const Limit& limit, const LogRing& ring) noexcept {
    return ring.size() >= limit.most_entries() && ring.size() > 0;
  }
};

}  // namespace weir::core
