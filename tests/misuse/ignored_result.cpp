// expect: ignoring return.* value.* 'weir::Result<void>'.*nodiscard
#include "weir/keyed_limiter.h"

void save_and_hope(const weir::KeyedLimiter& limiter) {
  limiter.save("states");
}
