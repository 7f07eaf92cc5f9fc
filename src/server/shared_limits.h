// What it takes to share limits through Redis: the secrets and certificates that weir.yaml names, the options of the
// store, and its messages in the log.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "net/address.h"
#include "net/tls_context.h"
#include "server/config.h"
#include "server/log.h"
#include "store/redis/redis_options.h"
#include "store/redis/server_connection.h"
#include "store/shared_keys.h"
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

// Writes what the stores of all loops report, once: each has connections of its own to the same servers. From any
// thread.
class StoreLog {
 public:
  explicit StoreLog(Log& log) noexcept : log_(log) {}

  void say(store::redis::News news, const std::string& line);

 private:
  struct Said {
    std::string line;
    std::chrono::steady_clock::time_point at;
  };

  static constexpr std::chrono::seconds together{2};

  Log& log_;
  std::mutex mutex_;
  std::array<Said, 8> said_;  // the last lines: several servers may change at once
  std::size_t next_ = 0;      // of said_, to be forgotten
};

struct SharedLimits {
  std::shared_ptr<const store::SharedKeys> keys;
  store::redis::RedisOptions options;
};

// Reads secrets and certificates. Nothing is connected yet.
[[nodiscard]] Result<SharedLimits> open_shared_limits(const RedisConfig& redis, const std::shared_ptr<StoreLog>& log);

}  // namespace weir::server
