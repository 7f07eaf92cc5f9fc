// expect: ignoring return value of 'bool weir::KeyedLimiter::admit.*nodiscard
#include "weir/keyed_limiter.h"

void pass_unseen(weir::KeyedLimiter& limiter) {
  limiter.admit("key");
}
