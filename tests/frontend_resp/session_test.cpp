// Commands and their exact replies.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/talk.h"

namespace weir::frontend::session_tests {
namespace {

struct Row {
  std::string sent;
  std::string received;
};

void expect_rows(const std::vector<Row>& rows, const RespOptions& options = {}) {
  for (const Row& row : rows) {
    RespServer server(options);
    Talk at_once(server);
    EXPECT_EQ(at_once.send(row.sent), row.received) << row.sent;
    RespServer other(options);
    Talk spelt(other);
    EXPECT_EQ(spelt.spell(row.sent), row.received) << "byte by byte: " << row.sent;
    EXPECT_EQ(spelt.closed(), at_once.closed()) << row.sent;
  }
}

TEST(RespSession, AnswersWhatClientsSend) {
  expect_rows({
      {"PING\r\n", "+PONG\r\n"},
      {"ping hey\r\n", "$3\r\nhey\r\n"},
      {"ECHO \"a b\"\r\n", "$3\r\na b\r\n"},
      {"*1\r\n$4\r\nPiNg\r\n", "+PONG\r\n"},
      {"SELECT 0\r\n", "+OK\r\n"},
      {"SELECT 1\r\n", "-ERR DB index is out of range\r\n"},
      {"SELECT x\r\n", "-ERR value is not an integer or out of range\r\n"},
      {"CLIENT GETNAME\r\nCLIENT SETNAME me\r\nCLIENT GETNAME\r\n", "$-1\r\n+OK\r\n$2\r\nme\r\n"},
      {"CLIENT SETNAME \"a b\"\r\n", "-ERR Client names cannot contain spaces, newlines or special characters.\r\n"},
      {"CLIENT SETINFO LIB-NAME x\r\nCLIENT SETINFO lib-ver 1.2\r\n", "+OK\r\n+OK\r\n"},
      {"CLIENT SETINFO LIB-AGE 7\r\n", "-ERR Unrecognized option 'LIB-AGE'\r\n"},
      {"CLIENT NO-EVICT ON\r\nCLIENT NO-TOUCH off\r\nCLIENT NO-EVICT maybe\r\n", "+OK\r\n+OK\r\n-ERR syntax error\r\n"},
      {"CONFIG GET save\r\n", "*2\r\n$4\r\nsave\r\n$0\r\n\r\n"},
      {"CONFIG GET append?n* MAXMEMORY\r\n", "*4\r\n$10\r\nappendonly\r\n$2\r\nno\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n"},
      {"CONFIG GET nothing\r\n", "*0\r\n"},
      {"COMMAND COUNT\r\n", ":23\r\n"},
      {"COMMAND INFO nothing\r\n", "*1\r\n$-1\r\n"},
      {"COMMAND INFO ping\r\n",
       "*1\r\n*10\r\n$4\r\nping\r\n:-1\r\n*1\r\n+fast\r\n:0\r\n:0\r\n:0\r\n*0\r\n*0\r\n*0\r\n*0\r\n"},
      {"COMMAND DOCS echo\r\n",
       "*2\r\n$4\r\necho\r\n*4\r\n$7\r\nsummary\r\n$19\r\nReturns the message\r\n$5\r\ngroup\r\n$10\r\nconnection\r\n"},
      {"INFO persistence\r\n", "$26\r\n# Persistence\r\nloading:0\r\n\r\n"},
      {"CONFIG HELP\r\n",
       "*3\r\n+CONFIG <subcommand> [<arg> ...]. Subcommands are:\r\n+GET pattern ...\r\n"
       "+    Returns the settings that clients read.\r\n"},
      {"\r\n\r\n*0\r\nPING\r\n", "+PONG\r\n"},
  });
}

TEST(RespSession, ErrorsAreThoseOfRedis) {
  expect_rows({
      {"GET a\r\n", "-ERR unknown command 'GET', with args beginning with: 'a' \r\n"},
      {"WATCH a\r\n", "-ERR unknown command 'WATCH', with args beginning with: 'a' \r\n"},
      {"PING a b\r\n", "-ERR wrong number of arguments for 'ping' command\r\n"},
      {"ECHO\r\n", "-ERR wrong number of arguments for 'echo' command\r\n"},
      {"CLIENT\r\n", "-ERR wrong number of arguments for 'client' command\r\n"},
      {"CLIENT SETNAME\r\n", "-ERR wrong number of arguments for 'client|setname' command\r\n"},
      {"CLIENT KILL x\r\n", "-ERR unknown subcommand 'KILL'. Try CLIENT HELP.\r\n"},
      {"CONFIG SET save x\r\n", "-ERR unknown subcommand 'SET'. Try CONFIG HELP.\r\n"},
      {"HELLO 4\r\n", "-NOPROTO unsupported protocol version\r\n"},
      {"HELLO x\r\n", "-ERR Protocol version is not an integer or out of range\r\n"},
      {"HELLO 3 FOO\r\n", "-ERR Syntax error in HELLO option 'FOO'\r\n"},
      {"HELLO 3 AUTH me\r\n", "-ERR Syntax error in HELLO option 'AUTH'\r\n"},
      {"AUTH a b c\r\n", "-ERR syntax error\r\n"},
      {"AUTH x\r\n",
       "-ERR AUTH <password> called without any password configured for the default user. "
       "Are you sure your configuration is correct?\r\n"},
  });
}

TEST(RespSession, ErrorStaysInItsPlaceOfThePipeline) {
  const std::string throttle = "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:1\r\n";
  expect_rows({
      {"CL.THROTTLE a 1 1 1\r\nCL.THROTTLE b x 1 1\r\nCL.THROTTLE c 1 1 1\r\nGET x\r\nCL.THROTTLE d 1 1 1\r\nPING\r\n",
       throttle + "-Cell error: Store error: Couldn't parse as integer: x\r\n" + throttle +
           "-ERR unknown command 'GET', with args beginning with: 'x' \r\n" + throttle + "+PONG\r\n"},
      {"PING\r\nWEIR.CHECK api alice COST\r\nPING\r\n", "+PONG\r\n-ERR syntax error\r\n+PONG\r\n"},
      {"*2\r\n$4\r\nECHO\r\n$6\r\na\r\nb\r\n\r\nPING\r\n", "$6\r\na\r\nb\r\n\r\n+PONG\r\n"},
      {"*1\r\n$4\r\nA\r\nB\r\nPING\r\n", "-ERR unknown command 'A  B', with args beginning with: \r\n+PONG\r\n"},
  });
}

TEST(RespSession, ProtocolErrorIsAnsweredBehindTheRestAndEndsTheConnection) {
  const std::string throttle = "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:1\r\n";
  const std::vector<Row> rows{
      {"CL.THROTTLE a 1 1 1\r\n*1\r\n:1\r\nPING\r\n", throttle + "-ERR Protocol error: expected '$', got ':'\r\n"},
      {"PING\r\n*1\r\n$-1\r\n", "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n"},
      {"*9999999\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
      {"CL.THROTTLE a 1 1 1\r\nPOST / HTTP/1.1\r\nHost: here\r\n\r\nPING\r\n", throttle},
      {"Host: here\r\nPING\r\n", ""},
      {"PING\r\nQUIT\r\nPING\r\n", "+PONG\r\n+OK\r\n"},
  };
  expect_rows(rows);
  for (const Row& row : rows) {
    RespServer server;
    Talk talk(server);
    (void)talk.send(row.sent);
    EXPECT_TRUE(talk.closed()) << row.sent;
  }
}

TEST(RespSession, SecondVersionAndThirdSaySameThingsInTheirWays) {
  RespServer server;
  Talk talk(server);
  const std::string in_second = talk.send("HELLO 2\r\n");
  EXPECT_TRUE(in_second.starts_with("*16\r\n$6\r\nserver\r\n$5\r\nredis\r\n")) << in_second;
  EXPECT_NE(in_second.find("$5\r\nproto\r\n:2\r\n"), std::string::npos);
  const std::string in_third = talk.send("HELLO 3 SETNAME me\r\n");
  EXPECT_TRUE(in_third.starts_with("%8\r\n$6\r\nserver\r\n$5\r\nredis\r\n")) << in_third;
  EXPECT_NE(in_third.find("$5\r\nproto\r\n:3\r\n"), std::string::npos);
  EXPECT_EQ(talk.send("HELLO\r\n"), in_third);
  EXPECT_EQ(talk.send("CLIENT GETNAME\r\nCLIENT SETNAME \"\"\r\nCLIENT GETNAME\r\n"), "$2\r\nme\r\n+OK\r\n_\r\n");
  EXPECT_EQ(talk.send("CONFIG GET save\r\n"), "%1\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(talk.send("INFO persistence\r\n"), "=30\r\ntxt:# Persistence\r\nloading:0\r\n\r\n");
  EXPECT_EQ(talk.send("CL.THROTTLE k 1 1 1\r\n"), "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:1\r\n");
  EXPECT_EQ(talk.send("RESET\r\nCLIENT GETNAME\r\n"), "+RESET\r\n$-1\r\n");
}

TEST(RespSession, RefusedHelloChangesNothing) {
  RespServer server;
  Talk talk(server);
  EXPECT_EQ(talk.send("HELLO 3 SETNAME me FOO\r\n"), "-ERR Syntax error in HELLO option 'FOO'\r\n");
  EXPECT_EQ(talk.send("CLIENT GETNAME\r\n"), "$-1\r\n");
}

TEST(RespSession, RepliesAreLeftOutWhenTheClientWantsNone) {
  expect_rows({
      {"CLIENT REPLY OFF\r\nPING\r\nGET x\r\nCL.THROTTLE a 1 1 1\r\nCLIENT REPLY ON\r\nPING\r\n", "+OK\r\n+PONG\r\n"},
      {"CLIENT REPLY SKIP\r\nPING\r\nECHO a\r\n", "$1\r\na\r\n"},
      {"CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\n", "+PONG\r\n"},
      {"CLIENT REPLY SKIP\r\nCL.THROTTLE a 1 1 1\r\nCL.THROTTLE a 1 1 1\r\n", "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:2\r\n"},
      {"CLIENT REPLY OFF\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\nCLIENT REPLY ON\r\n", "+OK\r\n"},
      {"CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\n", "+OK\r\n"},
      {"CLIENT REPLY never\r\n", "-ERR syntax error\r\n"},
  });
}

TEST(RespSession, ConnectionIsDescribedToItself) {
  RespServer server;
  Talk talk(server, "2001:db8::1");
  (void)talk.send("CLIENT SETNAME me\r\nCLIENT SETINFO LIB-NAME lib\r\n");
  const std::string info = talk.send("CLIENT INFO\r\n");
  EXPECT_NE(info.find(" addr=[2001:db8::1]:4711 name=me db=0 user=default resp=2 lib-name=lib lib-ver=\n"),
            std::string::npos)
      << info;
  EXPECT_EQ(talk.send("CLIENT LIST\r\n"), info);
  EXPECT_NE(talk.send("CLIENT ID\r\n"), Talk(server).send("CLIENT ID\r\n"));
}

TEST(RespSession, StopsWhenTheClientDoesNotReadAndGoesOnLater) {
  RespServer server;
  Talk talk(server);
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += "CL.THROTTLE a 9999 1 1\r\n";
  net::Output little(100);
  const std::size_t consumed = talk.offer(bytes, little);
  EXPECT_TRUE(little.full());
  EXPECT_LT(consumed, bytes.size());
  EXPECT_EQ(consumed % std::string_view("CL.THROTTLE a 9999 1 1\r\n").size(), 0U);
  bytes.erase(0, consumed);
  net::Output rest;
  EXPECT_EQ(talk.offer(bytes, rest), bytes.size());
  EXPECT_TRUE(rest.bytes().ends_with("*5\r\n:0\r\n:10000\r\n:9000\r\n:-1\r\n:1000\r\n"));
}

}  // namespace
}  // namespace weir::frontend::session_tests
