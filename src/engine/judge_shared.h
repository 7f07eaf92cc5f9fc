// What a judge of shared limits has beside the rest. Internal to the room.
#pragma once

#include "engine/judge.h"
#include "engine/shared_judgement.h"

namespace weir::engine {

struct Judge::Shared {
  store::SharedStore* store;
  SharedRoom room;
};

}  // namespace weir::engine
