// What every contender grants each key: seven per three hours, with a burst that the workload chooses.
//
// So slow a refill keeps every state live for the whole run: a key that was charged once is not "as if
// never seen" for another 25 minutes, and nobody is quick by having nothing to remember. It also makes
// the number of admitted decisions a property of the workload, the same for every contender: a check
// that all did the same work.
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
