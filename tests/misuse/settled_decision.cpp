// A decision cannot be settled, because repeated settlements could not be detected. reserve() returns a receipt.
// expect: (no matching function|could not convert|cannot convert|invalid initialization).*weir::(Receipt|Decision)
#include "weir/limiter.h"

void settle(weir::Limiter& limiter, const weir::Decision& charge) {
  limiter.settle(charge, weir::Cost{7});
}
