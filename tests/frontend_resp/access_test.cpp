// Access control: without a token, with the frontend's token, with the admin token.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/talk.h"

namespace weir::frontend::access_tests {
namespace {

constexpr std::string_view no_auth = "-NOAUTH Authentication required.\r\n";
constexpr std::string_view wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

TEST(RespAccess, StrangersMayShowATokenAndLittleElse) {
  RespServer server(asking_for_tokens());
  for (const std::string sent :
       {"PING", "CL.THROTTLE k 1 1 1", "WEIR.CHECK api alice", "WEIR.PEEK api alice", "WEIR.RESET api alice", "INFO",
        "COMMAND", "COMMAND COUNT", "CONFIG GET save", "CLIENT ID", "CLIENT REPLY OFF", "SELECT 0", "ECHO a"}) {
    EXPECT_EQ(Talk(server).send(sent + "\r\n"), no_auth) << sent;
  }
  EXPECT_EQ(Talk(server).send("RESET\r\n"), "+RESET\r\n");
  EXPECT_EQ(Talk(server).send("QUIT\r\n"), "+OK\r\n");
  EXPECT_EQ(Talk(server).send("GET\r\n"), "-ERR unknown command 'GET', with args beginning with: \r\n");
  EXPECT_TRUE(Talk(server).send("HELLO 3\r\n").starts_with("-NOAUTH HELLO must be called"));
}

TEST(RespAccess, EachTokenOpensWhatItIsFor) {
  struct Row {
    std::string sent;
    std::string received;
    bool may_ask;
    bool may_reset;
  };
  const std::vector<Row> rows{
      {"AUTH secret", "+OK\r\n", true, false},
      {"AUTH default secret", "+OK\r\n", true, false},
      {"AUTH anybody secret", "+OK\r\n", true, false},
      {"AUTH \"key of the admin\"", "+OK\r\n", true, true},
      {"AUTH admin \"key of the admin\"", "+OK\r\n", true, true},
      {"AUTH secre", std::string(wrong), false, false},
      {"AUTH secret2", std::string(wrong), false, false},
      {"AUTH secret default", std::string(wrong), false, false},
      {"AUTH \"\"", std::string(wrong), false, false},
      {"HELLO 2 AUTH default nonsense", std::string(wrong), false, false},
  };
  for (const Row& row : rows) {
    RespServer server(asking_for_tokens());
    Talk talk(server);
    EXPECT_EQ(talk.send(row.sent + "\r\n"), row.received) << row.sent;
    EXPECT_EQ(talk.send("PING\r\n"), row.may_ask ? "+PONG\r\n" : no_auth) << row.sent;
    EXPECT_EQ(talk.send("WEIR.RESET api alice\r\n") == "+OK\r\n", row.may_reset) << row.sent;
  }
}

TEST(RespAccess, HelloCanShowTheToken) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  EXPECT_TRUE(talk.send("HELLO 3 AUTH default secret\r\n").starts_with("%8\r\n"));
  EXPECT_EQ(talk.send("PING\r\n"), "+PONG\r\n");
}

TEST(RespAccess, FailedAuthKeepsWhatWasShownBefore) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  EXPECT_EQ(talk.send("AUTH secret\r\nAUTH wrong\r\nPING\r\n"), "+OK\r\n" + std::string(wrong) + "+PONG\r\n");
}

TEST(RespAccess, ResetAndALesserTokenTakeRightsAway) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  EXPECT_EQ(talk.send("AUTH \"key of the admin\"\r\nWEIR.RESET api alice\r\n"), "+OK\r\n+OK\r\n");
  EXPECT_EQ(talk.send("AUTH secret\r\nWEIR.RESET api alice\r\n"),
            "+OK\r\n-NOPERM WEIR.RESET requires the admin token: send it by AUTH first\r\n");
  EXPECT_EQ(talk.send("RESET\r\nPING\r\n"), "+RESET\r\n" + std::string(no_auth));
}

TEST(RespAccess, WithoutTokensAllMayCheckAndResetsAreDisabled) {
  RespServer server;
  Talk talk(server);
  EXPECT_EQ(talk.send("PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(talk.send("AUTH default anything\r\n"), "+OK\r\n");
  EXPECT_TRUE(talk.send("HELLO 2 AUTH default anything\r\n").starts_with("*16\r\n"));
  EXPECT_EQ(talk.send("WEIR.RESET api alice\r\n"),
            "-NOPERM WEIR.RESET requires the admin token, and this server has none\r\n");
}

TEST(RespAccess, AdminTokenAloneLeavesTheFrontendOpen) {
  RespServer server({.limits = {}, .token = {}, .admin_token = Token("key")});
  Talk talk(server);
  EXPECT_EQ(talk.send("PING\r\nAUTH nonsense\r\nPING\r\n"), "+PONG\r\n" + std::string(wrong) + "+PONG\r\n");
  EXPECT_EQ(talk.send("AUTH key\r\nWEIR.RESET api alice\r\n"), "+OK\r\n+OK\r\n");
}

TEST(RespAccess, StrangersAreHeldToShortCommands) {
  RespServer server(asking_for_tokens());
  Talk stranger(server);
  EXPECT_EQ(stranger.send("*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n");
  Talk known(server);
  EXPECT_EQ(known.send("AUTH secret\r\n*11\r\n"), "+OK\r\n");
  EXPECT_FALSE(known.closed());
}

}  // namespace
}  // namespace weir::frontend::access_tests
