// A copy would have a separate budget.
// expect: use of deleted function 'weir::Limiter::Limiter\(const weir::Limiter&\)'
#include "weir/limiter.h"

weir::Limiter twice_the_limit(const weir::Limiter& limiter) {
  return limiter;
}
