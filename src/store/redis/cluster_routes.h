// Which lane leads to the master of a slot. A plain value; not thread-safe.
#pragma once

#include <algorithm>
#include <vector>

#include "store/redis/cluster_slot.h"
#include "store/redis/flight.h"
#include "store/redis/lane.h"

namespace weir::store::redis {

class ClusterRoutes {
 public:
  ClusterRoutes() : lanes_(cluster_slots, nullptr) {}

  // Null: nobody has it.
  [[nodiscard]] Lane* lane_of(Slot slot) const noexcept { return lanes_[slot]; }
  void set(Slot slot, Lane* lane) noexcept { lanes_[slot] = lane; }
  [[nodiscard]] bool lead_to(const Lane& lane) const noexcept {
    return std::ranges::find(lanes_, &lane) != lanes_.end();
  }

 private:
  std::vector<Lane*> lanes_;  // by slot
};

}  // namespace weir::store::redis
