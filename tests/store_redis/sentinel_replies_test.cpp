// What Sentinels say.
#include "store/redis/sentinel_replies.h"

#include <gtest/gtest.h>

#include "tests/store_redis/parsed_reply.h"

namespace weir::store::redis {
namespace {

const net::Endpoint asked{"10.0.0.9", 26379, ""};

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
    const auto master = read_master_address(reply.get(), "mymaster", asked);
    ASSERT_TRUE(master.has_value()) << row.reply;
    EXPECT_EQ(*master, row.master);
  }
}

TEST(MasterAddress, SaysWhatIsWrong) {
  const std::string no_address = "the Sentinel's answer is no address; check that it is a Sentinel";
  const struct {
    std::string reply;
    std::string message;
  } rows[] = {
      {"*-1\r\n",
       "the Sentinel knows no master called mymaster; check `sentinel.master`, `SENTINEL masters` lists the names"},
      {"-NOAUTH Authentication required.\r\n", "the Sentinel wants a password; give it as `sentinel.password_file`"},
      {"-NOPERM no permissions\r\n", "the Sentinel's user may not ask; allow him `+sentinel|get-master-addr-by-name`"},
      {"-ERR unknown command 'SENTINEL'\r\n",
       "is no Sentinel, or refuses to answer: ERR unknown command 'SENTINEL'; with `sentinel`, the urls are those of "
       "Sentinels (port 26379 by default)"},
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
    const auto master = read_master_address(reply.get(), "mymaster", asked);
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
