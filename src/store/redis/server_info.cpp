#include "store/redis/server_info.h"

#include <charconv>
#include <cstddef>

namespace weir::store::redis {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

ServerInfo parse_info(std::string_view text) {
  ServerInfo info;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (name == "redis_version") info.version = value;
    if (name == "maxmemory_policy") info.eviction_policy = value;
    if (name == "cluster_enabled") info.cluster = value == "1";
    if (name == "evicted_keys") std::from_chars(value.data(), value.data() + value.size(), info.evicted_keys);
  }
  return info;
}

}  // namespace weir::store::redis
