// Concurrency: at most `limit` units are held at any instant.
//
// A hold is an open receipt (core/receipts.h): it ends when it is settled or released, or when its time is over. The
// receipts lie beside the state, which says no more than until when there are any. So it takes Receipts::hold to
// decide; a question that brings no receipt could never be released, and is denied for good. Nothing is left for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

struct Concurrency {
  // The window is the lease: how long a hold lasts, unless its receipt says otherwise.
  struct Limit : WindowLimit {
    using WindowLimit::WindowLimit;
  };

  struct State {
    std::int64_t ends = never;  // of the last hold
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now) noexcept {
    return peek(limit, state, cost, now);
  }

  static Decision peek(const Limit& limit, const State& /*state*/, Cost cost, Instant now) noexcept {
    Decision decision{.admitted = cost == Cost{0}, .limit = limit.limit, .charged_at = now};
    if (!decision.admitted) decision.retry_after = std::nullopt;
    return decision;
  }

  // A hold is given back by its receipt, and never charged without one.
  static void refund(const Limit& /*limit*/, State& /*state*/, Cost /*cost*/, const Charged& /*charged*/,
                     Instant /*now*/) noexcept {}
  static std::uint64_t owe(const Limit& /*limit*/, State& /*state*/, Cost /*cost*/, Instant /*now*/) noexcept {
    return 0;
  }
  static void carry_over(const Limit& /*limit*/, State& /*state*/, Instant /*now*/) noexcept {}
  static Instant forget_at(const Limit& /*limit*/, const State& state) noexcept { return instant_at(state.ends); }
};

}  // namespace weir::core
