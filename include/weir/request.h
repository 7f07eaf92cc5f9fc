// SPDX-License-Identifier: Apache-2.0
// One consumer's request to a keyed limiter: a key and a cost.
#pragma once

#include <string_view>

#include "weir/cost.h"

namespace weir {

struct Request {
  std::string_view key;
  Cost cost{1};
};

}  // namespace weir
