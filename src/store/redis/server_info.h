// What a Redis server says of itself, of all that INFO tells. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::store::redis {

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

}  // namespace weir::store::redis
