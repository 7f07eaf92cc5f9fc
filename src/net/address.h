// An Address is a socket address in the form that the system uses. An Endpoint's host may be a name.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::net {

// The address of a listener or a peer: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `unix:/run/weir.sock`. The
// only accepted host name is localhost (127.0.0.1): parsing never resolves names. `[::]` also accepts IPv4.
class Address {
 public:
  [[nodiscard]] static Result<Address> parse(std::string_view text);
  // Converts an IPv4-mapped IPv6 address to IPv4.
  [[nodiscard]] static Address from_system(const sockaddr_storage& storage, socklen_t size) noexcept;

  [[nodiscard]] std::string text() const;  // parse() accepts it
  [[nodiscard]] std::string host() const;  // the IP address, or the path of a unix socket
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] bool unix_socket() const noexcept { return storage_.ss_family == AF_UNIX; }
  // True if only this machine can reach it.
  [[nodiscard]] bool local() const noexcept;

  // The address that `socket` is bound to, with the port that the system chose if it was 0.
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

// The target of a client connection. A host name is resolved for each connection, so its addresses may change.
struct Endpoint {
  std::string host;  // IPv6 without brackets; empty for a unix socket
  std::uint16_t port = 0;
  std::string path;  // set for a unix socket

  [[nodiscard]] bool unix_socket() const noexcept { return host.empty(); }
  // `redis.example:6379`, `[::1]:6379`, `unix:/run/redis.sock`.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

}  // namespace weir::net
