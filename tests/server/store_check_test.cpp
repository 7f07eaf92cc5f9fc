// --check against real Redis servers.
#include "server/check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/redis_process.h"

namespace weir::server {
namespace {

using Lines = std::vector<std::string>;

constexpr auto figures = R"(: round trip \d+ us, its clock \d+ us (ahead of|behind) this host's, maxmemory-policy )";

RedisConfig redis_at(const std::vector<std::string>& urls) {
  RedisConfig redis;
  for (const std::string& url : urls) redis.urls.push_back(store::redis::parse_url(url).value());
  redis.timeout = std::chrono::seconds(5);
  return redis;
}

RedisConfig redis_at(const RedisProcess& server) {
  return redis_at(std::vector{"redis://" + server.place()});
}

CheckReport checked(const RedisConfig& redis) {
  CheckReport report;
  check_store(redis, report);
  return report;
}

// Each line as a regular expression.
void expect_lines(const Lines& found, const Lines& expected) {
  ASSERT_EQ(found.size(), expected.size()) << testing::PrintToString(found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(std::regex_match(found[i], std::regex(expected[i]))) << found[i] << "\nnot\n" << expected[i];
  }
}

// The first line of the server's answer.
std::string first_line(const RedisProcess& server, const std::string& command) {
  const std::string answer = server.ask_bytes(command + "\r\n");
  return answer.substr(0, answer.find("\r\n"));
}

// Repeats the command until the answer starts with `answer`: the servers of a cluster need time to meet.
bool becomes(const RedisProcess& server, const std::string& command, std::string_view answer) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    if (first_line(server, command).starts_with(answer)) return true;
  }
  return false;
}

TEST(StoreCheck, DescribesASingleServer) {
  const RedisProcess server;
  const CheckReport report = checked(redis_at(server));
  EXPECT_EQ(report.errors, Lines{});
  expect_lines(report.lines, {R"(store: Redis \d+\.\d+\.\d+, a single server with 0 replicas)",
                              "store: " + server.place() + figures + "noeviction"});
}

TEST(StoreCheck, WarnsOfEviction) {
  const RedisProcess server({"--maxmemory-policy", "allkeys-lru"});
  const CheckReport report = checked(redis_at(server));
  EXPECT_EQ(report.errors, Lines{});
  expect_lines(report.lines, {"warning: store: " + server.place() +
                                  " has maxmemory-policy allkeys-lru: evicting a key silently resets its limit; set "
                                  "noeviction",
                              R"(store: Redis \d+\.\d+\.\d+, a single server with 0 replicas)",
                              "store: " + server.place() + figures + "allkeys-lru"});
}

TEST(StoreCheck, WarnsOfAServerThatIsSlowerThanADecisionMayBe) {
  const RedisProcess server;
  RedisConfig redis = redis_at(server);
  redis.timeout = Duration::zero();
  EXPECT_TRUE(checked(redis).lines.front().starts_with("warning: store: " + server.place() + ": round trip "));
}

TEST(StoreCheck, SaysThatNobodyIsThere) {
  const std::string place = "127.0.0.1:" + std::to_string(free_port());
  const CheckReport report = checked(redis_at(std::vector{"redis://" + place}));
  EXPECT_EQ(report.lines, Lines{});
  ASSERT_EQ(report.errors.size(), 1U);
  EXPECT_TRUE(report.errors[0].starts_with("store.redis: " + place + ": ")) << report.errors[0];
}

TEST(StoreCheck, DoesNotWaitForeverForAServerThatSaysNothing) {
  const RedisProcess server;
  server.pause();
  const auto before = std::chrono::steady_clock::now();
  const CheckReport report = checked(redis_at(server));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(8));
  ASSERT_EQ(report.errors.size(), 1U);
  EXPECT_NE(report.errors[0].find("does not answer"), std::string::npos) << report.errors[0];
}

TEST(StoreCheck, SaysThatAReplicaCannotCount) {
  const RedisProcess master;
  const RedisProcess replica({"--replicaof", "127.0.0.1", std::to_string(master.port())});
  EXPECT_EQ(checked(redis_at(replica)).errors,
            Lines{"store.redis: " + replica.place() +
                  ": this is a read-only replica; use the URL of its master, or the sentinels"});
}

TEST(StoreCheck, RefusesSeveralServersThatAreNoCluster) {
  const RedisProcess one;
  const RedisProcess other;
  EXPECT_EQ(checked(redis_at({"redis://" + one.place(), "redis://" + other.place()})).errors,
            Lines{"store.redis: " + one.place() +
                  ": not part of a cluster, but urls has several; keep one, or add sentinel"});
}

TEST(StoreCheck, DescribesAClusterAndWarnsOfASeedThatIsAway) {
  const std::string bus = std::to_string(free_port());
  const RedisProcess one({"--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port())});
  const RedisProcess other({"--cluster-enabled", "yes", "--cluster-port", bus});
  ASSERT_EQ(first_line(one, "CLUSTER ADDSLOTSRANGE 0 8191"), "+OK");
  ASSERT_EQ(first_line(other, "CLUSTER ADDSLOTSRANGE 8192 16383"), "+OK");
  ASSERT_EQ(first_line(other, "CLUSTER SET-CONFIG-EPOCH 2"), "+OK");
  const CheckReport halved = checked(redis_at(one));
  EXPECT_EQ(halved.errors, Lines{"store.redis: the cluster has uncovered slots; see redis-cli --cluster check"});
  ASSERT_EQ(first_line(one, "CLUSTER MEET 127.0.0.1 " + std::to_string(other.port()) + " " + bus), "+OK");
  ASSERT_TRUE(becomes(one, "CLUSTER SLOTS", "*2"));

  const std::string unavailable = "127.0.0.1:" + std::to_string(free_port());
  const CheckReport report = checked(redis_at({"redis://" + unavailable, "redis://" + one.place()}));
  EXPECT_EQ(report.errors, Lines{});
  expect_lines(report.lines,
               {"warning: store: " + unavailable + ": .*",
                R"(store: Redis \d+\.\d+\.\d+, a cluster of 2 masters and 0 replicas)",
                "store: " + one.place() + figures + "noeviction", "store: " + other.place() + figures + "noeviction"});
  EXPECT_EQ(checked(redis_at({"redis://" + one.place() + "/3"})).errors.size(), 1U);
}

TEST(StoreCheck, FindsTheMasterByItsSentinels) {
  const RedisProcess master;
  const std::string monitor = "sentinel monitor mymaster 127.0.0.1 " + std::to_string(master.port()) + " 1\n";
  const auto sentinel = RedisProcess::sentinel(monitor);
  const std::string unavailable = "127.0.0.1:" + std::to_string(free_port());
  RedisConfig redis = redis_at({"redis://" + unavailable, "redis://" + sentinel.place()});
  redis.sentinel = SentinelConfig{.master = "mymaster", .user = {}, .password_file = {}};
  const CheckReport report = checked(redis);
  EXPECT_EQ(report.errors, Lines{});
  expect_lines(report.lines, {"warning: store: " + unavailable + ": .*",
                              R"(store: Redis \d+\.\d+\.\d+, the master mymaster of 1 sentinel with 0 replicas)",
                              "store: " + master.place() + figures + "noeviction"});
  redis.sentinel->master = "another";
  EXPECT_EQ(checked(redis).errors.size(), 2U);
  redis.sentinel.reset();
  redis.urls.erase(redis.urls.begin());
  EXPECT_EQ(checked(redis).errors, Lines{"store.redis: " + sentinel.place() +
                                         ": this is a sentinel, not a server; set sentinel: { master: NAME }"});
}

class StoreCheckWithUsers : public testing::Test {
 protected:
  StoreCheckWithUsers() {
    std::ofstream(password_file()) << "secret\n";
    EXPECT_EQ(chmod(password_file().c_str(), 0600), 0);
    redis_.user = "weir";
    redis_.password_file = password_file();
  }
  std::filesystem::path password_file() const { return folder_.path() / "password"; }

  void give(const std::string& rights) const {
    ASSERT_EQ(first_line(server_, "ACL SETUSER weir reset on >secret " + rights), "+OK");
  }

  const TemporaryFolder folder_;
  const RedisProcess server_;
  RedisConfig redis_ = redis_at(server_);
};

// `ACL SETUSER weir on >PASSWORD RIGHTS`, as in docs/shared-store.md.
std::string rights_on_the_page() {
  std::ifstream page(std::filesystem::path(WEIR_SOURCE_DIR) / "docs/shared-store.md");
  constexpr std::string_view begin = "ACL SETUSER weir on >PASSWORD ";
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return {};
}

TEST_F(StoreCheckWithUsers, FindsNothingWrongWithTheRightsOnThePage) {
  ASSERT_FALSE(rights_on_the_page().empty());
  give(rights_on_the_page());
  const CheckReport report = checked(redis_);
  EXPECT_EQ(report.errors, Lines{});
  EXPECT_EQ(report.lines.size(), 2U);
}

TEST_F(StoreCheckWithUsers, SaysWhatTheUserMayNotDo) {
  for (const std::string rights :
       {"~weir:* +@all -script", "~weir:* +@all -evalsha", "~other:* +@all", "~weir:* +ping", "~weir:* +@all -info",
        "~weir:* +@all -eval", "~weir:* +@all -hset", "~weir:* +@all -hgetall", "~weir:* +@all -hdel",
        "~weir:* +@all -hmget", "~weir:* +@all -zadd", "~weir:* +@all -zrem", "~weir:* +@all -zcard",
        "~weir:* +@all -zrange", "~weir:* +@all -zrevrange", "~weir:* +@all -zrangebyscore"}) {
    give(rights);
    const Lines errors = checked(redis_).errors;
    ASSERT_EQ(errors.size(), 1U) << rights;
    EXPECT_TRUE(std::regex_match(errors[0], std::regex("store.redis: " + server_.place() +
                                                       ": the user lacks permissions \\(NOPERM .*\\); "
                                                       "docs/shared-store.md lists the required ACL")))
        << errors[0];
  }
}

TEST_F(StoreCheckWithUsers, LeavesNothingBehind) {
  give(rights_on_the_page());
  EXPECT_EQ(checked(redis_).errors, Lines{});
  EXPECT_EQ(first_line(server_, "DBSIZE"), ":0");
}

TEST_F(StoreCheckWithUsers, NeverTellsThePassword) {
  give("~* +@all");
  ASSERT_EQ(first_line(server_, "ACL SETUSER weir >other <secret"), "+OK");
  const Lines errors = checked(redis_).errors;
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].find("WRONGPASS"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[0].find("secret"), std::string::npos) << errors[0];
}

TEST_F(StoreCheckWithUsers, SaysWhichFileIsBad) {
  ASSERT_EQ(chmod(password_file().c_str(), 0644), 0);
  const Lines errors = checked(redis_).errors;
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(errors[0].starts_with("store.redis: " + password_file().string() + ": accessible to other users"));
}

}  // namespace
}  // namespace weir::server
