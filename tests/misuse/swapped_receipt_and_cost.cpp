// The receipt comes first, then the actual cost.
// expect: (no matching function|could not convert|cannot convert|invalid initialization).*weir::(Receipt|Cost)
#include "weir/keyed_limiter.h"

void settle(weir::KeyedLimiter& limiter, const weir::Receipt& receipt) {
  limiter.settle(weir::Cost{7}, receipt);
}
