// A Result may be an error: the caller must test it before using the policy.
// expect: no matching function for call to
// 'weir::Engine::create 'weir::Engine::create
#include "weir/engine.h"

auto without_looking() {
  return weir::Engine::create(weir::Policy::parse("version: 1"));
}
