// The limit of each key for every contender: seven per three hours, with the workload's burst.
//
// The slow refill keeps every state live for the whole run: a charged key is not equivalent to a new one
// for another 25 minutes, so no contender is fast by having nothing to remember. It also makes
// the number of admitted decisions a property of the workload, the same for every contender, which
// verifies that all did the same work.
#pragma once

#include <chrono>
#include <cstdint>

#include "weir/limit.h"

namespace bench::table {

struct Quota {
  static constexpr weir::Rate rate{7, std::chrono::hours{3}};
  std::uint64_t burst = 0;
};

}  // namespace bench::table
