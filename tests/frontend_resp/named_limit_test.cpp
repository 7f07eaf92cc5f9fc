// WEIR.CHECK, WEIR.PEEK and WEIR.RESET on the limits of a policy.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/talk.h"

namespace weir::frontend {
namespace {

std::string verdict(const std::vector<std::int64_t>& numbers, const std::string& limit, const std::string& reason) {
  std::string text = "*8\r\n";
  for (const std::int64_t number : numbers) text += ':' + std::to_string(number) + "\r\n";
  for (const std::string& word : {limit, reason}) {
    text += word.empty() ? "$-1\r\n" : '$' + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return text;
}

TEST(RespNamedLimit, VerdictsFollowTheLimit) {
  struct Row {
    Duration later;  // time since the previous row
    std::string sent;
    std::string received;
  };
  const std::vector<Row> rows{
      {0s, "WEIR.PEEK api alice", verdict({0, 3, 2, 0, 1'000'000, 0}, "api", "within")},
      {0s, "weir.check api alice", verdict({0, 3, 2, 0, 1'000'000, 0}, "api", "within")},
      {0s, "WEIR.CHECK api alice COST 2", verdict({0, 3, 0, 0, 3'000'000, 0}, "api", "within")},
      {0s, "WEIR.CHECK api alice", verdict({1, 3, 0, 1'000'000, 3'000'000, 0}, "api", "exceeded")},
      {999'999us, "WEIR.CHECK api alice", verdict({1, 3, 0, 1, 2'000'001, 0}, "api", "exceeded")},
      {1us, "WEIR.CHECK api alice", verdict({0, 3, 0, 0, 3'000'000, 0}, "api", "within")},
      {0s, "WEIR.CHECK api user=bob", verdict({0, 3, 2, 0, 1'000'000, 0}, "api", "within")},
      {0s, "WEIR.CHECK api bob COST 4", verdict({1, 3, 2, -1, 1'000'000, 0}, "api", "exceeded")},
      {0s, "WEIR.CHECK api carol TIER pro COST 10", verdict({0, 30, 20, 0, 1'000'000, 0}, "api", "within")},
      {0s, "WEIR.CHECK api dave tier staff", verdict({0, -1, -1, 0, 0, 0}, "", "uncovered")},
      {0s, "WEIR.CHECK mail alice", verdict({0, 3, 2, 0, 1'000'000, 0}, "mail", "within")},
      {0s, "WEIR.CHECK mail alice MAXWAIT 1000", verdict({0, 3, 0, 0, 2'000'000, 1'000'000}, "mail", "within")},
      {0s, "WEIR.CHECK mail alice MAXWAIT 1999", verdict({1, 3, 0, 1'000, 2'000'000, 0}, "mail", "exceeded")},
      {0s, "WEIR.CHECK mail alice", verdict({0, 3, 0, 0, 3'000'000, 2'000'000}, "mail", "within")},
  };
  RespServer server;
  Talk talk(server);
  for (const Row& row : rows) {
    server.clock.advance(row.later);
    EXPECT_EQ(talk.send(row.sent + "\r\n"), row.received) << row.sent;
  }
}

TEST(RespNamedLimit, ThirdVersionNamesTheParts) {
  RespServer server;
  Talk talk(server);
  (void)talk.send("HELLO 3\r\n");
  EXPECT_EQ(
      talk.send("WEIR.CHECK api alice\r\n"),
      "%8\r\n$8\r\nadmitted\r\n#t\r\n$5\r\nquota\r\n:3\r\n$9\r\nremaining\r\n:2\r\n$14\r\nretry_after_us\r\n:0\r\n"
      "$14\r\nreset_after_us\r\n:1000000\r\n$8\r\ndelay_us\r\n:0\r\n$5\r\nlimit\r\n$3\r\napi\r\n"
      "$6\r\nreason\r\n$6\r\nwithin\r\n");
}

TEST(RespNamedLimit, ResetGivesAConsumerAFreshStart) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  EXPECT_EQ(talk.send("AUTH \"key of the admin\"\r\n"), "+OK\r\n");
  const std::string full = verdict({0, 3, 0, 0, 3'000'000, 0}, "api", "within");
  EXPECT_EQ(talk.send("WEIR.CHECK api alice COST 3\r\nWEIR.RESET api alice\r\nWEIR.CHECK api alice COST 3\r\n"),
            full + "+OK\r\n" + full);
}

TEST(RespNamedLimit, MistakesAreNamed) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  (void)talk.send("AUTH \"key of the admin\"\r\n");
  struct Row {
    std::string sent;
    std::string received;  // a part of it
  };
  const std::vector<Row> rows{
      {"WEIR.CHECK api", "-ERR wrong number of arguments for 'weir.check' command\r\n"},
      {"WEIR.CHECK api alice COST x", "-ERR value is not an integer or out of range\r\n"},
      {"WEIR.CHECK api alice COST -1", "-ERR value is not an integer or out of range\r\n"},
      {"WEIR.CHECK api alice MAXWAIT 9223372036854775807", "-ERR value is not an integer or out of range\r\n"},
      {"WEIR.CHECK api alice PRICE 1", "-ERR syntax error\r\n"},
      {"WEIR.CHECK apy alice", "api"},
      {"WEIR.RESET apy alice", "api"},
      {"WEIR.CHECK api alice TIER prp", "prp"},
  };
  for (const Row& row : rows) {
    const std::string received = talk.send(row.sent + "\r\n");
    EXPECT_TRUE(received.starts_with("-ERR ")) << row.sent << ": " << received;
    EXPECT_NE(received.find(row.received), std::string::npos) << row.sent << ": " << received;
    EXPECT_EQ(received.find('\n'), received.size() - 1) << received;
  }
}

TEST(RespNamedLimit, ConsumerThatCouldBeTwoIsEvaluatedButNeitherLookedAtNorReset) {
  const policy::Loaded loaded = policy::load_text(
      "version: 1\nlimits:\n  - { name: all, consumer_key: [user, ip], algorithm: fixed_window, rate: 1/h }\n",
      "p.yaml");
  RespServer server({.limits = {}, .token = {}, .admin_token = Token("key")});
  ASSERT_TRUE(server.engine->reload(loaded.ruleset, server.clock));
  Talk talk(server);
  EXPECT_TRUE(talk.send("WEIR.CHECK all 127.0.0.1\r\n").starts_with("*8\r\n:0\r\n"));
  EXPECT_TRUE(talk.send("WEIR.CHECK all user=127.0.0.1\r\n").starts_with("*8\r\n:1\r\n"));
  const std::string both = "-ERR consumer: ambiguous: write 'user=127.0.0.1' or 'ip=127.0.0.1'\r\n";
  EXPECT_EQ(talk.send("WEIR.PEEK all 127.0.0.1\r\n"), both);
  EXPECT_EQ(talk.send("AUTH key\r\nWEIR.RESET all 127.0.0.1\r\n"), "+OK\r\n" + both);
  EXPECT_TRUE(talk.send("WEIR.CHECK all user=127.0.0.1\r\n").starts_with("*8\r\n:1\r\n")) << "it was not reset";
  EXPECT_EQ(talk.send("WEIR.RESET all user=127.0.0.1\r\n"), "+OK\r\n");
  EXPECT_TRUE(talk.send("WEIR.CHECK all user=127.0.0.1\r\n").starts_with("*8\r\n:0\r\n"));
}

// Each reset is reported with the consumer's key. Text that is not a consumer of the limit is not repeated, because it
// may be anyone's name.
TEST(RespNamedLimit, EveryResetIsReported) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  (void)talk.send("AUTH secret\r\nWEIR.RESET api alice\r\n");
  EXPECT_TRUE(server.resets.empty()) << "it may not reset";
  (void)talk.send(
      "AUTH \"key of the admin\"\r\nCL.THROTTLE k 1 1 1\r\nWEIR.CHECK api alice\r\nWEIR.RESET api alice\r\n"
      "WEIR.RESET alice api\r\nWEIR.RESET api user=\r\nMULTI\r\nWEIR.RESET mail bob\r\nEXEC\r\n");
  EXPECT_EQ(server.resets,
            (std::vector<std::string>{"done: api user=alice", "failed: ", "failed: api", "done: mail user=bob"}));
}

TEST(RespNamedLimit, ResetOfAStateThatOthersShareIsAnError) {
  const policy::Loaded loaded = policy::load_text(
      "version: 1\nlimits:\n  - { name: all, consumer_key: user, algorithm: sliding_window_log, rate: 60000/h }\n",
      "p");
  RespServer server({.limits = {}, .token = {}, .admin_token = Token("key")});
  ASSERT_TRUE(server.engine->reload(loaded.ruleset, server.clock));
  Talk talk(server);
  int last = 0;
  while (server.engine->bindings()->tables().overflowed() == 0) {
    (void)talk.send("WEIR.CHECK all user=" + std::to_string(last++) + "\r\n");
  }
  const std::string name = "user=" + std::to_string(last - 1);
  EXPECT_TRUE(talk.send("AUTH key\r\nWEIR.RESET all " + name + "\r\n")
                  .starts_with("+OK\r\n-ERR consumer: shares a state with other consumers because memory is full"));
  EXPECT_EQ(server.resets, std::vector<std::string>{"failed: all " + name});
}

}  // namespace
}  // namespace weir::frontend
