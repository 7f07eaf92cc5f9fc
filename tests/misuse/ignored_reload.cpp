// A reload that failed left the old policy in force: somebody has to be told.
// expect: ignoring returned value of type 'weir::Result<void>'
#include "weir/engine.h"

void tells_nobody(weir::Engine& engine, const weir::Policy& policy) {
  engine.reload(policy);
}
