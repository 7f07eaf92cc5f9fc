// A name for what a ruleset means.
#pragma once

#include <string>

#include "policy/ruleset.h"

namespace weir::policy {

// SHA-256 in hex of the meaning: not of the text, its order where order means nothing, its spelling or its places.
[[nodiscard]] std::string digest(const Ruleset& ruleset);

}  // namespace weir::policy
