// expect: ignoring return.* value.* 'weir::Decision'.*nodiscard
#include "weir/keyed_limiter.h"

void pass_unseen(weir::KeyedLimiter& limiter) {
  limiter.check("key", weir::Cost{2});
}
