// URLs of Redis servers:
//
//   redis://redis.example            port 6379, database 0
//   redis://weir:secret@[::1]:6380/2
//   rediss://redis.example           with TLS
//   unix:///run/redis.sock?db=2
//
// User, password and path may be percent-encoded.
#pragma once

#include <string>
#include <string_view>

#include "net/address.h"
#include "weir/result.h"

namespace weir::store::redis {

struct Url {
  net::Endpoint endpoint;
  bool tls = false;
  std::string user;
  std::string password;
  int database = 0;

  friend bool operator==(const Url&, const Url&) = default;
};

// An error never contains the password.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

}  // namespace weir::store::redis
