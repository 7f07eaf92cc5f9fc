// expect: (no matching function|could not convert|cannot convert).*(weir::Cost|weir::Instant|time_point)
#include "weir/limiter.h"

bool admit(weir::Limiter& limiter, weir::Instant deadline) {
  return limiter.acquire(deadline, weir::Cost{1}).admitted;
}
