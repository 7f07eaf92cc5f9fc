// A real cluster of three masters, each with a third of the slots. Used from the test's thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/redis/cluster.h"
#include "tests/net/client.h"
#include "tests/redis_process.h"

namespace weir::store::redis {

class RedisCluster {
 public:
  RedisCluster() {
    for (auto& node : nodes_) {
      node = std::make_unique<RedisProcess>(std::vector<std::string>{
          "--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no"});
    }
    const std::array<std::array<const char*, 2>, 3> thirds{{{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->ask({"CLUSTER", "ADDSLOTSRANGE", thirds[i][0], thirds[i][1]});
      nodes_[i]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    }
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      nodes_[i]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[0]->port())});
    }
    if (!net::eventually(
            [&] { return std::ranges::all_of(nodes_, [](const auto& node) { return knows_all(*node); }); })) {
      throw std::runtime_error("the cluster does not come up");
    }
  }

  [[nodiscard]] RedisProcess& operator[](std::size_t i) { return *nodes_[i]; }
  [[nodiscard]] std::size_t master_of(const std::string& key) const { return owners_[cluster_slot(key)]; }
  [[nodiscard]] std::string id(std::size_t node) const { return nodes_[node]->ask({"CLUSTER", "MYID"}); }

  // From now on its new keys go to `to`; existing ones stay until move_key.
  void begin_move(const std::string& key, std::size_t to) {
    const std::string slot = std::to_string(cluster_slot(key));
    const std::size_t from = master_of(key);
    EXPECT_EQ(nodes_[to]->ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", id(from)}), "OK");
    EXPECT_EQ(nodes_[from]->ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)}), "OK");
  }
  void move_key(const std::string& key, std::size_t to) {
    const std::string port = std::to_string(nodes_[to]->port());
    EXPECT_EQ(nodes_[master_of(key)]->ask({"MIGRATE", "127.0.0.1", port, key, "0", "5000"}), "OK");
  }
  void end_move(const std::string& key, std::size_t to) {
    const std::string slot = std::to_string(cluster_slot(key));
    const std::string owner = id(to);
    EXPECT_EQ(nodes_[to]->ask({"CLUSTER", "SETSLOT", slot, "NODE", owner}), "OK");
    EXPECT_EQ(nodes_[master_of(key)]->ask({"CLUSTER", "SETSLOT", slot, "NODE", owner}), "OK");
    owners_[cluster_slot(key)] = to;
  }

 private:
  static bool knows_all(const RedisProcess& node) {
    const std::string info = node.ask({"CLUSTER", "INFO"});
    return info.find("cluster_state:ok") != std::string::npos &&
           info.find("cluster_slots_ok:16384") != std::string::npos &&
           info.find("cluster_known_nodes:3") != std::string::npos;
  }
  static std::vector<std::size_t> thirds() {
    std::vector<std::size_t> owners(cluster_slots, 2);
    std::fill(owners.begin(), owners.begin() + 10'923, 1);
    std::fill(owners.begin(), owners.begin() + 5'461, 0);
    return owners;
  }

  std::array<std::unique_ptr<RedisProcess>, 3> nodes_;
  std::vector<std::size_t> owners_ = thirds();
};

}  // namespace weir::store::redis
