// Generic cell rate algorithm: new = max(TAT, now) + cost x token; admitted iff new - now <= burst x token.
#pragma once

#include "core/arrival.h"

namespace weir::core {

struct Gcra : ArrivalOperations {
  struct Limit : ArrivalLimit {
    using ArrivalLimit::ArrivalLimit;
  };
  using State = ArrivalState;
};

}  // namespace weir::core
