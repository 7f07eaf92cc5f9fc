// Redis Cluster: key slots, the master of each slot, and node addresses. Plain values; not thread-safe.
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

// Maps slots to masters, as returned by CLUSTER SLOTS.
class ClusterMap {
 public:
  ClusterMap() : master_of_slot_(cluster_slots, no_master) {}

  // `replier` is the server that replied. Its host is used where the reply omits the host.
  [[nodiscard]] static Result<ClusterMap> read(const wire::resp::Reply& reply, const net::Endpoint& replier);

  // Returns null if no server has the slot, or if its address is unknown. Requires `slot` < cluster_slots.
  [[nodiscard]] const net::Endpoint* master_of(std::uint16_t slot) const noexcept;

  // Lists each master once, in the order of their first slots.
  [[nodiscard]] std::span<const net::Endpoint> masters() const noexcept { return masters_; }
  [[nodiscard]] bool complete() const noexcept;

 private:
  static constexpr std::uint16_t no_master = 0xffff;

  [[nodiscard]] std::uint16_t number_of(net::Endpoint master);

  std::vector<std::uint16_t> master_of_slot_;  // an index into masters_
  std::vector<net::Endpoint> masters_;
};

// Returns the address of a node as reported by `replier`, whose host replaces an empty host. Empty if the port is
// invalid, the host is unknown (`?`), or the host is empty and the replier was reached through a unix socket.
[[nodiscard]] inline std::optional<net::Endpoint> node_address(std::string_view host, std::int64_t port,
                                                               const net::Endpoint& replier) {
  if (port < 1 || port > 65'535 || host == "?") return {};
  if (host.empty() && replier.unix_socket()) return {};
  return net::Endpoint{host.empty() ? replier.host : std::string(host), static_cast<std::uint16_t>(port), {}};
}

}  // namespace weir::store::redis
