// What the program takes from its environment.
#pragma once

#include "server/config.h"

namespace weir::app {

[[nodiscard]] server::Environment environment();

}  // namespace weir::app
