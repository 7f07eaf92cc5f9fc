// The cost of one decision, with the state in cache and the time already read.
//
// admitted: time advances so that every request is admitted; the numbers do not divide evenly, so remainders are
// carried. denied: the limit is exceeded and time does not advance.
#pragma once

namespace bench::algorithms {

// Registers ALGORITHM/decide/hot_key/admitted and /denied for every algorithm.
void add_decide();

}  // namespace bench::algorithms
