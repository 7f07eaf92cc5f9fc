// Asks that wait to be sent, as flights: in a cluster one for each slot, since a server takes only keys of one slot
// together; otherwise as few as hold them. Asks of one key leave in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "store/redis/flight.h"
#include "store/shared/shared_store.h"

namespace weir::store::redis {

class Gathering {
 public:
  void add(SharedAsk& ask, Moment deadline, Slot slot);
  // In a flight of its own. `asking`: for a server that is to take the slot, but does not have it yet.
  void add_alone(SharedAsk& ask, Moment deadline, Slot slot, bool asking);

  [[nodiscard]] bool empty() const noexcept { return flights_.empty(); }
  [[nodiscard]] std::size_t asks() const noexcept { return asks_; }
  [[nodiscard]] Moment oldest() const noexcept;  // deadline; Moment::max() if it is empty

  // Appends to `expired` the asks whose time is over, and forgets them.
  void drop_expired(Moment now, std::vector<SharedAsk*>& expired);

  // All of them, in the order in which they began. `flights` is empty, and then holds them.
  void take(std::vector<std::unique_ptr<Flight>>& flights) noexcept;

  // One that is done with, to be used again.
  void put_down(std::unique_ptr<Flight> flight) noexcept;

 private:
  Flight& open(Slot slot);
  std::uint16_t& place_of(Slot slot);

  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<std::uint16_t> places_;  // by slot: 1 + the flight that is open to its asks; grows with the slots seen
  std::vector<std::unique_ptr<Flight>> spare_;
  std::size_t asks_ = 0;
};

}  // namespace weir::store::redis
