// expect: (no matching function|could not convert|cannot convert)
#include "weir/limit.h"

using namespace std::chrono_literals;

auto hundred_a_minute() {
  return weir::Limit::fixed_window({60s, 100});
}
