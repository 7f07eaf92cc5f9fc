// This node among those that share its store: its name, who the others are, and who has to know how many there are.
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

// As weir.yaml calls it; or the name of the host, and a part of `id` for several processes there.
[[nodiscard]] std::string node_name(const RedisConfig& redis, std::string_view id);

// Heartbeats write to it, on one loop; any thread reads.
class SharedNodes {
 public:
  struct Options {
    std::string version;
    std::function<std::string()> policy;                // the digest of the one in force; from any thread
    std::function<void(std::uint32_t nodes)> on_count;  // on the loop that beats, when it is another
    std::function<void(store::redis::News news, const std::string& line)> log;
  };

  // `until_counted` is the number of nodes before the first answer.
  SharedNodes(const RedisConfig& redis, std::uint32_t until_counted, Options options);

  // For the loop that beats.
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
