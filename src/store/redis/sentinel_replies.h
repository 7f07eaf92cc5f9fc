// What Sentinels, and the servers that they name, answer. Pure; callable from anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/endpoint.h"
#include "weir/result.h"
#include "wire/resp/reply.h"

namespace weir::store::redis {

// To `SENTINEL get-master-addr-by-name NAME`. `asked`: the Sentinel.
[[nodiscard]] Result<net::Endpoint> read_master_address(const wire::resp::Reply& reply, std::string_view name,
                                                        const net::Endpoint& asked);

enum class ServerRole : std::uint8_t { master, replica, sentinel };

// To `ROLE`. Nothing if it is no answer to it.
[[nodiscard]] std::optional<ServerRole> read_role(const wire::resp::Reply& reply) noexcept;

// What one who has subscribed to +switch-master hears.
struct MasterSwitch {
  std::string name;
  net::Endpoint from;
  net::Endpoint to;

  friend bool operator==(const MasterSwitch&, const MasterSwitch&) = default;
};

// Nothing if it is something else, for example the confirmation of the subscription.
[[nodiscard]] std::optional<MasterSwitch> read_master_switch(const wire::resp::Reply& reply);

}  // namespace weir::store::redis
