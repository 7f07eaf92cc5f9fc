// What one decision costs with the state at hand and the time already read.
//
// admitted: every request finds room, and time moves on so that it stays that way; the numbers do not
// divide evenly, so remainders are carried. denied: the limit is used up and time stands still.
#pragma once

namespace bench::algorithms {

// Registers ALGORITHM/decide/hot_key/admitted and /denied for every algorithm.
void add_decide();

}  // namespace bench::algorithms
