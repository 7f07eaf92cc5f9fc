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

  // What was begun, then `plain`. What is begun of it leaves it. `tls` is null in the clear.
  [[nodiscard]] Progress send(int socket, TlsStream* tls, std::string& plain);

  // Of what was begun.
  [[nodiscard]] std::size_t unsent() const noexcept { return begun_.size() - sent_; }

 private:
  std::string begun_;  // as on the wire: a part of it is sent, or it is sealed by TLS
  std::size_t sent_ = 0;
};

}  // namespace weir::net
