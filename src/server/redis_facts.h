// What one Redis server says about itself, and what of it is unfit for limits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/redis_inquiry.h"
#include "store/redis/sentinel_replies.h"
#include "store/redis/server_info.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::server {

struct RedisFacts {
  store::redis::ServerInfo info;
  store::redis::ServerRole role = store::redis::ServerRole::master;
  std::size_t replicas = 0;  // that follow it
  Duration round_trip{};     // the median of several
  Duration clock_ahead{};    // of this machine's
  std::string forbidden;     // what the user may not do, in the server's words; empty: nothing that is needed
};

// `prefix` is that of our keys. Changes nothing there.
[[nodiscard]] Result<RedisFacts> gather_facts(RedisInquiry& inquiry, const std::string& prefix);

// 6.2 is the first that fits.
[[nodiscard]] bool is_too_old(std::string_view version) noexcept;

}  // namespace weir::server
