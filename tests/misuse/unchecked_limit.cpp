// A Result is not a limit: the caller must test it first.
// expect: (cannot convert|no matching function|invalid initialization of reference)
#include "weir/limiter.h"

using namespace std::chrono_literals;

auto skip_the_check(std::shared_ptr<const weir::Clock> clock) {
  return weir::Limiter::create(weir::Limit::fixed_window({.limit = 100, .window = 60s}), clock);
}
