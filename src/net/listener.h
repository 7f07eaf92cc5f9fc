// Accepts connections on one address, on all loops, and gives each a session.
//
// A TCP port has a socket per loop (SO_REUSEPORT); a unix socket has one, and what it accepts goes round the loops.
// Destroy it before its Loops, or after Loops::stop.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "net/address.h"
#include "net/connection_options.h"
#include "net/listen_socket.h"
#include "net/loop.h"
#include "net/session.h"
#include "net/tls_context.h"
#include "weir/result.h"

namespace weir::net {

class Gate;
struct Reception;

struct ListenOptions {
  int backlog = 1024;
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
  std::size_t await_drained(Moment deadline);
  std::size_t drain(Duration within);

 private:
  Listener(Loops& loops, const Address& bound, ListenOptions options, MakeSession make_session);

  void stop_accepting();

  Loops& loops_;
  Address bound_;
  std::shared_ptr<Reception> reception_;
  std::vector<std::shared_ptr<Gate>> gates_;  // one for each loop
  std::optional<SocketFile> file_;
};

}  // namespace weir::net
