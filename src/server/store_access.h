// What it takes to be let in by Redis: the secrets and certificates that weir.yaml names, read.
#pragma once

#include <memory>
#include <string>

#include "net/endpoint.h"
#include "net/tls_client_context.h"
#include "server/store_config.h"
#include "store/redis/server_connection.h"
#include "weir/result.h"

namespace weir::server {

struct StoreAccess {
  struct Login {
    std::string user;      // empty: the default one
    std::string password;  // empty: none
  };

  Login servers;
  Login sentinels;
  std::shared_ptr<const net::TlsClientContext> tls;  // null: plain
  std::string key_secret;                            // empty: keys are readable
};

// An error names the file that is bad, never what is in it.
[[nodiscard]] Result<StoreAccess> open_store_access(const RedisConfig& redis);

// How to connect to one of the servers, or of the sentinels (which have no databases).
[[nodiscard]] store::redis::ServerConnection::Options server_options(const RedisConfig& redis,
                                                                     const StoreAccess& access,
                                                                     const net::Endpoint& endpoint);
[[nodiscard]] store::redis::ServerConnection::Options sentinel_options(const RedisConfig& redis,
                                                                       const StoreAccess& access,
                                                                       const net::Endpoint& endpoint);

}  // namespace weir::server
