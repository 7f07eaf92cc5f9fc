// expect: no matching function for call to 'weir::KeyedLimiter::check\(const char \[4\], int\)'
#include "weir/keyed_limiter.h"

bool admit(weir::KeyedLimiter& limiter) {
  return limiter.check("key", 3).admitted;
}
