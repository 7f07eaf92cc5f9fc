// The shared store as weir.yaml configures it: secrets and certificates, options of the Redis store, and its log
// messages.
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
    std::string user;      // empty: the default user
    std::string password;  // empty: none
  };

  Login servers;
  Login sentinels;
  std::shared_ptr<const net::TlsClientContext> tls;  // null: plain
  std::string key_secret;                            // empty: keys are readable
};

// An error names the file, never its contents.
[[nodiscard]] Result<StoreAccess> open_store_access(const RedisConfig& redis);

// Connection options for a server, and for a sentinel, which has no databases.
[[nodiscard]] store::redis::ServerConnection::Options server_options(const RedisConfig& redis,
                                                                     const StoreAccess& access,
                                                                     const net::Endpoint& endpoint);
[[nodiscard]] store::redis::ServerConnection::Options sentinel_options(const RedisConfig& redis,
                                                                       const StoreAccess& access,
                                                                       const net::Endpoint& endpoint);

// Deduplicates the messages of the stores of all loops, which connect to the same servers. Thread-safe.
class StoreLog {
 public:
  explicit StoreLog(Log& log) noexcept : log_(log) {}

  void write(store::redis::Severity severity, const std::string& line);

 private:
  struct Written {
    std::string line;
    std::chrono::steady_clock::time_point at;
  };

  static constexpr std::chrono::seconds interval{2};  // a line is not repeated within this time

  Log& log_;
  std::mutex mutex_;
  std::array<Written, 8> written_;  // the last lines: several servers may change at once
  std::size_t next_ = 0;            // index of the oldest one
};

struct SharedLimits {
  std::shared_ptr<const store::SharedKeys> keys;
  store::redis::RedisOptions options;
};

// Reads secrets and certificates. Does not connect.
[[nodiscard]] Result<SharedLimits> open_shared_limits(const RedisConfig& redis, const std::shared_ptr<StoreLog>& log);

}  // namespace weir::server
