// A plain blocking client with a deadline on everything.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "net/address.h"
#include "net/descriptor.h"

namespace weir::net {

constexpr auto timeout = std::chrono::seconds(20);  // far longer than any test takes

// Waits until `condition` is true; returns false after `timeout`.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

class Client {
 public:
  explicit Client(const Address& address) : Client(address.family()) { connect(address); }
  explicit Client(int family) : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_TRUE(socket_.open()) << std::strerror(errno);
    const int on = 1;
    if (family != AF_UNIX) ::setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  void connect(const Address& address) {
    EXPECT_EQ(::connect(socket_.number(), address.system(), address.system_size()), 0) << std::strerror(errno);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(count, 0) << std::strerror(errno);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  // Sends as much as possible without blocking.
  std::size_t send_some(std::string_view bytes) {
    const ssize_t count = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  // Sends an urgent byte, at which a read stops.
  void send_urgent(char byte) { ASSERT_EQ(::send(socket_.number(), &byte, 1, MSG_OOB), 1) << std::strerror(errno); }

  // Sends bytes with a descriptor, at which a read stops. Unix sockets only.
  void send_with_descriptor(std::string_view bytes) {
    std::string copy(bytes);
    iovec data{copy.data(), copy.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int own = socket_.number();
    std::memcpy(CMSG_DATA(header), &own, sizeof own);
    ASSERT_EQ(::sendmsg(socket_.number(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()))
        << std::strerror(errno);
  }

  // One read; empty at the end or after a reset.
  std::string receive_some() {
    pollfd waiting{socket_.number(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(timeout).count()));
    EXPECT_EQ(ready, 1) << "nothing came";
    if (ready != 1) return {};
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    was_reset_ = count < 0;
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  std::string receive(std::size_t size) {
    std::string all;
    while (all.size() < size) {
      const std::string more = receive_some();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }

  std::string receive_to_end() {
    std::string all;
    while (true) {
      const std::string more = receive_some();
      if (more.empty()) return all;
      all += more;
    }
  }

  std::string ask(std::string_view bytes) {
    send(bytes);
    return receive(bytes.size());
  }

  void half_close() { ::shutdown(socket_.number(), SHUT_WR); }
  void close() { socket_ = Descriptor(); }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  [[nodiscard]] int number() const noexcept { return socket_.number(); }

 private:
  Descriptor socket_;
  bool was_reset_ = false;
};

}  // namespace weir::net
