// What Redis servers and Sentinels say, read into values: errors and redirections, INFO, ROLE and the Sentinels'
// replies. Pure; callable from anywhere.
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
  other,  // ERR, or a word that is not here
  // The command was not done, here: it belongs elsewhere, or may be sent again.
  moved,
  ask,
  try_again,
  cluster_down,
  no_script,
  read_only,  // a replica
  master_down,
  loading,
  busy,  // a script runs for too long
  // It was not done, and sending it again does not help.
  cross_slot,
  out_of_memory,
  no_replicas,
  misconfigured,  // MISCONF: it cannot save, and so does not write
  no_auth,
  wrong_pass,
  no_permission,
  denied,  // protected mode
  // As before; but it is about one key, and the server is well.
  wrong_type,
  foreign,  // our script: the value is not a state of ours
  edges,    // our script: its time is in none of the calendar's windows that it was sent
};

[[nodiscard]] ErrorKind error_kind(std::string_view error) noexcept;

struct Redirect {
  ErrorKind kind = ErrorKind::moved;  // or ask
  std::uint16_t slot = 0;
  net::Endpoint to;

  friend bool operator==(const Redirect&, const Redirect&) = default;
};

// `asked`: the server that said it. It leaves its host out where it does not know how others reach it. Nothing if the
// error is another, or does not say whereto.
[[nodiscard]] std::optional<Redirect> parse_redirect(std::string_view error, const net::Endpoint& asked);

// The errors of Redis as the store counts them. Pure.

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

// What a Redis server says of itself, of all that INFO tells. Pure.

struct ServerInfo {
  std::string version;
  std::string eviction_policy;
  std::uint64_t evicted_keys = 0;
  bool cluster = false;

  [[nodiscard]] bool evicts() const noexcept { return !eviction_policy.empty() && eviction_policy != "noeviction"; }

  friend bool operator==(const ServerInfo&, const ServerInfo&) = default;
};

// What it does not say is as in an empty one.
[[nodiscard]] ServerInfo parse_info(std::string_view text);

// What Sentinels, and the servers that they name, answer. Pure; callable from anywhere.

// To `SENTINEL get-master-addr-by-name NAME`. `asked`: the Sentinel.
[[nodiscard]] Result<net::Endpoint> read_master_address(const wire::resp::Reply& reply, std::string_view name,
                                                        const net::Endpoint& asked);

enum class ServerRole : std::uint8_t { master, replica, sentinel };

// To `ROLE`. Nothing if it is no answer to it.
[[nodiscard]] std::optional<ServerRole> read_role(const wire::resp::Reply& reply) noexcept;

// What a subscriber to +switch-master is sent.
struct MasterSwitch {
  std::string name;
  net::Endpoint from;
  net::Endpoint to;

  friend bool operator==(const MasterSwitch&, const MasterSwitch&) = default;
};

// Nothing if it is something else, for example the confirmation of the subscription.
[[nodiscard]] std::optional<MasterSwitch> read_master_switch(const wire::resp::Reply& reply);

}  // namespace weir::store::redis
