// What one consumer takes of a limit that many share: a key, and what it costs.
#pragma once

#include <string_view>

#include "weir/cost.h"

namespace weir {

struct Request {
  std::string_view key;
  Cost cost{1};
};

}  // namespace weir
