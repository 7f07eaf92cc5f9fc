// What one Redis server says about itself, and what of it is unfit for limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/redis_inquiry.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::server {

struct RedisFacts {
  std::string version;
  bool clustered = false;
  bool sentinel = false;
  bool replica = false;
  std::uint64_t replicas = 0;  // connected to it
  std::string eviction;        // maxmemory-policy
  Duration round_trip{};       // the median of several
  Duration clock_ahead{};      // of this machine's
  std::string forbidden;       // what the user may not do, in the server's words; empty: nothing that is needed
};

// `prefix` is that of our keys. Changes nothing there.
[[nodiscard]] Result<RedisFacts> gather_facts(RedisInquiry& inquiry, const std::string& prefix);

// 6.2 is the first that fits.
[[nodiscard]] bool is_too_old(std::string_view version) noexcept;

// The value of `name:value` in what INFO answers; empty if it is not there.
[[nodiscard]] std::string_view info_value(std::string_view info, std::string_view name) noexcept;

}  // namespace weir::server
