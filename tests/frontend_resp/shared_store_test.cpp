// A connection of the Redis protocol frontend while the store has not answered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/shared_resp.h"
#include "tests/net/server.h"

namespace weir::frontend::shared_store_tests {
namespace {

const std::string check = command({"WEIR.CHECK", "api", "alice"});
const std::string throttle = command({"CL.THROTTLE", "key", "1", "1", "60"});
const std::string ping = command({"PING"});

const std::string passed = "*8\r\n:0\r\n:3\r\n:2\r\n:0\r\n:1000000\r\n:0\r\n$3\r\napi\r\n$6\r\nwithin\r\n";
const std::string passed_again = "*8\r\n:0\r\n:3\r\n:1\r\n:0\r\n:2000000\r\n:0\r\n$3\r\napi\r\n$6\r\nwithin\r\n";
const std::string allowed = "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:60\r\n";
const std::string allowed_again = "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:120\r\n";
const std::string limited = "*5\r\n:1\r\n:2\r\n:0\r\n:60\r\n:120\r\n";

TEST(SharedResp, CommandsOnLimitsThatFollowEachOtherAreOneBatch) {
  SharedResp resp;
  Conversation talk = resp.connect();
  EXPECT_EQ(talk.send(check + throttle + check + throttle + throttle), "");
  EXPECT_TRUE(talk.paused());
  EXPECT_FALSE(talk.idle());
  EXPECT_EQ(resp.store.waiting(), 5U);
  resp.store.deliver();
  EXPECT_EQ(talk.resume(), "");
  EXPECT_TRUE(talk.paused());
  resp.store.deliver_all();
  EXPECT_EQ(talk.resume(), passed + allowed + passed_again + allowed_again + limited);
  EXPECT_TRUE(talk.idle());
  EXPECT_EQ(resp.frontend.requests(), 5U);
  EXPECT_EQ(resp.frontend.throttle_counts().allowed.value(), 2U);
  EXPECT_EQ(resp.frontend.throttle_counts().limited.value(), 1U);
}

TEST(SharedResp, OtherCommandsWaitTheirTurn) {
  SharedResp resp;
  Conversation talk = resp.connect();
  EXPECT_EQ(talk.send(ping + throttle + ping + check + ping + ping), "+PONG\r\n");
  EXPECT_EQ(resp.store.waiting(), 1U);
  resp.store.deliver_all();
  EXPECT_EQ(talk.resume(), allowed + "+PONG\r\n");
  EXPECT_EQ(resp.store.waiting(), 1U);
  resp.store.deliver_all();
  EXPECT_EQ(talk.resume(), passed + "+PONG\r\n+PONG\r\n");
  EXPECT_EQ(resp.frontend.requests(), 6U) << "none was counted twice";
}

TEST(SharedResp, WhatIsWrongIsSaidInItsPlace) {
  SharedResp resp;
  Conversation talk = resp.connect();
  const std::string wrong = command({"WEIR.CHECK", "api", "alice", "COST", "many"});
  const std::string unknown = command({"WEIR.CHECK", "nothing", "alice"});
  std::string received = talk.send(check + wrong + unknown + command({"CL.THROTTLE", "k", "1", "0", "1"}) + throttle);
  received += resp.let_store_answer(talk);
  const auto position = [&](std::string_view text) { return received.find(text); };
  EXPECT_EQ(position(passed), 0U);
  EXPECT_EQ(position("-ERR value is not an integer or out of range\r\n"), passed.size());
  EXPECT_LT(position("-ERR limit 'nothing'"), position("-Cell error: Store error: Zero rates are not supported"));
  EXPECT_TRUE(received.ends_with(allowed)) << received;
}

TEST(SharedResp, NoMoreThanABatchIsAskedAtOnce) {
  SharedResp resp;
  Conversation talk = resp.connect();
  std::string all;
  std::string expected;
  for (int i = 0; i < 150; ++i) {
    all += command({"CL.THROTTLE", "key-" + std::to_string(i), "1", "1", "60"});
    expected += allowed;
  }
  std::string received = talk.send(all);
  EXPECT_EQ(resp.store.waiting(), CommandBatch::max_size);
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, expected);
}

TEST(SharedResp, QuotedArgumentsStayUntilTheyAreDecided) {
  SharedResp resp;
  Conversation talk = resp.connect();
  std::string received = talk.send("WEIR.CHECK api \"alice\"\r\nWEIR.CHECK 'api' \"al\\x69ce\"\r\nPING\r\n");
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, passed + passed_again + "+PONG\r\n");
}

TEST(SharedResp, RepliesThatAreNotWantedAreNotSent) {
  SharedResp resp;
  Conversation talk = resp.connect();
  const std::string off = command({"CLIENT", "REPLY", "OFF"});
  const std::string on = command({"CLIENT", "REPLY", "ON"});
  const std::string skip = command({"CLIENT", "REPLY", "SKIP"});
  std::string received =
      talk.send(skip + throttle + throttle + off + check + check + on + throttle + skip + ping + ping);
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, allowed_again + "+OK\r\n" + limited + "+PONG\r\n");
}

TEST(SharedResp, ResetForgetsInTheStore) {
  SharedResp resp(SharedContext::Store::shared, asking_for_tokens());
  Conversation talk = resp.connect();
  const std::string reset = command({"WEIR.RESET", "api", "alice"});
  EXPECT_EQ(talk.send(check), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(talk.send(command({"AUTH", "secret"}) + reset),
            "+OK\r\n-NOPERM WEIR.RESET requires the admin token: send it by AUTH first\r\n");
  std::string received = talk.send(command({"AUTH", "key of the admin"}) + check + reset + check);
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, "+OK\r\n" + passed + "+OK\r\n" + passed);
  EXPECT_EQ(resp.resets, std::vector<std::string>{"done: api user=alice"});
}

TEST(SharedResp, ResetIsReportedAfterTheClientDisconnects) {
  SharedResp resp(SharedContext::Store::shared, asking_for_tokens());
  Conversation talk = resp.connect();
  (void)talk.send(command({"AUTH", "key of the admin"}) + command({"WEIR.RESET", "api", "alice"}));
  ASSERT_TRUE(talk.paused());
  EXPECT_TRUE(resp.resets.empty());
  talk.hang_up();
  EXPECT_EQ(resp.resets, std::vector<std::string>{"unanswered: api user=alice"});
  resp.store.deliver_all();  // has no further effect
  EXPECT_EQ(resp.resets.size(), 1U);
}

TEST(SharedResp, ProtocolErrorComesBehindTheReplies) {
  SharedResp resp;
  Conversation talk = resp.connect();
  std::string received = talk.send(throttle + "*1\r\n!");
  EXPECT_EQ(received, "");
  EXPECT_FALSE(talk.closing());
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, allowed + "-ERR Protocol error: expected '$', got '!'\r\n");
  EXPECT_TRUE(talk.closing());
}

TEST(SharedResp, WhatAPageSendsClosesBehindTheReplies) {
  SharedResp resp;
  Conversation talk = resp.connect();
  std::string received = talk.send(throttle + "POST / HTTP/1.1\r\n");
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, allowed);
  EXPECT_TRUE(talk.closing());
}

TEST(SharedResp, QuitClosesBehindTheReplies) {
  SharedResp resp;
  Conversation talk = resp.connect();
  EXPECT_EQ(talk.send(throttle + command({"QUIT"}) + throttle), "");
  EXPECT_FALSE(talk.closing());
  EXPECT_EQ(resp.let_store_answer(talk), allowed + "+OK\r\n");
  EXPECT_TRUE(talk.closing());
}

TEST(SharedResp, EmptyLinesBeforeACommandInPiecesAreNotTakenTwice) {
  SharedResp resp;
  Conversation talk = resp.connect();
  std::string received = talk.send(throttle + "\r\n\r\n" + throttle.substr(0, 9));
  received += resp.let_store_answer(talk);
  EXPECT_EQ(received, allowed);
  received = talk.send(throttle.substr(9));
  EXPECT_EQ(received + resp.let_store_answer(talk), allowed_again);
}

TEST(SharedResp, NoRequestWaitsForAnUnavailableStore) {
  SharedResp resp;
  resp.make_store_unavailable();
  Conversation talk = resp.connect();
  const std::string received = talk.send(check + throttle + ping);
  EXPECT_FALSE(talk.paused());
  EXPECT_TRUE(received.starts_with("*8\r\n:0\r\n")) << received;
  EXPECT_TRUE(received.ends_with("+PONG\r\n")) << received;
}

TEST(SharedResp, ThrottleIsHalvedHereWhileTheStoreIsAway) {
  SharedResp resp;
  resp.make_store_unavailable();
  Conversation talk = resp.connect();
  std::string pipeline;
  for (int i = 0; i < 4; ++i) pipeline += "CL.THROTTLE key 5 60 60\r\n";
  EXPECT_EQ(talk.send(pipeline),
            "*5\r\n:0\r\n:3\r\n:2\r\n:-1\r\n:2\r\n"
            "*5\r\n:0\r\n:3\r\n:1\r\n:-1\r\n:4\r\n"
            "*5\r\n:0\r\n:3\r\n:0\r\n:-1\r\n:6\r\n"
            "*5\r\n:1\r\n:3\r\n:0\r\n:2\r\n:6\r\n");
}

TEST(SharedResp, ClosedLimitDeniesInTheOrdinaryWay) {
  SharedResp resp(SharedContext::Store::shared, {}, R"(
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: gcra, rate: 1/s, burst: 3, on_store_failure: closed }
)");
  Conversation talk = resp.connect();
  EXPECT_EQ(talk.send(check), "");
  resp.store.fail(store::Failure::lost);
  EXPECT_EQ(talk.resume(),
            "*8\r\n:1\r\n:3\r\n:0\r\n:1000000\r\n:1000000\r\n:0\r\n$3\r\napi\r\n$17\r\nstore_unavailable\r\n");
}

TEST(SharedResp, ConnectionThatGoesAwayIsNotAnswered) {
  SharedResp resp;
  Conversation gone = resp.connect();
  EXPECT_EQ(gone.send(check + throttle + ping), "");
  gone = Conversation();
  Conversation next = resp.connect();
  EXPECT_EQ(next.send(throttle), "");
  resp.store.deliver_all();
  EXPECT_EQ(next.resume(), allowed_again) << "it was charged all the same";
}

// With a socket, the batch resumes the connection.
TEST(SharedResp, BatchResumesItsConnection) {
  SharedResp resp;
  const net::Server server(
      [&](const net::Peer& peer, const net::Link& link) { return resp.frontend.open(peer, link); });
  net::Client client = server.connect();
  client.send(throttle + ping + check + ping);
  const std::string expected = allowed + "+PONG\r\n" + passed + "+PONG\r\n";
  int delivered = 0;
  EXPECT_TRUE(net::eventually([&] {
    (*server.loops)[0].run([&] {
      if (resp.store.waiting() == 0) return;
      resp.store.deliver();
      ++delivered;
    });
    return delivered == 2;
  }));
  EXPECT_EQ(client.receive(expected.size()), expected);
  server.listener->start_drain();
  EXPECT_EQ(client.receive_to_end(), "");
}

}  // namespace
}  // namespace weir::frontend::shared_store_tests
