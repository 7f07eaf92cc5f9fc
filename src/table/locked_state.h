// The state in a locked cell, unpacked while the lock is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/operations.h"
#include "table/cells.h"
#include "table/packing.h"
#include "table/table.h"

namespace weir::table {

using core::decide_state;
using core::peek_state;

// Reads the state at construction and writes it back by keep() (and in the destructor if the state owns memory).
template <class A, class Payload>
class LockedState {
 public:
  LockedState(const typename A::Limit& limit, Cells<Payload>& cells, const Slot& slot, Instant now) noexcept
      : limit_(limit), cells_(cells), slot_(slot) {
    Payload& payload = Cells<Payload>::payload(slot_);
    bytes_before_ = owned_bytes(payload);
    state_ = Packing<A, Payload>::unpack(limit_, payload, core::micros(now));
  }

  LockedState(const LockedState&) = delete;
  LockedState& operator=(const LockedState&) = delete;

  ~LockedState() {
    if constexpr (owns_memory) {
      keep_owned();
    }
  }

  [[nodiscard]] typename A::State& state() noexcept { return state_; }

  void keep() noexcept {
    if constexpr (!owns_memory) Cells<Payload>::payload(slot_) = Packing<A, Payload>::pack(limit_, state_);
  }

 private:
  static constexpr bool owns_memory = std::is_same_v<Payload, LogPayload>;

  [[nodiscard]] std::size_t owned_bytes(const Payload& payload) const noexcept {
    if constexpr (owns_memory) {
      return payload.ring == nullptr ? cells_.extra_bytes() : core::LogRing::bytes_for(payload.ring->capacity());
    } else {
      return 0;
    }
  }

  void keep_owned() noexcept {
    Payload& payload = Cells<Payload>::payload(slot_);
    payload = Packing<A, Payload>::pack(limit_, state_);
    cells_.account(bytes_before_, owned_bytes(payload));
  }

  const typename A::Limit& limit_;
  Cells<Payload>& cells_;
  const Slot& slot_;
  typename A::State state_{};
  std::size_t bytes_before_ = 0;
};

}  // namespace weir::table
