// A decision is not a number and cannot be added.
// expect: (cannot convert|invalid operands|no match for 'operator\+')
#include "weir/limiter.h"

int admitted_of_two(weir::Limiter& limiter) {
  return limiter.check() + limiter.check();
}
