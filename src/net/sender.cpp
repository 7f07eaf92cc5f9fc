#include "net/sender.h"

#include <sys/socket.h>

#include <cerrno>

namespace weir::net {
namespace {

constexpr std::size_t kept_size = std::size_t{64} << 10;  // of a buffer, for what is sent next

void drop_first(std::size_t count, std::string& bytes) {
  if (count < bytes.size()) {
    bytes.erase(0, count);
  } else if (bytes.capacity() > kept_size) {
    std::string().swap(bytes);  // an assignment would keep the memory
  } else {
    bytes.clear();
  }
}

}  // namespace

Sender::Progress Sender::send(int socket, TlsStream* tls, std::string& plain) {
  Progress progress{State::done, false};
  std::string& bytes = tls == nullptr ? plain : sealed_;
  for (;;) {
    if (tls != nullptr && bytes.empty()) {
      if (!tls->write(plain)) progress.state = State::tls_failed;
      drop_first(plain.size(), plain);
      tls->take_wire(bytes);
    }
    if (bytes.empty()) return progress;
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      progress.moved = true;
      drop_first(static_cast<std::size_t>(count), bytes);
    } else if (errno != EINTR) {
      if (progress.state == State::done) progress.state = errno == EAGAIN ? State::held : State::failed;
      return progress;
    }
  }
}

}  // namespace weir::net
