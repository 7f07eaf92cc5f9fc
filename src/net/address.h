// Where sockets are: an Address, as the system takes it, and an Endpoint, whose host may be a name.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::net {

// Where a listener listens, or a peer is: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `unix:/run/weir.sock`.
// It has no names but localhost (which is 127.0.0.1): nothing here asks a resolver. `[::]` is IPv4 as well.
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

  // The same as `socket` is bound to it: with the port that the system chose, if it was 0.
  [[nodiscard]] Address bound(int socket) const noexcept;

  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] const sockaddr* system() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t system_size() const noexcept { return size_; }

 private:
  Address() = default;
  [[nodiscard]] static Result<Address> parse_unix(std::string_view text);

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

// Where a client connects to. It may need a resolver, and may have different addresses later on.
struct Endpoint {
  std::string host;  // IPv6 without brackets; empty: a unix socket
  std::uint16_t port = 0;
  std::string path;  // of a unix socket

  [[nodiscard]] bool unix_socket() const noexcept { return host.empty(); }
  // `redis.example:6379`, `[::1]:6379`, `unix:/run/redis.sock`.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

}  // namespace weir::net
