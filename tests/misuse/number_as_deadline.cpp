// "In five seconds" is not an instant until it is added to one.
// expect: (no matching function|could not convert|cannot convert).*(weir::Instant|time_point|duration)
#include "weir/limiter.h"

using namespace std::chrono_literals;

bool admit(weir::Limiter& limiter) {
  return limiter.acquire(weir::Cost{1}, 5s).admitted;
}
