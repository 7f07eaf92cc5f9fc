// Waits until a limit admits. Shared by Limiter and KeyedLimiter.
#pragma once

#include <algorithm>
#include <stop_token>

#include "core/instant.h"
#include "weir/clock.h"
#include "weir/decision.h"

namespace weir::limiter {

// now + by, saturating.
inline Instant later(Instant now, Duration by) noexcept {
  return by > Duration::zero() && now > Instant::max() - by ? Instant::max() : now + std::max(by, Duration::zero());
}

// The decision of a caller that gives up: nothing was charged.
inline Decision denied(Decision decision) noexcept {
  decision.admitted = false;
  return decision;
}

// `Limited` provides peek(), decide(max_wait) and give_back(decision) for one caller's cost, and is_queue(). In a
// queue, trying again later does not bring the turn nearer.
template <class Limited>
Decision acquire(const Clock& clock, Limited limited, Instant deadline, const std::stop_token& stop) {
  for (;;) {
    const Instant now = clock.now();
    if (stop.stop_requested()) return denied(limited.peek());
    const Duration timeout{std::max<std::int64_t>(0, core::micros(deadline) - core::micros(now))};
    const Decision decision = limited.decide(timeout);
    if (decision.admitted) {
      if (decision.delay == Duration::zero()) return decision;
      clock.wait_until(decision.charged_at, stop);
      if (clock.now() >= decision.charged_at) return decision;
      limited.give_back(decision);
      return denied(limited.peek());
    }
    const bool turn_is_too_late = limited.is_queue() && decision.reset_after > timeout;
    if (turn_is_too_late || !decision.retry_after || *decision.retry_after > timeout) return decision;
    clock.wait_until(now + *decision.retry_after, stop);
  }
}

}  // namespace weir::limiter
