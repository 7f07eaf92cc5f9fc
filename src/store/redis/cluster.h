// A Redis cluster: the slot of a key, which master serves which slot, and where a node is. Plain values; not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "weir/result.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

inline constexpr std::uint16_t cluster_slots = 16'384;

[[nodiscard]] std::uint16_t cluster_slot(std::string_view key) noexcept;

// Which master serves which slot, as CLUSTER SLOTS says it. A plain value; not thread-safe.

class ClusterMap {
 public:
  ClusterMap() : master_of_slot_(cluster_slots, nobody) {}

  // `asked`: the server that said it; where it leaves a host out, it means its own.
  [[nodiscard]] static Result<ClusterMap> read(const wire::resp::Reply& reply, const net::Endpoint& asked);

  // Null if no server has it, or if its address is unknown. `slot` < cluster_slots.
  [[nodiscard]] const net::Endpoint* master_of(std::uint16_t slot) const noexcept;

  // Each once, in the order of their first slots.
  [[nodiscard]] std::span<const net::Endpoint> masters() const noexcept { return masters_; }
  [[nodiscard]] bool complete() const noexcept;

 private:
  static constexpr std::uint16_t nobody = 0xffff;

  [[nodiscard]] std::uint16_t number_of(net::Endpoint master);

  std::vector<std::uint16_t> master_of_slot_;  // an index into masters_
  std::vector<net::Endpoint> masters_;
};

// Where a node is, as another one says it. Pure; callable from anywhere.

// An empty host is the one that was asked. Nothing if the port is none, if nobody knows the host (`?`), or if it was
// asked through a unix socket, which leads to one node only.
[[nodiscard]] inline std::optional<net::Endpoint> node_address(std::string_view host, std::int64_t port,
                                                               const net::Endpoint& asked) {
  if (port < 1 || port > 65'535 || host == "?") return {};
  if (host.empty() && asked.unix_socket()) return {};
  return net::Endpoint{host.empty() ? asked.host : std::string(host), static_cast<std::uint16_t>(port), {}};
}

}  // namespace weir::store::redis
