// A request that is evaluated and passes whatever the verdict is.
// expect: ignoring returned value of type 'weir::Verdict'
#include "weir/engine.h"

void limits_nothing(weir::Engine& engine) {
  engine.evaluate({.path = "/"});
}
