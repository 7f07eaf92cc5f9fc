// One call of the script with the groups that it decides, and the calls of one server that are still to be sent: groups
// for one slot are collected into one call while another is in flight. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/object_pool.h"
#include "store/redis/script_batch.h"
#include "store/store.h"
#include "store/store_counts.h"

namespace weir::store::redis {

using SteadyTime = std::chrono::steady_clock::time_point;
using Slot = std::uint16_t;

struct ScriptCall {
  ScriptBatch batch;
  std::vector<SteadyTime> deadlines;      // of the groups, in their order
  SteadyTime oldest = SteadyTime::max();  // of them: when the whole is given up, once it is sent
  SteadyTime sent_at{};
  Slot slot = 0;          // of all its keys; 0 where there are no slots
  bool asking = false;    // the server is to take a slot that is not its own yet
  bool given_up = false;  // its groups were told so; the answer will come late

  [[nodiscard]] bool add(Group& group, SteadyTime deadline) {
    if (!batch.add(group)) return false;
    deadlines.push_back(deadline);
    oldest = std::min(oldest, deadline);
    return true;
  }

  void clear(Slot its_slot) {
    batch.clear();
    deadlines.clear();
    oldest = SteadyTime::max();
    slot = its_slot;
    asking = given_up = false;
  }

  // Not once it is sent. Appends to `expired` the groups whose time is over, and goes without them.
  void drop_expired(SteadyTime now, std::vector<Group*>& expired) {
    if (oldest > now) return;
    const std::vector<Group*> groups(batch.members().begin(), batch.members().end());
    const std::vector<SteadyTime> until = deadlines;
    const bool was_asking = asking;
    clear(slot);
    asking = was_asking;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (until[i] <= now || !add(*groups[i], until[i])) expired.push_back(groups[i]);
    }
  }
};

// Tells who asked.
inline void fail(Group& group, Failure failure, StoreCounts& counts) {
  group.failure = failure;
  group.decided = group.admitted = false;
  counts.of(failure).raise();
  group.callback->answered(group);
}

// Asks that wait to be sent, as calls: in a cluster one for each slot, since a server takes only keys of one slot
// together; otherwise as few as hold them. Asks of one key leave in their order.

class PendingCalls {
 public:
  void add(Group& group, SteadyTime deadline, Slot slot);
  // In a call of its own. `asking`: for a server that is to take the slot, but does not have it yet.
  void add_alone(Group& group, SteadyTime deadline, Slot slot, bool asking);

  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  [[nodiscard]] std::size_t groups() const noexcept { return asks_; }
  [[nodiscard]] SteadyTime oldest() const noexcept;  // deadline; SteadyTime::max() if it is empty

  // Appends to `expired` the groups whose time is over, and forgets them.
  void drop_expired(SteadyTime now, std::vector<Group*>& expired);

  // All of them, in the order in which they began. `calls` is empty, and then holds them.
  void take(std::vector<std::unique_ptr<ScriptCall>>& calls) noexcept;

  // One that is done with, to be used again.
  void put_down(std::unique_ptr<ScriptCall> call) noexcept;

 private:
  ScriptCall& open(Slot slot);
  std::uint16_t& place_of(Slot slot);

  std::vector<std::unique_ptr<ScriptCall>> calls_;
  std::vector<std::uint16_t> places_;  // by slot: 1 + the call that is open to its groups; grows with the slots seen
  base::IdleObjects<ScriptCall, 256> spare_;
  std::size_t asks_ = 0;
};

}  // namespace weir::store::redis
