// What CL.THROTTLE has answered. Written on one loop, read from any thread.
#pragma once

#include "engine/counters.h"

namespace weir::door {

struct ThrottleCounts {
  engine::Count allowed;
  engine::Count limited;
};

}  // namespace weir::door
