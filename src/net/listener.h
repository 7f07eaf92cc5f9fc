// Accepts connections on one address, on all loops, and gives each a session.
//
// A TCP port has a socket per loop (SO_REUSEPORT); a unix socket has one, and what it accepts goes round the loops.
// Destroy it before its Loops, or after Loops::stop.
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

// How long a client can hold a connection open. Kept to within a tick of the loop. Duration::max() is no timeout.
struct Timeouts {
  Duration handshake = std::chrono::seconds(5);     // of TLS, all of it
  Duration first_bytes = std::chrono::seconds(10);  // from the beginning of the session
  Duration incomplete = std::chrono::seconds(10);   // bytes are there, and the session has consumed none for so long
  Duration idle = std::chrono::seconds(75);         // no byte came or went; not while an answer is held
  Duration unread = std::chrono::seconds(75);       // bytes wait to be sent, and the peer has taken none for so long
  Duration linger = std::chrono::seconds(1);        // after our last byte, for the peer to close
};

struct ConnectionOptions {
  Timeouts timeouts;
  // Unconsumed input, at most. A session that consumes nothing of so much is closed: it should have refused before.
  std::size_t input_bound = std::size_t{1} << 20;
  // Nothing is read while as much is unsent. One call of the session may add to it.
  std::size_t output_bound = Output::default_bound;
};

struct ListenOptions {
  int backlog = 4096;                    // Linux caps it at net.core.somaxconn, 4096 by default
  mode_t unix_mode = 0600;               // of a unix socket's file
  std::size_t max_connections = 10'000;  // what comes beyond is accepted and closed at once
  std::shared_ptr<TlsContext> tls;       // null: plain
  ConnectionOptions connection;
};

// Since the beginning, but for `open`.
struct ListenerCounts {
  std::uint64_t accepted = 0;            // with those that were refused
  std::uint64_t refused = 0;             // beyond max_connections
  std::uint64_t accept_failures = 0;     // no file descriptor or memory; tried again a tick later
  std::uint64_t handshake_failures = 0;  // of TLS
  std::uint64_t timed_out = 0;
  std::uint64_t overlong = 0;  // the input bound was reached
  std::uint64_t faults = 0;    // sessions that threw
  std::uint64_t open = 0;      // now
};

class Listener {
 public:
  // Accepts as soon as the loops run.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> open(Loops& loops, const Address& address,
                                                              ListenOptions options, MakeSession make_session);
  // Closes all connections at once.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] const Address& bound() const noexcept { return bound_; }
  [[nodiscard]] ListenerCounts counts() const noexcept;  // from any thread

  // Stops accepting, and closes connections as they become idle. Returns at once; several listeners drain together.
  void start_drain();
  // Returns when all are closed; those left at the deadline are closed then. Says how many.
  std::size_t await_drained(SteadyTime deadline);
  std::size_t drain(Duration within);

 private:
  Listener(Loops& loops, const Address& bound, ListenOptions options, MakeSession make_session);

  void stop_accepting();
  void on_each_loop(void (Acceptor::*work)());

  Loops& loops_;
  Address bound_;
  std::shared_ptr<ListenerState> state_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;  // one for each loop
  std::unique_ptr<SocketFile> file_;                  // of a unix socket
};

}  // namespace weir::net
