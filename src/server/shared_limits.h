// What the stations need to share their limits through Redis.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "server/log.h"
#include "server/store_config.h"
#include "store/redis/redis_options.h"
#include "store/shared/shared_keys.h"
#include "weir/result.h"

namespace weir::server {

// What the stores of all loops say, once: each has connections of its own to the same servers. From any thread.
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
