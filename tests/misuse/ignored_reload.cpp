// After a failed reload the old policy is still active, so the caller must handle the error.
// expect: ignoring returned
// value of type 'weir::Result<void>'
#include "weir/engine.h"

void tells_nobody(weir::Engine& engine, const weir::Policy& policy) {
  engine.reload(policy);
}
