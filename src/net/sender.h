// Sends what waits for a socket, in the clear or by TLS: as much as the socket takes, without waiting. Internal to the
// room. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "net/tls_stream.h"

namespace weir::net {

class Sender {
 public:
  enum class State : std::uint8_t {
    done,        // all is sent
    held,        // the socket takes no more for now
    failed,      // see errno
    tls_failed,  // see TlsStream::problem
  };

  struct Progress {
    State state;
    bool moved;  // a byte went
  };

  // What is sent of `plain`, or sealed, leaves it. `tls` is null in the clear.
  [[nodiscard]] Progress send(int socket, TlsStream* tls, std::string& plain);

  // What is sealed and not sent.
  [[nodiscard]] std::size_t unsent() const noexcept { return sealed_.size(); }

 private:
  std::string sealed_;  // with TLS: as on the wire
};

}  // namespace weir::net
