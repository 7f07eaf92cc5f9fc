// MULTI, EXEC and DISCARD: charges and replies.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/resp/transaction.h"
#include "tests/frontend_resp/shared_resp.h"
#include "tests/frontend_resp/talk.h"

namespace weir::frontend::transaction_tests {
namespace {

const std::string throttle = "CL.THROTTLE key 1 1 60\r\n";
const std::string check = "WEIR.CHECK api alice\r\n";
const std::string ok = "+OK\r\n";
const std::string queued = "+QUEUED\r\n";
const std::string allowed = "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:60\r\n";
const std::string allowed_again = "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:120\r\n";
const std::string limited = "*5\r\n:1\r\n:2\r\n:0\r\n:60\r\n:120\r\n";
const std::string passed = "*8\r\n:0\r\n:3\r\n:2\r\n:0\r\n:1000000\r\n:0\r\n$3\r\napi\r\n$6\r\nwithin\r\n";
const std::string aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";

// Sends CL.THROTTLE on another connection. The reply shows what has been charged so far.
std::string throttle_reply(RespServer& server) {
  return Talk(server).send(throttle);
}

TEST(RespTransaction, CommandsRunAtExecInTheirOrderAndAnswerAsOneArray) {
  RespServer server;
  Talk talk(server);
  EXPECT_EQ(talk.send("MULTI\r\n" + throttle + check + throttle + "PING\r\n" + throttle),
            ok + queued + queued + queued + queued + queued);
  EXPECT_EQ(talk.send("EXEC\r\n"), "*5\r\n" + allowed + passed + allowed_again + "+PONG\r\n" + limited);
  EXPECT_EQ(talk.send(throttle + "EXEC\r\n"), limited + "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(server.frontend.requests(), 9U);
}

// The commands that go-redis sends for TxPipelined on a new connection.
TEST(RespTransaction, OfGoRedisRunsInOneWrite) {
  RespServer server;
  Talk talk(server);
  const std::string greeting = talk.send("hello 2\r\nclient setinfo LIB-NAME go-redis\r\n");
  EXPECT_TRUE(greeting.ends_with(ok)) << greeting;
  EXPECT_EQ(talk.send("multi\r\n" + throttle + throttle + "exec\r\n"),
            ok + queued + queued + "*2\r\n" + allowed + allowed_again);
}

TEST(RespTransaction, SpeltByteByByteItIsTheSame) {
  RespServer server;
  EXPECT_EQ(Talk(server).spell("MULTI\r\n" + throttle + "ECHO \"a b\"\r\nEXEC\r\nPING\r\n"),
            ok + queued + queued + "*2\r\n" + allowed + "$3\r\na b\r\n+PONG\r\n");
}

TEST(RespTransaction, ThirdVersionAnswersAsOneArrayOfItsOwnKinds) {
  RespServer server;
  Talk talk(server);
  (void)talk.send("HELLO 3\r\n");
  const std::string received = talk.send("MULTI\r\nCLIENT GETNAME\r\n" + check + throttle + "EXEC\r\n");
  EXPECT_TRUE(received.starts_with(ok + queued + queued + queued + "*3\r\n_\r\n%8\r\n$8\r\nadmitted\r\n#t\r\n"))
      << received;
  EXPECT_TRUE(received.ends_with(allowed)) << received;
}

TEST(RespTransaction, NothingIsChargedBeforeExec) {
  for (const std::string end : {"", "DISCARD\r\n", "RESET\r\n", "QUIT\r\n", "*1\r\n!", "NOSUCH\r\nEXEC\r\n"}) {
    RespServer server;
    (void)Talk(server).send("MULTI\r\n" + throttle + throttle + end);
    EXPECT_EQ(throttle_reply(server), allowed) << end;
  }
}

TEST(RespTransaction, CommandThatIsRefusedSpoilsIt) {
  for (const std::string wrong :
       {"GET a\r\n", "ECHO\r\n", "WEIR.CHECK api\r\n", "CLIENT NOSUCH\r\n", "CLIENT REPLY OFF\r\n", "WATCH key\r\n"}) {
    RespServer server;
    Talk talk(server);
    const std::string received = talk.send("MULTI\r\n" + throttle + wrong + throttle + "EXEC\r\nPING\r\n");
    EXPECT_TRUE(received.starts_with(ok + queued + "-ERR ")) << received;
    EXPECT_TRUE(received.ends_with(queued + aborted + "+PONG\r\n")) << received;
    EXPECT_EQ(throttle_reply(server), allowed) << wrong;
  }
}

TEST(RespTransaction, WhatFailsWhenItRunsLeavesTheOthers) {
  RespServer server;
  EXPECT_EQ(
      Talk(server).send("MULTI\r\nCL.THROTTLE key x 1 1\r\n" + throttle + "WEIR.CHECK api alice COST\r\nEXEC\r\n"),
      ok + queued + queued + queued + "*3\r\n-Cell error: Store error: Couldn't parse as integer: x\r\n" + allowed +
          "-ERR syntax error\r\n");
}

TEST(RespTransaction, SubcommandsAndTheirHelpAreKeptToo) {
  RespServer server;
  const std::string received =
      Talk(server).send("MULTI\r\nCONFIG HELP\r\nCLIENT SETNAME me\r\nEXEC\r\nCLIENT GETNAME\r\n");
  EXPECT_TRUE(received.starts_with(ok + queued + queued + "*2\r\n*3\r\n+CONFIG <subcommand>")) << received;
  EXPECT_TRUE(received.ends_with(ok + "$2\r\nme\r\n")) << received;
}

TEST(RespTransaction, NoMoreCommandsAreKeptThanTheBound) {
  RespServer server;
  Talk talk(server);
  std::string all = "MULTI\r\n";
  for (std::size_t i = 0; i < Transaction::max_commands; ++i) all += throttle;
  EXPECT_TRUE(talk.send(all).ends_with(queued));
  EXPECT_EQ(talk.send(throttle), "-ERR transaction too large: at most 4096 commands and 1048576 bytes\r\n");
  EXPECT_EQ(talk.send("EXEC\r\n"), aborted);
  EXPECT_EQ(throttle_reply(server), allowed);
}

TEST(RespTransaction, NoMoreBytesAreKeptThanOneCommandMayHave) {
  RespServer server({.limits = {.command_length = 1'000}, .token = {}, .admin_token = {}});
  Talk talk(server);
  const std::string echo = "ECHO " + std::string(400, 'x') + "\r\n";
  EXPECT_EQ(talk.send("MULTI\r\n" + throttle + echo + echo + echo),
            ok + queued + queued + queued + "-ERR transaction too large: at most 4096 commands and 1000 bytes\r\n");
  EXPECT_EQ(talk.send("EXEC\r\n"), aborted);
  EXPECT_EQ(throttle_reply(server), allowed);
}

TEST(RespTransaction, ArgumentsOfNoLengthTakeRoomToo) {
  Transaction transaction(1'000, std::make_shared<TransactionBudget>());
  const std::vector<std::string_view> empty(200);
  EXPECT_EQ(transaction.add(empty), Transaction::Added::queued);
  EXPECT_EQ(transaction.add(empty), Transaction::Added::too_long);
  EXPECT_TRUE(transaction.aborted());
}

// Each of these takes 128 KiB, twice its size.
const std::string large_echo = "ECHO " + std::string(60'000, 'x') + "\r\n";
constexpr std::size_t room_for_two = std::size_t{256} << 10;
const std::string no_memory =
    "-OOM the transactions of all connections exceed 262144 bytes: retry later, or use smaller transactions\r\n";

TEST(RespTransaction, AllConnectionsTogetherKeepNoMoreThanTheBudget) {
  RespServer server({}, room_for_two);
  Talk first(server);
  Talk second(server);
  Talk third(server);
  EXPECT_EQ(first.send("MULTI\r\n" + large_echo), ok + queued);
  EXPECT_EQ(second.send("MULTI\r\n" + large_echo), ok + queued);
  EXPECT_EQ(server.transaction_budget->used(), room_for_two);
  EXPECT_EQ(third.send("MULTI\r\n" + throttle + large_echo + throttle), ok + queued + no_memory + queued);
  EXPECT_EQ(third.send("EXEC\r\n"), aborted);
  EXPECT_EQ(throttle_reply(server), allowed) << "nothing of it was charged";
  EXPECT_EQ(Talk(server).send("MULTI\r\n" + throttle + "EXEC\r\n"), ok + queued + "*1\r\n" + allowed_again)
      << "a small one works all the same";
  EXPECT_EQ(first.send(large_echo), no_memory) << "also for a transaction that has some";
  EXPECT_EQ(server.transaction_budget->used(), room_for_two / 2) << "which is aborted and keeps nothing";
}

TEST(RespTransaction, MemoryIsGivenBackHoweverATransactionEnds) {
  for (const std::string end :
       {"EXEC\r\n", "DISCARD\r\n", "RESET\r\n", "QUIT\r\n", "NOSUCH\r\n", "EXEC 1\r\n", "*1\r\n!", ""}) {
    RespServer server({}, room_for_two);
    {
      Talk talk(server);
      EXPECT_EQ(talk.send("MULTI\r\n" + large_echo), ok + queued);
      EXPECT_EQ(server.transaction_budget->used(), room_for_two / 2);
      (void)talk.send(end);
      const bool closes = end.empty() || end.starts_with("QUIT") || end.starts_with("*");
      EXPECT_EQ(server.transaction_budget->used(), closes ? room_for_two / 2 : 0) << end;
    }
    EXPECT_EQ(server.transaction_budget->used(), 0U) << end;
  }
}

TEST(RespTransaction, RepliesThatAreNotWantedAreNotSent) {
  RespServer server;
  EXPECT_EQ(
      Talk(server).send("CLIENT REPLY OFF\r\nMULTI\r\nPING\r\n" + throttle + "EXEC\r\nCLIENT REPLY ON\r\nPING\r\n"),
      "+OK\r\n+PONG\r\n");
  EXPECT_EQ(throttle_reply(server), allowed_again);
}

TEST(RespTransaction, StopsWhenTheClientDoesNotReadAndGoesOnLater) {
  RespServer server;
  Talk talk(server);
  std::string bytes = "MULTI\r\n";
  for (int i = 0; i < 1'000; ++i) bytes += "CL.THROTTLE a 9999 1 1\r\nINFO\r\n";
  EXPECT_TRUE(talk.send(bytes).ends_with(queued));
  std::string exec = "EXEC\r\nPING\r\n";
  std::string received;
  int rounds = 0;
  while (!exec.empty() && rounds < 10'000) {
    net::Output little(1'000);
    exec.erase(0, talk.offer(exec, little));
    EXPECT_LT(little.bytes().size(), 5'000U);
    received += little.bytes();
    ++rounds;
  }
  EXPECT_GT(rounds, 10);
  EXPECT_TRUE(received.starts_with("*2000\r\n*5\r\n:0\r\n:10000\r\n:9999\r\n")) << received.substr(0, 60);
  EXPECT_NE(received.find(":9000\r\n:-1\r\n:1000\r\n"), std::string::npos);
  EXPECT_TRUE(received.ends_with("+PONG\r\n"));
  EXPECT_EQ(server.frontend.requests(), 2'003U) << "none was counted twice";
}

TEST(RespTransaction, StrangersHaveNone) {
  RespServer server(asking_for_tokens());
  const std::string no_auth = "-NOAUTH Authentication required.\r\n";
  EXPECT_EQ(Talk(server).send("MULTI\r\nDISCARD\r\n" + throttle), no_auth + no_auth + no_auth);
  EXPECT_EQ(Talk(server).send("AUTH secret\r\nMULTI\r\nWEIR.RESET api alice\r\nAUTH \"key of the admin\"\r\n"
                              "WEIR.RESET api alice\r\nEXEC\r\n"),
            ok + ok + queued + queued + queued +
                "*3\r\n-NOPERM WEIR.RESET requires the admin token: send it by AUTH first\r\n" + ok + ok);
}

TEST(SharedRespTransaction, VerdictsThatComeLaterKeepTheirOrder) {
  SharedResp server;
  Conversation talk = server.connect();
  EXPECT_EQ(talk.send("MULTI\r\n" + throttle + check + "PING\r\n" + throttle + "NOSUCH"),
            ok + queued + queued + queued + queued);
  EXPECT_EQ(server.store.waiting(), 0U) << "nothing is asked before EXEC";
  EXPECT_EQ(
      talk.send("\r\nDISCARD\r\nMULTI\r\n" + throttle + check + "PING\r\n" + throttle + throttle + "EXEC\r\nPING\r\n"),
      "-ERR unknown command 'NOSUCH', with args beginning with: \r\n" + ok + ok + queued + queued + queued + queued +
          queued + "*5\r\n");
  EXPECT_TRUE(talk.paused());
  EXPECT_FALSE(talk.idle());
  EXPECT_EQ(server.let_store_answer(talk), allowed + passed + "+PONG\r\n" + allowed_again + limited + "+PONG\r\n");
  EXPECT_TRUE(talk.idle());
}

TEST(SharedRespTransaction, LongOneIsAskedABatchAtATime) {
  SharedResp server;
  Conversation talk = server.connect();
  std::string all = "MULTI\r\n";
  std::string expected = "*150\r\n";
  for (int i = 0; i < 150; ++i) {
    all += "CL.THROTTLE 'key " + std::to_string(i) + "' 1 1 60\r\n";
    expected += allowed;
  }
  EXPECT_TRUE(talk.send(all).ends_with(queued));
  std::string received = talk.send("EXEC\r\n");
  EXPECT_EQ(server.store.waiting(), CommandBatch::max_size);
  received += server.let_store_answer(talk);
  EXPECT_EQ(received, expected);
}

TEST(SharedRespTransaction, ConnectionThatGoesAwayWhileItRunsIsNotAnswered) {
  SharedResp server;
  Conversation gone = server.connect();
  EXPECT_EQ(gone.send("MULTI\r\n" + throttle + "EXEC\r\n"), ok + queued + "*1\r\n");
  gone = Conversation();
  Conversation next = server.connect();
  EXPECT_EQ(next.send(throttle), "");
  server.store.deliver_all();
  EXPECT_EQ(next.resume(), allowed_again);
}

}  // namespace
}  // namespace weir::frontend::transaction_tests
