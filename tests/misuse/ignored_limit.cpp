// expect: ignoring return.* value.* 'weir::Result<weir::Limit>'.*nodiscard
#include "weir/limit.h"

using namespace std::chrono_literals;

void build_for_nothing() {
  weir::Limit::fixed_window({.limit = 100, .window = 60s});
}
