// Accepts connections on one address, on all loops, and creates a session for each.
//
// A TCP port has one socket per loop (SO_REUSEPORT). A unix socket has one, whose connections are distributed over the
// loops in turn. Must be destroyed before its Loops, or after Loops::stop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/address.h"
#include "net/loop.h"
#include "net/session.h"
#include "net/tls_context.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::net {

class Acceptor;
class SocketFile;
struct ListenerState;

// Accurate to one tick of the loop. Duration::max() disables a timeout.
struct Timeouts {
  Duration handshake = std::chrono::seconds(5);     // for the whole TLS handshake
  Duration first_bytes = std::chrono::seconds(10);  // from the start of the session to its first input
  Duration incomplete = std::chrono::seconds(10);   // the time in which the session consumes none of the pending input
  Duration idle = std::chrono::seconds(75);         // the time without input or output; not for a paused session
  Duration unread = std::chrono::seconds(75);       // the time in which the peer reads none of the unsent output
  Duration linger = std::chrono::seconds(1);        // from the last byte sent until the peer closes
};

struct ConnectionOptions {
  Timeouts timeouts;
  // The maximum unconsumed input, in bytes. The connection is closed if that much is buffered and the session consumes
  // none of it.
  std::size_t input_bound = std::size_t{1} << 20;
  // Reading stops while at least this many bytes of output are unsent. One call of the session may exceed it.
  std::size_t output_bound = Output::default_bound;
};

struct ListenOptions {
  int backlog = 4096;                    // Linux caps it at net.core.somaxconn, 4096 by default
  mode_t unix_mode = 0600;               // the file mode of a unix socket
  std::size_t max_connections = 10'000;  // further connections are accepted and closed immediately
  std::shared_ptr<TlsContext> tls;       // null disables TLS
  ConnectionOptions connection;
};

// Totals since the listener was opened, except `open`.
struct ListenerCounts {
  std::uint64_t accepted = 0;            // includes refused
  std::uint64_t refused = 0;             // beyond max_connections
  std::uint64_t accept_failures = 0;     // out of file descriptors or memory; retried at the next tick
  std::uint64_t handshake_failures = 0;  // failed TLS handshakes
  std::uint64_t timed_out = 0;
  std::uint64_t overlong = 0;  // closed at input_bound
  std::uint64_t faults = 0;    // closed because the session threw
  std::uint64_t open = 0;      // currently open
};

class Listener {
 public:
  // Accepts connections as soon as the loops run.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> open(Loops& loops, const Address& address,
                                                              ListenOptions options, MakeSession make_session);
  // Closes all connections immediately.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] const Address& bound() const noexcept { return bound_; }
  [[nodiscard]] ListenerCounts counts() const noexcept;  // from any thread

  // Stops accepting, and closes connections as they become idle. Returns immediately; several listeners drain together.
  void start_drain();
  // Waits until all connections are closed. Closes the remaining ones at the deadline and returns their number.
  std::size_t await_drained(SteadyTime deadline);
  std::size_t drain(Duration within);

 private:
  Listener(Loops& loops, const Address& bound, ListenOptions options, MakeSession make_session);

  void stop_accepting();
  void on_each_loop(void (Acceptor::*work)());

  Loops& loops_;
  Address bound_;
  std::shared_ptr<ListenerState> state_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;  // one per loop
  std::unique_ptr<SocketFile> file_;                  // null for TCP
};

}  // namespace weir::net
