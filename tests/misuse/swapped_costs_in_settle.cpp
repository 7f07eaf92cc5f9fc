// The charge comes last, the costs first.
// expect: (no matching function|could not convert|cannot convert).*weir::(Cost|Decision)
#include "weir/limiter.h"

void settle(weir::Limiter& limiter, const weir::Decision& charge) {
  limiter.settle(charge, weir::Cost{10}, weir::Cost{7});
}
