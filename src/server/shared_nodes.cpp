#include "server/shared_nodes.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/core.h>

namespace weir::server {
namespace {

// Identifies the process: several nodes may have the same weir.yaml and name.
std::string random_id() {
  std::uint64_t id = 0;
  while (::getrandom(&id, sizeof id, 0) != sizeof id) {
  }
  return fmt::format("{:016x}", id);
}

}  // namespace

std::string node_name(const RedisConfig& redis, std::string_view id) {
  if (!redis.node_name.empty()) return redis.node_name;
  std::array<char, 256> host{};
  const bool has_name = ::gethostname(host.data(), host.size() - 1) == 0 && host.front() != '\0';
  return fmt::format("{}-{}", has_name ? host.data() : "node", id.substr(0, 4));
}

SharedNodes::SharedNodes(const RedisConfig& redis, std::uint32_t until_counted, Options options)
    : options_(std::move(options)),
      list_(random_id(), until_counted),
      key_(store::redis::Heartbeat::key(redis.prefix)),
      name_(node_name(redis, list_.id())) {}

store::redis::Heartbeat::Options SharedNodes::heartbeat_options() const {
  return {.key = key_,
          .facts = [this] { return store::NodeFacts{name_, options_.version, options_.policy()}; },
          .on_count = options_.on_count,
          .log = options_.log};
}

std::vector<store::NodeList::Node> SharedNodes::nodes() const {
  return list_.nodes(std::chrono::steady_clock::now());
}

observe::NodeFigures SharedNodes::figures() const {
  const std::string policy = options_.policy();
  const auto all = nodes();
  const auto differs = [&](const store::NodeList::Node& node) { return node.differs(policy); };
  return {.nodes = list_.count(),
          .with_other_policy = static_cast<std::uint64_t>(std::ranges::count_if(all, differs)),
          .beats_sent = counts_.sent.value(),
          .beats_failed = counts_.failed.value()};
}

void SharedNodes::append_to(frontend::AdminStatus::Store& status) const {
  const std::string policy = options_.policy();
  status.nodes = list_.count();
  for (store::NodeList::Node& node : nodes()) {
    const bool differs = node.differs(policy);
    status.heartbeats.push_back({.name = std::move(node.facts.name),
                                 .version = std::move(node.facts.version),
                                 .policy = std::move(node.facts.policy),
                                 .last_seen_ago = node.silent,
                                 .is_self = node.is_self,
                                 .differs = differs});
  }
}

}  // namespace weir::server
