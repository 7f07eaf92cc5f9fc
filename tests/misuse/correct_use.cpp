// Correct versions of every misuse in this folder. If this did not compile, the others would fail for another reason.
// expect: compiles
#include "weir/weir.h"

using namespace std::chrono_literals;

bool admit() {
  const auto limit = weir::Limit::gcra({.rate = {.count = 7, .per = 3s}, .burst = 10});
  if (!limit) return false;
  const auto clock = std::make_shared<weir::ManualClock>();
  auto limiter = weir::Limiter::create(*limit, clock);
  auto keyed = weir::KeyedLimiter::create(*limit, clock, {.memory_budget = 1 << 20});
  if (!limiter || !keyed) return false;
  const weir::Decision decision = limiter->check(weir::Cost{3});
  const weir::Reservation reservation = limiter->reserve(weir::Cost{10});
  limiter->settle(reservation.receipt, weir::Cost{7});
  return keyed->acquire("key", weir::Cost{2}, clock->now() + 5s).admitted && !decision.admitted;
}
