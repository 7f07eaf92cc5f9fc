// expect: cannot convert 'int' to 'weir::Cost'
#include "weir/limiter.h"

bool admit(weir::Limiter& limiter) {
  return limiter.check(3).admitted;
}
