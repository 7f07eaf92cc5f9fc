// Where a client connects to: a host, by name or IP, and a port; or the path of a unix socket. Unlike an Address it may
// need a resolver, and different addresses later on.
#pragma once

#include <cstdint>
#include <string>

namespace weir::net {

struct Endpoint {
  std::string host;  // IPv6 without brackets; empty: a unix socket
  std::uint16_t port = 0;
  std::string path;  // of a unix socket

  [[nodiscard]] bool unix_socket() const noexcept { return host.empty(); }

  // `redis.example:6379`, `[::1]:6379`, `unix:/run/redis.sock`.
  [[nodiscard]] std::string text() const {
    if (unix_socket()) return "unix:" + path;
    const bool six = host.find(':') != std::string::npos;
    return (six ? '[' + host + ']' : host) + ':' + std::to_string(port);
  }

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

}  // namespace weir::net
