// Correct versions of the misuses in the other files.
// expect: compiles
#include "weir/engine.h"

unsigned evaluate(weir::Engine& engine, const weir::Policy& policy) {
  if (const auto reloaded = engine.reload(policy); !reloaded) return 500;
  const weir::Verdict verdict = engine.evaluate({.method = "POST", .path = "/", .ip = "203.0.113.7"});
  for (const auto& [name, value] : verdict.fields()) {
    if (name.empty() || value.empty()) return 500;
  }
  const auto held = engine.hold({.path = "/", .user = "alice"});
  if (held) engine.release(held.receipt);
  return verdict.status();
}
