// The slot of a key is the one that a Redis server takes it for.
#include "store/redis/cluster_slot.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/wire/redis_server.h"
#include "wire/resp/command_writer.h"

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
  const wire::resp::RedisServer server({"--cluster-enabled", "yes"});
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
  EXPECT_EQ(server.ask(commands), expected);
}

}  // namespace
}  // namespace weir::store::redis
