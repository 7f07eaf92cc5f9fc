// Where a node is, as another one says it. Pure; callable from anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/endpoint.h"

namespace weir::store::redis {

// An empty host is the one that was asked. Nothing if the port is none, if nobody knows the host (`?`), or if it was
// asked through a unix socket, which leads to one node only.
[[nodiscard]] inline std::optional<net::Endpoint> node_address(std::string_view host, std::int64_t port,
                                                               const net::Endpoint& asked) {
  if (port < 1 || port > 65'535 || host == "?") return {};
  if (host.empty() && asked.unix_socket()) return {};
  return net::Endpoint{host.empty() ? asked.host : std::string(host), static_cast<std::uint16_t>(port), {}};
}

}  // namespace weir::store::redis
