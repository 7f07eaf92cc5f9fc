// A text that may be wrong is no policy before somebody has looked.
// expect: no matching function for call to 'weir::Engine::create
// 'weir::Engine::create
#include "weir/engine.h"

auto without_looking() {
  return weir::Engine::create(weir::Policy::parse("version: 1"));
}
