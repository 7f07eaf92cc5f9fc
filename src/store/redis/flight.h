// Asks that go to a server as one evaluation, and until when they wait for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/redis/script_batch.h"
#include "store/shared/shared_store.h"
#include "store/shared/store_counts.h"

namespace weir::store::redis {

using Moment = std::chrono::steady_clock::time_point;
using Slot = std::uint16_t;

struct Flight {
  ScriptBatch batch;
  std::vector<Moment> deadlines;  // of the asks, in their order
  Moment oldest = Moment::max();  // of them: when the whole is given up, once it is sent
  Moment sent_at{};
  Slot slot = 0;          // of all its keys; 0 where there are no slots
  bool asking = false;    // the server is to take a slot that is not its own yet
  bool given_up = false;  // its asks were told so; the answer will come late

  [[nodiscard]] bool add(SharedAsk& ask, Moment deadline) {
    if (!batch.add(ask)) return false;
    deadlines.push_back(deadline);
    oldest = std::min(oldest, deadline);
    return true;
  }

  void clear(Slot its_slot) {
    batch.clear();
    deadlines.clear();
    oldest = Moment::max();
    slot = its_slot;
    asking = given_up = false;
  }

  // Not once it is sent. Appends to `expired` the asks whose time is over, and goes without them.
  void drop_expired(Moment now, std::vector<SharedAsk*>& expired) {
    if (oldest > now) return;
    const std::vector<SharedAsk*> asks(batch.members().begin(), batch.members().end());
    const std::vector<Moment> until = deadlines;
    const bool was_asking = asking;
    clear(slot);
    asking = was_asking;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      if (until[i] <= now || !add(*asks[i], until[i])) expired.push_back(asks[i]);
    }
  }
};

// Tells who asked.
inline void fail(SharedAsk& ask, StoreFailure failure, StoreCounts& counts) {
  ask.failure = failure;
  ask.admitted = false;
  ask.answers.clear();
  counts.of(failure).raise();
  ask.asker->answered(ask);
}

}  // namespace weir::store::redis
