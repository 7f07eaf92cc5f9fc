// Heartbeats on real servers.
#include "store/redis/heartbeat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/redis_process.h"
#include "tests/store_redis/redis_cluster.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

const std::string nodes_key = Heartbeat::key("weir:");

// A node: a store and its heartbeat.
class Node {
 public:
  Node(const std::string& id, const RedisOptions& options) : list(id, 64), visitor(options) {
    visitor.on_loop([&] {
      heartbeat_ = std::make_unique<Heartbeat>(
          visitor.loop(), visitor.store(), list, counts,
          Heartbeat::Options{.key = nodes_key,
                             .facts = [id] { return NodeFacts{.name = id, .version = "1", .policy = "p"}; },
                             .on_count = [this](std::uint32_t nodes) { told = nodes; },
                             .log =
                                 [this](Severity /*severity*/, const std::string& line) {
                                   const std::scoped_lock lock(mutex_);
                                   log_.push_back(line);
                                 }});
    });
  }
  ~Node() {
    visitor.on_loop([&] { heartbeat_.reset(); });
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void leave() {
    visitor.on_loop([&] { heartbeat_->leave(); });
  }
  [[nodiscard]] bool counts_to(std::uint32_t nodes) {
    return eventually([&] { return list.count() == nodes && told == nodes; });
  }
  [[nodiscard]] std::vector<std::string> log() const {
    const std::scoped_lock lock(mutex_);
    return log_;
  }

  NodeList list;
  HeartbeatCounts counts;
  std::atomic<std::uint32_t> told = 0;
  StoreVisitor visitor;

 private:
  std::unique_ptr<Heartbeat> heartbeat_;
  mutable std::mutex mutex_;
  std::vector<std::string> log_;
};

TEST(Heartbeat, NodesCountEachOther) {
  const RedisProcess server;
  Node one("one", options_for(server.endpoint()));
  ASSERT_TRUE(one.counts_to(1));
  {
    Node other("other", options_for(server.endpoint()));
    ASSERT_TRUE(other.counts_to(2)) << "at once: it reads what the other wrote";
    ASSERT_TRUE(one.counts_to(2));
    other.leave();
    ASSERT_TRUE(one.counts_to(1));
  }
  EXPECT_GE(one.counts.sent.value(), 2U);
  EXPECT_EQ(one.visitor.all_errors(), 0U);
}

TEST(Heartbeat, NothingStaysBehind) {
  const RedisProcess server;
  server.ask({"HSET", nodes_key, "dead", "1 beat=1", "ahead", "99999999999999 beat=1", "foreign", "x"});
  Node one("one", options_for(server.endpoint()));
  ASSERT_TRUE(one.counts_to(1));
  EXPECT_EQ(server.ask({"HLEN", nodes_key}), "1");
  const int rest = std::stoi(server.ask({"PTTL", nodes_key}));
  EXPECT_GT(rest, 0);
  EXPECT_LE(rest, 10'000);
}

TEST(Heartbeat, ARejectedBeatIsNotAStoreFailure) {
  const RedisProcess server;
  server.ask({"SET", nodes_key, "of another program"});
  Node one("one", options_for(server.endpoint()));
  ASSERT_TRUE(eventually([&] { return one.counts.failed.value() >= 2; }));
  EXPECT_EQ(one.list.count(), 64U) << "no node was counted";
  EXPECT_TRUE(one.visitor.admits(alice, slow_rule(3)));
  EXPECT_EQ(one.visitor.all_errors(), 0U);
  EXPECT_EQ(one.visitor.counts().breaker(), BreakerState::closed);
  const auto said = one.log();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("heartbeat failed, nodes are not counted: WRONGTYPE")) << said[0];
  server.ask({"DEL", nodes_key});
  ASSERT_TRUE(one.counts_to(1));
  EXPECT_EQ(one.log().back(), "heartbeat: counting nodes again");
}

TEST(Heartbeat, WhileTheServerIsUnavailableTheCountStands) {
  RedisProcess server;
  Node one("one", options_for(server.endpoint()));
  Node other("other", options_for(server.endpoint()));
  ASSERT_TRUE(one.counts_to(2));
  ASSERT_TRUE(other.counts_to(2));
  server.pause();
  ASSERT_TRUE(eventually([&] { return one.counts.failed.value() >= 3; }));
  EXPECT_EQ(one.list.count(), 2U);
  const std::uint64_t sent = one.counts.sent.value();
  server.resume();
  ASSERT_TRUE(eventually([&] { return one.counts.sent.value() >= sent + 2; }));
  EXPECT_EQ(one.list.count(), 2U);
}

TEST(Heartbeat, InAClusterItFollowsItsSlot) {
  RedisCluster cluster;
  Node one("one", patient_options_for(cluster[0].endpoint()));
  Node other("other", patient_options_for(cluster[1].endpoint()));
  ASSERT_TRUE(one.counts_to(2));
  ASSERT_TRUE(other.counts_to(2));
  const std::size_t to = (cluster.master_of(nodes_key) + 1) % 3;
  cluster.begin_move(nodes_key, to);
  cluster.move_key(nodes_key, to);
  cluster.end_move(nodes_key, to);
  const std::string before = cluster[to].ask({"HGET", nodes_key, "one"});
  ASSERT_TRUE(eventually([&] { return cluster[to].ask({"HGET", nodes_key, "one"}) != before; }));
  EXPECT_EQ(one.list.count(), 2U);
  EXPECT_TRUE(one.visitor.admits(alice, slow_rule(3)));
}

}  // namespace
}  // namespace weir::store::redis
