// An owned file descriptor, and socket options.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace weir::net {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(-1); }

  [[nodiscard]] bool open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  void reset(int number) noexcept {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

  int number_ = -1;
};

inline bool set_option(const Descriptor& socket, int level, int name, int value = 1) noexcept {
  return ::setsockopt(socket.number(), level, name, &value, sizeof value) == 0;
}

// TCP keep-alive detects a vanished peer after idle + interval * probes.
struct KeepAlive {
  int idle;      // seconds
  int interval;  // seconds
  int probes;
};

// Disables Nagle's algorithm and enables keep-alive.
inline void prepare_tcp(const Descriptor& socket, const KeepAlive& keep_alive) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, keep_alive.idle);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, keep_alive.interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, keep_alive.probes);
}

}  // namespace weir::net
