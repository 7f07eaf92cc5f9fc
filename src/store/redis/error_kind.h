// What a Redis server means by an error, by its first word; and where MOVED and ASK point to. Before Redis 7.0 an error
// within a script is wrapped into one of the script's: then by the first word of what is in it. Pure; callable from
// anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/endpoint.h"

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

}  // namespace weir::store::redis
