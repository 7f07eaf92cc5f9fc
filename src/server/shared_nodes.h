// This node and the other nodes that share its store: their names, their number, and a callback for changes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/admin/backend.h"
#include "observe/metrics.h"
#include "server/config.h"
#include "store/node_list.h"
#include "store/redis/heartbeat.h"

namespace weir::server {

// Returns store.redis.node_name, or else the host name and a part of `id`, which differs between processes of one host.
[[nodiscard]] std::string node_name(const RedisConfig& redis, std::string_view id);

// Written by heartbeats on one loop; any thread may read.
class SharedNodes {
 public:
  struct Options {
    std::string version;
    std::function<std::string()> policy;                // digest of the active policy; called on any thread
    std::function<void(std::uint32_t nodes)> on_count;  // called on the heartbeat's loop when the count changes
    std::function<void(store::redis::Severity severity, const std::string& line)> log;
  };

  // `until_counted` is the number of nodes before the first heartbeat is answered.
  SharedNodes(const RedisConfig& redis, std::uint32_t until_counted, Options options);

  // Used by the loop that sends heartbeats.
  [[nodiscard]] store::redis::Heartbeat::Options heartbeat_options() const;
  [[nodiscard]] store::NodeList& list() noexcept { return list_; }
  [[nodiscard]] store::redis::HeartbeatCounts& counts() noexcept { return counts_; }

  [[nodiscard]] observe::NodeFigures figures() const;
  void append_to(frontend::AdminStatus::Store& status) const;

 private:
  [[nodiscard]] std::vector<store::NodeList::Node> nodes() const;

  const Options options_;
  store::NodeList list_;
  store::redis::HeartbeatCounts counts_;
  const std::string key_;
  const std::string name_;
};

}  // namespace weir::server
