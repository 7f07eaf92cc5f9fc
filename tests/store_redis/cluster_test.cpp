// Key slots agree with those of a Redis server; the map is what a server returns.
#include "store/redis/cluster.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/redis_process.h"
#include "tests/store_redis/parsed_reply.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {
namespace {

TEST(ClusterSlot, OfKnownKeys) {
  const struct {
    std::string_view key;
    int slot;
  } rows[] = {
      {"", 0}, {"123456789", 0x31C3}, {"foo", 12182}, {"bar", 5061}, {"hello", 866},
  };
  for (const auto& row : rows) EXPECT_EQ(cluster_slot(row.key), row.slot) << row.key;
}

TEST(ClusterSlot, IsThatOfTheTag) {
  const struct {
    std::string_view key;
    std::string_view same;
  } rows[] = {
      {"{foo}", "foo"},   {"weir:{foo}:per-minute", "foo"}, {"{foo}{bar}", "foo"},
      {"a}{foo}", "foo"}, {"foo{{bar}}zap", "{bar"},        {"{user1000}.following", "{user1000}.followers"},
  };
  for (const auto& row : rows) EXPECT_EQ(cluster_slot(row.key), cluster_slot(row.same)) << row.key;
}

TEST(ClusterSlot, IsThatOfTheWholeKeyWithoutATag) {
  for (const std::string_view key : {"foo{}{bar}", "{}foo", "{foo", "foo}", "}foo{"}) {
    EXPECT_NE(cluster_slot(key), cluster_slot("foo")) << key;
    EXPECT_NE(cluster_slot(key), cluster_slot("bar")) << key;
  }
}

TEST(ClusterSlot, IsTheOneThatRedisSays) {
  const RedisProcess server({"--cluster-enabled", "yes"});
  std::mt19937 random(20261115);
  std::string commands;
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    std::string key(random() % 24, '\0');
    for (char& c : key) c = "{}abcdef"[random() % 8];
    if (i % 2 == 0) key += static_cast<char>(random() % 256);
    wire::resp::append_command(commands, {"CLUSTER", "KEYSLOT", key});
    expected += ':' + std::to_string(cluster_slot(key)) + "\r\n";
  }
  EXPECT_EQ(server.ask_bytes(commands), expected);
}

const net::Endpoint asked_node{"10.0.0.9", 6379, ""};

std::string bulk(std::string_view text) {
  return '$' + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

// As Redis 7 returns it: with the node's id and a list of metadata.
std::string node(const std::string& host, int port) {
  return "*4\r\n" + host + ':' + std::to_string(port) + "\r\n" + bulk("0123456789abcdef") + "*0\r\n";
}

std::string range(int first, int last, const std::string& master) {
  const std::string replica = node(bulk("10.1.1.1"), 7000);
  return "*4\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n" + master + replica;
}

std::string text_of(const net::Endpoint* endpoint) {
  return endpoint == nullptr ? "none" : endpoint->text();
}

TEST(ClusterMap, NamesTheMasterOfEachSlot) {
  const ParsedReply reply("*3\r\n" + range(0, 5460, node(bulk("10.0.0.1"), 6379)) +
                          range(5461, 10922, node(bulk("redis-2.example"), 6380)) +
                          range(10923, 16383, node(bulk("2001:db8::3"), 6379)));
  const auto map = ClusterMap::read(reply.get(), asked_node);
  ASSERT_TRUE(map.has_value());
  EXPECT_TRUE(map->complete());
  EXPECT_EQ(map->masters().size(), 3U);
  const struct {
    std::uint16_t slot;
    std::string master;
  } rows[] = {
      {0, "10.0.0.1:6379"},           {5460, "10.0.0.1:6379"},
      {5461, "redis-2.example:6380"}, {10922, "redis-2.example:6380"},
      {10923, "[2001:db8::3]:6379"},  {16383, "[2001:db8::3]:6379"},
  };
  for (const auto& row : rows) EXPECT_EQ(text_of(map->master_of(row.slot)), row.master);
}

TEST(ClusterMap, AMasterOfSeveralRangesIsOne) {
  const std::string first = node(bulk("10.0.0.1"), 6379);
  const ParsedReply reply("*3\r\n" + range(0, 99, first) + range(100, 199, node(bulk("10.0.0.2"), 6379)) +
                          range(200, 299, first));
  const auto map = ClusterMap::read(reply.get(), asked_node);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->masters().size(), 2U);
  EXPECT_EQ(map->master_of(0), map->master_of(299));
}

TEST(ClusterMap, UnservedSlotsHaveNoMaster) {
  const ParsedReply reply("*1\r\n" + range(10, 20, node(bulk("10.0.0.1"), 6379)));
  const auto map = ClusterMap::read(reply.get(), asked_node);
  ASSERT_TRUE(map.has_value());
  EXPECT_FALSE(map->complete());
  EXPECT_EQ(map->master_of(9), nullptr);
  EXPECT_EQ(text_of(map->master_of(10)), "10.0.0.1:6379");
  EXPECT_EQ(map->master_of(21), nullptr);
  EXPECT_EQ(ClusterMap().master_of(0), nullptr);
}

TEST(ClusterMap, AHostThatIsLeftOutIsTheOneThatWasAsked) {
  const struct {
    std::string host;
    net::Endpoint from;
    std::string master;
  } rows[] = {
      {bulk(""), asked_node, "10.0.0.9:7001"},
      {"$-1\r\n", asked_node, "10.0.0.9:7001"},
      {bulk("?"), asked_node, "none"},
      {bulk(""), {"", 0, "/run/redis.sock"}, "none"},
  };
  for (const auto& row : rows) {
    const ParsedReply reply("*1\r\n" + range(0, 16383, node(row.host, 7001)));
    const auto map = ClusterMap::read(reply.get(), row.from);
    ASSERT_TRUE(map.has_value());
    EXPECT_EQ(text_of(map->master_of(1)), row.master);
  }
}

TEST(ClusterMap, AnswersOfOtherKindsAreRejected) {
  const std::string master = node(bulk("10.0.0.1"), 6379);
  const std::string not_a_list = "10.0.0.9:6379: invalid reply to CLUSTER SLOTS; check that it is a Redis server";
  const struct {
    std::string reply;
    std::string message;
  } rows[] = {
      {"-ERR This instance has cluster support disabled\r\n",
       "10.0.0.9:6379: rejected CLUSTER SLOTS: ERR This instance has cluster support disabled"},
      {"+OK\r\n", not_a_list},
      {"*1\r\n:1\r\n", not_a_list},
      {"*1\r\n*2\r\n:0\r\n:1\r\n", not_a_list},
      {"*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n", not_a_list},
      {"*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\nx\r\n", not_a_list},
      {"*1\r\n*3\r\n:0\r\n+x\r\n" + master, not_a_list},
      {"*1\r\n" + range(-1, 1, master), not_a_list},
      {"*1\r\n" + range(2, 1, master), not_a_list},
      {"*1\r\n" + range(0, 16384, master), not_a_list},
  };
  for (const auto& row : rows) {
    const ParsedReply reply(row.reply);
    const auto map = ClusterMap::read(reply.get(), asked_node);
    ASSERT_FALSE(map.has_value()) << row.reply;
    EXPECT_EQ(map.error().message(), row.message);
  }
}

}  // namespace
}  // namespace weir::store::redis
