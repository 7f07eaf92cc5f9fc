// A request that is judged and passes whatever the verdict is.
// expect: ignoring returned value of type 'weir::Verdict'
#include "weir/engine.h"

void limits_nothing(weir::Engine& engine) {
  engine.judge({.path = "/"});
}
