// The request would pass whatever the verdict.
// expect: ignoring returned value of type 'weir::Verdict'
#include "weir/engine.h"

void limits_nothing(weir::Engine& engine) {
  engine.evaluate({.path = "/"});
}
