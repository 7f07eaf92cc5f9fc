#include "store/redis/replies.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/store_redis/parsed_reply.h"

namespace weir::store::redis {
namespace {

TEST(ErrorKind, IsRecognizedByTheFirstWord) {
  const struct {
    std::string_view error;
    ErrorKind kind;
  } rows[] = {
      {"MOVED 3999 127.0.0.1:6381", ErrorKind::moved},
      {"ASK 3999 127.0.0.1:6381", ErrorKind::ask},
      {"TRYAGAIN Multiple keys request during rehashing of slot", ErrorKind::try_again},
      {"CLUSTERDOWN The cluster is down", ErrorKind::cluster_down},
      {"NOSCRIPT No matching script. Please use EVAL.", ErrorKind::no_script},
      {"READONLY You can't write against a read only replica.", ErrorKind::read_only},
      {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", ErrorKind::master_down},
      {"LOADING Redis is loading the dataset in memory", ErrorKind::loading},
      {"BUSY Redis is busy running a script.", ErrorKind::busy},
      {"CROSSSLOT Keys in request don't hash to the same slot", ErrorKind::cross_slot},
      {"OOM command not allowed when used memory > 'maxmemory'.", ErrorKind::out_of_memory},
      {"NOREPLICAS Not enough good replicas to write.", ErrorKind::no_replicas},
      {"MISCONF Redis is configured to save RDB snapshots", ErrorKind::misconfigured},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", ErrorKind::wrong_type},
      {"FOREIGN the value of weir:{api:...}:gcra is not a state of weir: remove it", ErrorKind::foreign},
      {"EDGES this server's time is in none of the windows that a node sent: compare their clocks", ErrorKind::edges},
      {"NOAUTH Authentication required.", ErrorKind::no_auth},
      {"WRONGPASS invalid username-password pair or user is disabled.", ErrorKind::wrong_pass},
      {"NOPERM User weir has no permissions to run the 'ping' command", ErrorKind::no_permission},
      {"DENIED Redis is running in protected mode", ErrorKind::denied},
      {"OOM", ErrorKind::out_of_memory},
      {"ERR unknown command", ErrorKind::other},
      {"OOMPH", ErrorKind::other},
      {" OOM", ErrorKind::other},
      {"oom", ErrorKind::other},
      {"", ErrorKind::other},
  };
  for (const auto& row : rows) EXPECT_EQ(error_kind(row.error), row.kind) << row.error;
}

TEST(ErrorKind, IsRecognizedInScriptErrorsOfOldServers) {
  const std::string_view script = "ERR Error running script (call to f_0a1b2c): @user_script:50: ";
  const struct {
    std::string_view error;
    ErrorKind kind;
  } rows[] = {
      {"@user_script: 50: -READONLY You can't write against a read only replica.", ErrorKind::read_only},
      {"@user_script: 50: -OOM command not allowed when used memory > 'maxmemory'.", ErrorKind::out_of_memory},
      {"@user_script: 50: -MISCONF Errors writing to the AOF file: No space left on device", ErrorKind::misconfigured},
      {"-NOREPLICAS Not enough good replicas to write.", ErrorKind::no_replicas},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", ErrorKind::wrong_type},
      {"@user_script: 50: Unknown Redis command called from Lua script", ErrorKind::other},
      {"@user_script: 50: -OOMPH", ErrorKind::other},
      {"attempt to index a nil value", ErrorKind::other},
      {"", ErrorKind::other},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(error_kind(std::string(script) + std::string(row.error)), row.kind) << row.error;
  }
  EXPECT_EQ(error_kind("ERR Error running script: -READONLY"), ErrorKind::read_only);
  EXPECT_EQ(error_kind("ERR Error running script"), ErrorKind::other);
  EXPECT_EQ(error_kind("ERR of another kind: -READONLY"), ErrorKind::other);
}

const net::Endpoint asked{"10.0.0.9", 6379, ""};

TEST(Redirect, SaysWhereto) {
  const struct {
    std::string_view error;
    Redirect redirect;
  } rows[] = {
      {"MOVED 3999 127.0.0.1:6381", {ErrorKind::moved, 3999, {"127.0.0.1", 6381, ""}}},
      {"ASK 0 redis.example:1", {ErrorKind::ask, 0, {"redis.example", 1, ""}}},
      {"MOVED 16383 2001:db8::1:65535", {ErrorKind::moved, 16383, {"2001:db8::1", 65535, ""}}},
      {"MOVED 1 :7001", {ErrorKind::moved, 1, {"10.0.0.9", 7001, ""}}},
      {"MOVED 1 10.0.0.1:7001 and more", {ErrorKind::moved, 1, {"10.0.0.1", 7001, ""}}},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_redirect(row.error, asked), row.redirect) << row.error;
}

TEST(Redirect, IsNoneWhereItDoesNotSayWhereto) {
  for (const std::string_view error :
       {"ERR MOVED 1 10.0.0.1:7001", "MOVED", "MOVED 1", "MOVED 1 ", "MOVED x 10.0.0.1:7001", "MOVED -1 10.0.0.1:7001",
        "MOVED 16384 10.0.0.1:7001", "MOVED 1 10.0.0.1", "MOVED 1 10.0.0.1:", "MOVED 1 10.0.0.1:0",
        "MOVED 1 10.0.0.1:65536", "MOVED 1 10.0.0.1:07", "MOVED 1 ?:7001", "TRYAGAIN 1 10.0.0.1:7001"}) {
    EXPECT_FALSE(parse_redirect(error, asked).has_value()) << error;
  }
  EXPECT_FALSE(parse_redirect("MOVED 1 :7001", {"", 0, "/run/redis.sock"}).has_value());
}

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

const net::Endpoint asked_sentinel{"10.0.0.9", 26379, ""};

std::string list(std::initializer_list<std::string_view> texts, char sigil = '*') {
  std::string bytes = sigil + std::to_string(texts.size()) + "\r\n";
  for (const std::string_view text : texts) {
    bytes += '$' + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
  }
  return bytes;
}

TEST(MasterAddress, IsRead) {
  const struct {
    std::string reply;
    net::Endpoint master;
  } rows[] = {
      {list({"10.0.0.1", "6379"}), {"10.0.0.1", 6379, ""}},
      {list({"redis.example", "65535"}), {"redis.example", 65535, ""}},
      {list({"2001:db8::1", "1"}), {"2001:db8::1", 1, ""}},
  };
  for (const auto& row : rows) {
    const ParsedReply reply(row.reply);
    const auto master = read_master_address(reply.get(), "mymaster", asked_sentinel);
    ASSERT_TRUE(master.has_value()) << row.reply;
    EXPECT_EQ(*master, row.master);
  }
}

TEST(MasterAddress, SaysWhatIsWrong) {
  const std::string no_address = "invalid reply from the Sentinel; check that it is a Sentinel";
  const struct {
    std::string reply;
    std::string message;
  } rows[] = {
      {"*-1\r\n",
       "the Sentinel does not know the master mymaster; check `sentinel.master` (`SENTINEL masters` lists the names)"},
      {"-NOAUTH Authentication required.\r\n", "the Sentinel requires a password; set `sentinel.password_file`"},
      {"-NOPERM no permissions\r\n",
       "the Sentinel's user lacks permissions; grant `+sentinel|get-master-addr-by-name`"},
      {"-ERR unknown command 'SENTINEL'\r\n",
       "is not a Sentinel, or rejected the command: ERR unknown command 'SENTINEL'; with `sentinel`, `urls` must "
       "list Sentinels (default port 26379)"},
      {"+OK\r\n", no_address},
      {list({"10.0.0.1"}), no_address},
      {list({"10.0.0.1", "6379", "more"}), no_address},
      {list({"", "6379"}), no_address},
      {list({"10.0.0.1", "0"}), no_address},
      {list({"10.0.0.1", "65536"}), no_address},
      {list({"10.0.0.1", "x"}), no_address},
  };
  for (const auto& row : rows) {
    const ParsedReply reply(row.reply);
    const auto master = read_master_address(reply.get(), "mymaster", asked_sentinel);
    ASSERT_FALSE(master.has_value()) << row.reply;
    EXPECT_EQ(master.error().message(), "10.0.0.9:26379: " + row.message);
  }
}

TEST(ServerRole, IsRead) {
  const struct {
    std::string reply;
    std::optional<ServerRole> role;
  } rows[] = {
      {"*3\r\n$6\r\nmaster\r\n:3129659\r\n*0\r\n", ServerRole::master},
      {list({"slave", "10.0.0.1", "6379", "connected", "0"}), ServerRole::replica},
      {"*2\r\n$8\r\nsentinel\r\n*1\r\n$8\r\nmymaster\r\n", ServerRole::sentinel},
      {list({"king"}), {}},
      {list({}), {}},
      {"$6\r\nmaster\r\n", {}},
      {"-ERR unknown command 'ROLE'\r\n", {}},
  };
  for (const auto& row : rows) {
    const ParsedReply reply(row.reply);
    EXPECT_EQ(read_role(reply.get()), row.role) << row.reply;
  }
}

TEST(MasterSwitch, IsRead) {
  const MasterSwitch expected{"mymaster", {"10.0.0.1", 6379, ""}, {"10.0.0.2", 6380, ""}};
  for (const char sigil : {'*', '>'}) {
    const ParsedReply reply(list({"message", "+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 6380"}, sigil));
    EXPECT_EQ(read_master_switch(reply.get()), expected);
  }
}

TEST(MasterSwitch, IsNoneInWhatIsSomethingElse) {
  for (const std::string& other : {
           std::string("+OK\r\n"),
           std::string("*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n"),
           list({"message", "+sdown", "mymaster 10.0.0.1 6379 10.0.0.2 6380"}),
           list({"message", "+switch-master"}),
           list({"message", "+switch-master", ""}),
           list({"message", "+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2"}),
           list({"message", "+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 "}),
           list({"message", "+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 6380 more"}),
           list({"message", "+switch-master", "mymaster 10.0.0.1 x 10.0.0.2 6380"}),
           list({"message", "+switch-master", "mymaster 10.0.0.1 6379  6380"}),
           list({"message", "+switch-master", " 10.0.0.1 6379 10.0.0.2 6380"}),
       }) {
    const ParsedReply reply(other);
    EXPECT_FALSE(read_master_switch(reply.get()).has_value()) << other;
  }
}

}  // namespace
}  // namespace weir::store::redis
