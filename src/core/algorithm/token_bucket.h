// Token bucket: `burst` tokens at rest, refilled at the rate, each request takes its cost.
//
// The level is kept as the time at which the bucket will be full again: tokens = burst - (TAT - now) / token.
// That is GCRA under another name, and exact where a counter of tokens would round at each refill.
#pragma once

#include "core/arrival.h"

namespace weir::core {

struct TokenBucket : ArrivalOperations {
  struct Limit : ArrivalLimit {
    using ArrivalLimit::ArrivalLimit;
  };
  using State = ArrivalState;
};

}  // namespace weir::core
