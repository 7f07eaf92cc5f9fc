// The part of a listener that lives on one loop: accepts, and keeps the connections. Internal to the room. All on the
// loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/address.h"
#include "net/descriptor.h"
#include "net/loop.h"
#include "net/reception.h"
#include "net/watched.h"

namespace weir::net {

class Connection;

// Accepted, and not yet a connection.
struct Arrival {
  Descriptor socket;
  Address from;
  Seat seat;
};

class Gate final : public std::enable_shared_from_this<Gate>, private Watcher {
 public:
  Gate(Loop& loop, std::shared_ptr<Reception> reception);

  // What is accepted goes to `targets` in turn. False if the loop cannot watch it.
  [[nodiscard]] bool accept_on(Descriptor listening, std::vector<std::shared_ptr<Gate>> targets);
  // Those who are waiting are let in first.
  void stop_accepting();
  void drain();
  void close_all();
  void tick(Moment now);

  void admit(Arrival arrival);
  void forget(Connection& connection);  // it has closed

  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  [[nodiscard]] Reception& reception() noexcept { return *reception_; }

 private:
  void on_ready(Readiness ready) override;
  enum class Accepted : std::uint8_t { all, some, no_more };  // no_more: it is no use to go on now
  [[nodiscard]] Accepted accept_waiting();
  void receive(Arrival arrival);

  Loop& loop_;
  std::shared_ptr<Reception> reception_;
  Watched acceptor_;
  std::vector<std::shared_ptr<Gate>> targets_;
  std::size_t next_target_ = 0;
  bool resting_ = false;  // accepting failed: until the next tick
  bool draining_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;  // each knows its place
};

}  // namespace weir::net
