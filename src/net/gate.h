// The part of a listener that lives on one loop: accepts, and keeps the connections. Internal to the room. All on the
// loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "net/address.h"
#include "net/descriptor.h"
#include "net/loop.h"
#include "net/reception.h"

namespace weir::net {

class Connection;

// Accepted, and not yet a connection.
struct Arrival {
  Descriptor socket;
  Address from;
  Seat seat;
};

class Gate : public std::enable_shared_from_this<Gate> {
 public:
  Gate(Loop& loop, std::shared_ptr<Reception> reception);

  // What is accepted goes to `targets` in turn.
  void accept_on(Descriptor listening, std::vector<std::shared_ptr<Gate>> targets);
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
  using Acceptor = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

  void wait();
  [[nodiscard]] bool accept_waiting();
  void receive(Arrival arrival);

  Loop& loop_;
  std::shared_ptr<Reception> reception_;
  Acceptor acceptor_;
  std::vector<std::shared_ptr<Gate>> targets_;
  std::size_t next_target_ = 0;
  bool resting_ = false;  // accepting failed: until the next tick
  bool draining_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;  // each knows its place
};

}  // namespace weir::net
