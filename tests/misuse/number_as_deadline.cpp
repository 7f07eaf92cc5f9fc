// Five of which unit?
// expect: no matching function.*weir::Cost, int
#include "weir/limiter.h"

bool admit(weir::Limiter& limiter) {
  return limiter.acquire(weir::Cost{1}, 5).admitted;
}
