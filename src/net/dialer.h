// Connects to an endpoint: looks its host up, and tries the addresses in turn. Internal to the room. All on the loop's
// thread.
//
// Each address gets an equal part of the time that is left: one that does not answer leaves enough for the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/endpoint.h"
#include "net/loop.h"
#include "net/session.h"
#include "weir/result.h"

namespace weir::net {

using StreamSocket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, boost::asio::io_context::executor_type>;
using LoopTimer = boost::asio::basic_waitable_timer<Moment::clock, boost::asio::wait_traits<Moment::clock>,
                                                    boost::asio::io_context::executor_type>;

class Dialer : public std::enable_shared_from_this<Dialer> {
 public:
  using Done = std::function<void(Result<StreamSocket>)>;

  Dialer(Loop& loop, Endpoint endpoint, Moment deadline);

  void start(Done done);  // which is called once, later; not after cancel()
  void cancel();

 private:
  using Remote = boost::asio::generic::stream_protocol::endpoint;

  void find_addresses();
  void look_up();
  void try_next();
  [[nodiscard]] bool open_socket(const Remote& remote);
  void give_until(Moment end, std::string late);
  void take_failure(std::string what);
  void finish(Result<StreamSocket> result);
  [[nodiscard]] bool stale(std::uint64_t step) const noexcept { return !done_ || step != step_; }

  Loop& loop_;
  const Endpoint endpoint_;
  const Moment deadline_;
  boost::asio::ip::basic_resolver<boost::asio::ip::tcp, boost::asio::io_context::executor_type> resolver_;
  LoopTimer timer_;
  StreamSocket socket_;
  Done done_;  // empty: over
  std::vector<Remote> addresses_;
  std::size_t next_ = 0;
  std::uint64_t step_ = 0;  // what was begun in an earlier one does not count any more
  std::string problem_;     // of the last address
};

}  // namespace weir::net
