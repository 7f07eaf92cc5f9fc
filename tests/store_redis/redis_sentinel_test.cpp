#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/redis/redis_store.h"
#include "tests/net/server.h"
#include "tests/redis_process.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;

// A master, a replica, and one Sentinel with a quorum of one.
class RedisSentinel : public testing::Test {
 protected:
  RedisSentinel() {
    one_.ask({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    two_.ask({"REPLICAOF", "127.0.0.1", std::to_string(one_.port())});
    EXPECT_TRUE(
        eventually([&] { return one_.ask({"INFO", "replication"}).find("state=online") != std::string::npos; }));
    const std::string lines = "sentinel monitor mymaster 127.0.0.1 " + std::to_string(one_.port()) +
                              " 1\nsentinel down-after-milliseconds mymaster 500\n"
                              "sentinel failover-timeout mymaster 2000\n";
    sentinel_ = std::make_unique<RedisProcess>(std::vector<std::string>{"--sentinel"}, lines);
    EXPECT_TRUE(eventually([&] { return sentinel_->ask({"SENTINEL", "REPLICAS", "mymaster"}) != ""; }));
  }

  [[nodiscard]] RedisOptions options() const {
    RedisOptions options = options_for({});
    options.servers.clear();
    options.sentinel = SentinelOptions{
        .servers = {sentinel_->endpoint()}, .master = "mymaster", .user = {}, .password = {}, .tls = nullptr};
    return options;
  }

  RedisProcess one_;
  RedisProcess two_;
  std::unique_ptr<RedisProcess> sentinel_;
};

TEST_F(RedisSentinel, TheMasterIsFound) {
  StoreVisitor visitor(options());
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(1);
  EXPECT_TRUE(visitor.admits(alice, rule));
  EXPECT_EQ(one_.ask({"EXISTS", alice}), "1");
}

TEST_F(RedisSentinel, ASentinelThatIsDownIsPassedOver) {
  RedisProcess gone;
  gone.kill();
  RedisOptions with_gone = options();
  with_gone.sentinel->servers.insert(with_gone.sentinel->servers.begin(), gone.endpoint());
  StoreVisitor visitor(with_gone);
  EXPECT_TRUE(visitor.is_connected());
}

// Accepts the handshake, and sends nothing more.
class Silent final : public net::Session {
 public:
  std::size_t on_input(std::span<char> input, net::Output& out) override {
    if (!std::exchange(greeted_, true)) out.append("+OK\r\n");
    return input.size();
  }

 private:
  bool greeted_ = false;
};

TEST_F(RedisSentinel, ASentinelThatFallsSilentIsPassedOver) {
  const net::Server silent([](const net::Peer&, const net::Link&) { return std::make_unique<Silent>(); });
  RedisOptions with_silent = options();
  with_silent.connect_timeout = 100ms;
  with_silent.sentinel->servers.insert(with_silent.sentinel->servers.begin(),
                                       {"127.0.0.1", silent.listener->bound().port(), ""});
  StoreVisitor visitor(with_silent);
  EXPECT_TRUE(visitor.is_connected());
  EXPECT_NE(visitor.counts().last_error.get().text.find("did not return the master's address in time"),
            std::string::npos);
}

TEST_F(RedisSentinel, AnUnknownMasterIsReported) {
  RedisOptions wrong = options();
  wrong.sentinel->master = "othermaster";
  StoreVisitor visitor(wrong);
  ASSERT_TRUE(
      eventually([&] { return visitor.counts().last_error.get().text.find("othermaster") != std::string::npos; }));
  const core::Rule rule = slow_rule(1);
  EXPECT_TRUE(visitor.submit(alice, rule).turned_away);
}

TEST_F(RedisSentinel, AfterASwitchOfTheMasterDecisionsGoOnThere) {
  StoreVisitor visitor(options());
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(1'000'000);
  ASSERT_TRUE(visitor.admits(alice, rule));
  ASSERT_TRUE(eventually([&] { return sentinel_->ask({"SENTINEL", "FAILOVER", "mymaster"}) == "OK"; }));
  ASSERT_TRUE(eventually([&] {
    static_cast<void>(visitor.failure_of(alice, rule));
    return two_.ask({"INFO", "replication"}).find("role:master") != std::string::npos;
  }));
  const std::string answers = "store: " + two_.endpoint().text() + " is available";
  const std::string moved = "store: switched to master " + two_.endpoint().text();
  ASSERT_TRUE(eventually([&] {
    static_cast<void>(visitor.failure_of(alice, rule));
    const auto log = visitor.log();
    return std::ranges::any_of(log, [&](const std::string& line) { return line == answers || line == moved; });
  }));
  ASSERT_TRUE(eventually([&] { return visitor.admits(alice, rule); }));
  for (const auto& question : visitor.questions()) EXPECT_LT(question.took, 1s);
}

TEST_F(RedisSentinel, AMasterThatIsAReplicaNowIsNotBelieved) {
  StoreVisitor visitor(options());
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(1'000'000);
  ASSERT_TRUE(visitor.admits(alice, rule));
  ASSERT_EQ(one_.ask({"REPLICAOF", "127.0.0.1", "1"}), "OK");
  EXPECT_NE(visitor.failure_of(alice, rule), Failure::none);
  EXPECT_TRUE(eventually([&] { return visitor.errors(StoreError::read_only) >= 2; })) << "by READONLY, then by ROLE";
  EXPECT_NE(visitor.failure_of(alice, rule), Failure::none);
  ASSERT_EQ(one_.ask({"REPLICAOF", "NO", "ONE"}), "OK");
  EXPECT_TRUE(eventually([&] { return visitor.admits(alice, rule); }));
}

TEST_F(RedisSentinel, AMasterThatDiesIsReplaced) {
  StoreVisitor visitor(options());
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(1'000'000);
  ASSERT_TRUE(visitor.admits(alice, rule));
  one_.kill();
  ASSERT_TRUE(eventually([&] { return visitor.admits(alice, rule); }));
  EXPECT_EQ(two_.ask({"EXISTS", alice}), "1");
  for (const auto& question : visitor.questions()) EXPECT_LT(question.took, 1s);
}

}  // namespace
}  // namespace weir::store::redis
