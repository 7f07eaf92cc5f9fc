// Concurrency: at most `limit` units are held at any instant.
//
// A hold is an open receipt (core/receipts.h): it ends when it is settled, released or expires. The receipts are stored
// next to the state, which only records when the last one expires. Decisions are therefore made by Receipts::hold. A
// request without a receipt could never be released, so it is always denied, with nothing remaining.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

struct Concurrency {
  // The window is the lease: the default lifetime of a hold.
  struct Limit : WindowLimit {
    using WindowLimit::WindowLimit;
  };

  struct State {
    std::int64_t ends = never;  // when the last hold expires
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now) noexcept {
    return peek(limit, state, cost, now);
  }

  static Decision peek(const Limit& limit, const State& /*state*/, Cost cost, Instant now) noexcept {
    Decision decision{.admitted = cost == Cost{0}, .limit = limit.limit, .charged_at = now};
    if (!decision.admitted) decision.retry_after = std::nullopt;
    return decision;
  }

  // Does nothing: a hold is released through its receipt, and nothing is charged without one.
  static void refund(const Limit& /*limit*/, State& /*state*/, Cost /*cost*/, const Charged& /*charged*/,
                     Instant /*now*/) noexcept {}
  static std::uint64_t owe(const Limit& /*limit*/, State& /*state*/, Cost /*cost*/, Instant /*now*/) noexcept {
    return 0;
  }
  static void carry_over(const Limit& /*limit*/, State& /*state*/, Instant /*now*/) noexcept {}
  static Instant forget_at(const Limit& /*limit*/, const State& state) noexcept { return instant_at(state.ends); }
};

}  // namespace weir::core
