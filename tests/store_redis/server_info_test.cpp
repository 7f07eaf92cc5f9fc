#include "store/redis/server_info.h"

#include <gtest/gtest.h>

namespace weir::store::redis {
namespace {

TEST(ServerInfo, IsReadFromWhatInfoTells) {
  struct Row {
    const char* text;
    ServerInfo info;
  };
  const Row rows[] = {
      {"", {}},
      {"# Server\r\nredis_version:7.0.15\r\n", {.version = "7.0.15", .eviction_policy = {}}},
      {"redis_version:7.0.15", {.version = "7.0.15", .eviction_policy = {}}},
      {"maxmemory_policy:noeviction\r\nevicted_keys:12\r\n",
       {.version = {}, .eviction_policy = "noeviction", .evicted_keys = 12}},
      {"cluster_enabled:1\r\n", {.version = {}, .eviction_policy = {}, .cluster = true}},
      {"cluster_enabled:0\r\n", {}},
      {"evicted_keys:many\r\nno colon\r\n:\r\n", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_info(row.text), row.info) << row.text;
}

TEST(ServerInfo, EveryPolicyButOneEvicts) {
  EXPECT_FALSE(parse_info("maxmemory_policy:noeviction\r\n").evicts());
  EXPECT_TRUE(parse_info("maxmemory_policy:volatile-ttl\r\n").evicts());
  EXPECT_TRUE(parse_info("maxmemory_policy:allkeys-lru\r\n").evicts());
  EXPECT_FALSE(parse_info("").evicts()) << "it does not say";
}

}  // namespace
}  // namespace weir::store::redis
