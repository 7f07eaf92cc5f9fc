// A copy would have separate counters.
// expect: use of deleted function 'weir::Engine::Engine\(const weir::Engine&\)'
#include "weir/engine.h"

weir::Engine twice_the_limits(const weir::Engine& engine) {
  return engine;
}
