// Where a listener listens, or a peer is: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `unix:/run/weir.sock`.
// No names but localhost (which is 127.0.0.1): nothing here asks a resolver. `[::]` is IPv4 as well.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::net {

class Address {
 public:
  [[nodiscard]] static Result<Address> parse(std::string_view text);
  // As the system gives it. An IPv4 address that was mapped into IPv6 is IPv4 again.
  [[nodiscard]] static Address from_system(const sockaddr_storage& storage, socklen_t size) noexcept;

  [[nodiscard]] std::string text() const;  // parse gives the same address back
  [[nodiscard]] std::string host() const;  // the IP alone; of a unix socket, its path
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] bool unix_socket() const noexcept { return storage_.ss_family == AF_UNIX; }
  // Only this machine can reach it.
  [[nodiscard]] bool local() const noexcept;

  [[nodiscard]] Address with_port(std::uint16_t port) const noexcept;

  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] const sockaddr* system() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t system_size() const noexcept { return size_; }

 private:
  Address() = default;

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace weir::net
