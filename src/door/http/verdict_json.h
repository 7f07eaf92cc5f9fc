// A verdict as JSON, for POST /v1/check:
//
//   {"admitted":false,"reason":"exceeded","limit":"api-by-user","quota":20,"remaining":0,"retry_after":0.6,
//    "reset_after":12,"delay":0,"route":"/api/**","tier":"free"}
//
// Seconds, exact to the microsecond. `limit` is null where none has a part in it; `retry_after` is null where waiting
// does not help.
#pragma once

#include <string>

#include "door/desk.h"
#include "engine/verdict.h"

namespace weir::door {

void append_verdict(std::string& out, const Ruling& ruling, const engine::Verdict& verdict);

}  // namespace weir::door
