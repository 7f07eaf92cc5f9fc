// expect: (no matching function|could not convert|cannot convert).*(duration|weir::Cost)
#include "weir/limiter.h"

using namespace std::chrono_literals;

bool admit(weir::Limiter& limiter) {
  return limiter.check(3s).admitted;
}
