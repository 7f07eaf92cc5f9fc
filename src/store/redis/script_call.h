// One call of the script with the groups that it decides, and the pending calls to one server: while one call is in
// flight, groups for the same slot are collected into the next call. Not thread-safe.
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
  std::vector<SteadyTime> deadlines;      // the deadlines of its groups, in order
  SteadyTime oldest = SteadyTime::max();  // the earliest deadline, at which a sent call is abandoned
  SteadyTime sent_at{};
  Slot slot = 0;          // the slot of all its keys; 0 without a cluster
  bool asking = false;    // prefix with ASKING, because the slot is being migrated to the server
  bool given_up = false;  // the groups have failed; a reply comes too late

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

  // Removes expired groups and appends them to `expired`. Must not be called after the call is sent.
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

// Fails a group and notifies its submitter.
inline void fail(Group& group, Failure failure, StoreCounts& counts) {
  group.failure = failure;
  group.decided = group.admitted = false;
  counts.of(failure).raise();
  group.callback->answered(group);
}

// Pending groups as calls: in a cluster one per slot, since a server accepts only keys of one slot together; otherwise
// as few as possible. Groups of one key are sent in order.
class PendingCalls {
 public:
  void add(Group& group, SteadyTime deadline, Slot slot);
  // Adds a group in its own call. `asking` is set for a server to which the slot is being migrated.
  void add_alone(Group& group, SteadyTime deadline, Slot slot, bool asking);

  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  [[nodiscard]] std::size_t groups() const noexcept { return groups_; }
  [[nodiscard]] SteadyTime oldest() const noexcept;  // the earliest deadline; SteadyTime::max() if empty

  // Removes expired groups and appends them to `expired`.
  void drop_expired(SteadyTime now, std::vector<Group*>& expired);

  // Moves all calls, oldest first, to `calls`, which must be empty.
  void take(std::vector<std::unique_ptr<ScriptCall>>& calls) noexcept;

  // Takes back a finished call for reuse.
  void recycle(std::unique_ptr<ScriptCall> call) noexcept;

 private:
  ScriptCall& open(Slot slot);
  std::uint16_t& open_call_of(Slot slot);

  std::vector<std::unique_ptr<ScriptCall>> calls_;
  std::vector<std::uint16_t>
      open_calls_;  // by slot: 1 + index of the call that accepts its groups; grows with the slots seen
  base::IdleObjects<ScriptCall, 256> spare_;
  std::size_t groups_ = 0;
};

}  // namespace weir::store::redis
