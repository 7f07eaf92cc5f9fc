// expect: ignoring return.* value.* 'weir::Decision'.*nodiscard
#include "weir/limiter.h"

void pass_unseen(weir::Limiter& limiter) {
  limiter.check();
}
