#include "net/buffers.h"

#include <sys/socket.h>

#include <cerrno>

#include "net/tls_stream.h"

namespace weir::net {
namespace {

constexpr std::size_t max_reused_capacity = std::size_t{64} << 10;

void clear(std::string& bytes) noexcept {
  if (bytes.capacity() > max_reused_capacity) std::string().swap(bytes);  // assignment would not free the memory
  bytes.clear();
}

}  // namespace

Sender::Progress Sender::send(int socket, TlsStream* tls, std::string& plain) {
  Progress progress{State::done, false};
  for (;;) {
    if (tls != nullptr && pending_.empty()) {
      if (!tls->write(plain)) progress.state = State::tls_failed;
      clear(plain);
      tls->take_wire(pending_);
    }
    const bool was_pending = !pending_.empty();
    std::string& bytes = was_pending ? pending_ : plain;
    if (bytes.empty()) return progress;
    const ssize_t count = ::send(socket, bytes.data() + sent_, bytes.size() - sent_, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (progress.state == State::done) progress.state = errno == EAGAIN ? State::blocked : State::failed;
      return progress;
    }
    progress.moved = true;
    sent_ += static_cast<std::size_t>(count);
    if (sent_ == bytes.size()) {
      clear(bytes);
      sent_ = 0;
    } else if (!was_pending) {
      pending_.swap(plain);
    }
  }
}

}  // namespace weir::net
