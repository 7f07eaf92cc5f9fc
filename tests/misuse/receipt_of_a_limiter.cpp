// A limiter's receipt is not valid for an engine.
// expect: cannot convert 'const weir::Receipt' to 'const
// weir::Engine::Receipt&'
#include "weir/engine.h"

void settle(weir::Engine& engine, const weir::Receipt& receipt) {
  engine.settle(receipt, weir::Cost{1});
}
