// Reserve, then settle: corrects a charge to what it turned out to be. Never denied.
#pragma once

#include "weir/cost.h"
#include "weir/time.h"

namespace weir::core {

// What a request reserved, what it turned out to cost, and when it was charged.
struct Settlement {
  Cost reserved;
  Cost actual;
  Instant charged_at;
};

// Less than reserved is refunded to the charge; more is charged now, into a debt of at most one capacity.
template <class Algorithm>
void settle(const typename Algorithm::Limit& limit, typename Algorithm::State& state, const Settlement& settlement,
            Instant now) noexcept {
  const auto reserved = settlement.reserved.units();
  const auto actual = settlement.actual.units();
  if (actual < reserved) {
    const Cost unused{reserved - actual};
    if constexpr (requires { Algorithm::refund_part(limit, state, unused, unused, now, now); }) {
      Algorithm::refund_part(limit, state, unused, settlement.reserved, settlement.charged_at, now);
    } else {
      Algorithm::refund(limit, state, unused, settlement.charged_at, now);
    }
  }
  if (actual > reserved) Algorithm::owe(limit, state, Cost{actual - reserved}, now);
}

}  // namespace weir::core
