// The bounds of a connection: what a stranger can make it hold, and for how long.
#pragma once

#include <chrono>
#include <cstddef>

#include "net/output.h"
#include "weir/time.h"

namespace weir::net {

// Kept to within a tick of the loop. Duration::max() is no time-out.
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

}  // namespace weir::net
