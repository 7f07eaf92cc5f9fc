// expect: (cannot convert|could not convert).*duration
#include "weir/limit.h"

using namespace std::chrono_literals;

weir::Rate seven_per_three_seconds() {
  return weir::Rate{3s, 7};
}
