// Parsers for replies of Redis servers and Sentinels: errors and redirections, INFO, ROLE and Sentinel replies. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/address.h"
#include "store/store_counts.h"
#include "weir/result.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

enum class ErrorKind : std::uint8_t {
  other,  // ERR, or an unknown code
  // The command was not executed here: it belongs elsewhere, or may be retried.
  moved,
  ask,
  try_again,
  cluster_down,
  no_script,
  read_only,  // a replica
  master_down,
  loading,
  busy,  // a script runs too long
  // The command was not executed, and retrying it does not help.
  cross_slot,
  out_of_memory,
  no_replicas,
  misconfigured,  // MISCONF: it cannot save, so it rejects writes
  no_auth,
  wrong_pass,
  no_permission,
  denied,  // protected mode
  // The same, but only for one key; the server is healthy.
  wrong_type,
  foreign,  // from our script: the value is not one of our states
  edges,    // from our script: the server time is outside the calendar windows that were sent
};

[[nodiscard]] ErrorKind error_kind(std::string_view error) noexcept;

struct Redirect {
  ErrorKind kind = ErrorKind::moved;  // moved or ask
  std::uint16_t slot = 0;
  net::Endpoint to;

  friend bool operator==(const Redirect&, const Redirect&) = default;
};

// `replier` is the server that replied. It omits its host if it does not know how others reach it. Returns nothing for
// any other error, or if the address is missing.
[[nodiscard]] std::optional<Redirect> parse_redirect(std::string_view error, const net::Endpoint& replier);

// Maps Redis errors to the kinds that the store counts.
[[nodiscard]] constexpr StoreError store_error(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::no_auth:
    case ErrorKind::wrong_pass:
    case ErrorKind::no_permission:
    case ErrorKind::denied:
      return StoreError::credentials;
    case ErrorKind::read_only:
      return StoreError::read_only;
    case ErrorKind::out_of_memory:
      return StoreError::out_of_memory;
    case ErrorKind::loading:
    case ErrorKind::master_down:
      return StoreError::loading;
    case ErrorKind::moved:
    case ErrorKind::ask:
    case ErrorKind::try_again:
    case ErrorKind::cluster_down:
      return StoreError::cluster_down;
    default:
      return StoreError::refused;
  }
}

// The fields of INFO that Weir uses.
struct ServerInfo {
  std::string version;
  std::string eviction_policy;
  std::uint64_t evicted_keys = 0;
  bool cluster = false;

  [[nodiscard]] bool evicts() const noexcept { return !eviction_policy.empty() && eviction_policy != "noeviction"; }

  friend bool operator==(const ServerInfo&, const ServerInfo&) = default;
};

// Missing fields have their defaults.
[[nodiscard]] ServerInfo parse_info(std::string_view text);

// Parses the reply to `SENTINEL get-master-addr-by-name NAME`. `replier` is the Sentinel.
[[nodiscard]] Result<net::Endpoint> read_master_address(const wire::resp::Reply& reply, std::string_view name,
                                                        const net::Endpoint& replier);

enum class ServerRole : std::uint8_t { master, replica, sentinel };

// Parses the reply to `ROLE`. Empty if it is invalid.
[[nodiscard]] std::optional<ServerRole> read_role(const wire::resp::Reply& reply) noexcept;

// A +switch-master message.
struct MasterSwitch {
  std::string name;
  net::Endpoint from;
  net::Endpoint to;

  friend bool operator==(const MasterSwitch&, const MasterSwitch&) = default;
};

// Empty for any other message, such as the confirmation of the subscription.
[[nodiscard]] std::optional<MasterSwitch> read_master_switch(const wire::resp::Reply& reply);

}  // namespace weir::store::redis
