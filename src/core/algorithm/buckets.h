// The algorithms on an arrival time (arrival.h): token bucket, GCRA, and both forms of the leaky bucket.
#pragma once

#include <algorithm>

#include "core/arrival.h"

namespace weir::core {

// Token bucket: `burst` tokens when idle, refilled at the rate; each request takes its cost.
//
// The level is stored as the time at which the bucket will be full again: tokens = burst - (TAT - now) / token. That is
// GCRA under another name, and exact where a token counter would round at each refill.
struct TokenBucket : ArrivalOperations {
  struct Limit : ArrivalLimit {
    using ArrivalLimit::ArrivalLimit;
  };
  using State = ArrivalState;
};

// Generic cell rate algorithm: new = max(TAT, now) + cost x token; admitted iff new - now <= burst x token.
struct Gcra : ArrivalOperations {
  struct Limit : ArrivalLimit {
    using ArrivalLimit::ArrivalLimit;
  };
  using State = ArrivalState;
};

// Leaky bucket as a meter: the level drains at the rate; admitted iff level + cost <= burst. The level is
// (TAT - now) / token.
struct LeakyBucketMeter : ArrivalOperations {
  struct Limit : ArrivalLimit {
    using ArrivalLimit::ArrivalLimit;
  };
  using State = ArrivalState;
};

// Leaky bucket as a queue: burst is the queue's length + 1. An admitted request waits for its turn: delay = max(TAT,
// now) - now. Of the requests that arrive at one instant, the first passes, the next `queue` wait, and the rest are
// denied.
struct LeakyBucketQueue : ArrivalOperations {
  struct Limit : ArrivalLimit {
    using ArrivalLimit::ArrivalLimit;
  };
  using State = ArrivalState;

  // `charged_at` of the decision is the request's turn. A turn later than `max_wait` is a denial.
  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now,
                         Duration max_wait = Duration::max()) noexcept {
    max_wait = std::max(max_wait, Duration::zero());
    const Duration turn = state.used(limit, micros(now)).rounded_up();
    return turn <= max_wait ? take_turn(limit, state, cost, now, max_wait)
                            : cannot_wait(limit, state, cost, now, turn - max_wait);
  }

  static Decision peek(const Limit& limit, const State& state, Cost cost, Instant now,
                       Duration max_wait = Duration::max()) noexcept {
    State copy = state;
    return decide(limit, copy, cost, now, max_wait);
  }

  // Only the newest turn can be given back: another request already waits behind any earlier one.
  static FineSpan refund(const Limit& limit, State& state, Cost cost, const Charged& charged, Instant now) noexcept {
    return refund_part(limit, state, cost, cost, charged, now);
  }

  // Gives back `part` of a turn that was charged `whole`.
  static FineSpan refund_part(const Limit& limit, State& state, Cost part, Cost whole, const Charged& charged,
                              Instant now) noexcept {
    if (whole.units() > limit.burst) return {};
    const FineSpan turn = limit.worth(whole.units());
    FineSpan begin{state.whole - turn.whole, state.nths - turn.nths};
    if (begin.nths < 0) begin = {begin.whole - 1, begin.nths + limit.count};
    if (instant_at(0) + begin.rounded_up() != charged.at) return {};
    const FineSpan used = state.used(limit, micros(now));
    return credit(limit, state, limit.worth(part.units()), used, micros(now));
  }

 private:
  static Decision take_turn(const Limit& limit, State& state, Cost cost, Instant now, Duration max_wait) noexcept {
    const Duration turn = state.used(limit, micros(now)).rounded_up();
    Decision decision = ArrivalOperations::decide(limit, state, cost, now);
    if (decision.admitted && cost.units() > 0) {
      decision.delay = turn;
      decision.charged_at += turn;
    }
    if (decision.reset_after > max_wait) decision.remaining = 0;
    return decision;
  }

  // Denies a caller that cannot wait for the next turn; nothing remains for it. `sooner` is how much earlier the turn
  // would have to come.
  static Decision cannot_wait(const Limit& limit, const State& state, Cost cost, Instant now,
                              Duration sooner) noexcept {
    Decision decision = ArrivalOperations::peek(limit, state, cost, now);
    decision.reset_after = state.used(limit, micros(now)).rounded_up();
    decision.remaining = 0;
    if (cost.units() == 0) return decision;
    decision.admitted = false;
    if (decision.retry_after) decision.retry_after = std::max(*decision.retry_after, sooner);
    return decision;
  }
};

}  // namespace weir::core
