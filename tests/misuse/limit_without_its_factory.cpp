// expect: 'weir::Limit::Limit\(.*\)' is private
#include "weir/limit.h"

using namespace std::chrono_literals;

weir::Limit unchecked() {
  return weir::Limit{weir::Algorithm::gcra, {.count = 0, .per = 0s}, 0};
}
