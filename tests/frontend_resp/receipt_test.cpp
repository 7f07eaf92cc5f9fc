// WEIR.RESERVE, WEIR.REPORT, WEIR.SETTLE, WEIR.RELEASE and WEIR.EXTEND.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/shared_resp.h"
#include "tests/frontend_resp/talk.h"

namespace weir::frontend::receipt_tests {
namespace {

std::string bulk(const std::string& text) {
  return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// The reply to a reservation without its receipt.
std::string reserved(const std::vector<std::int64_t>& numbers, const std::string& reason = "within") {
  std::string text = "*10\r\n";
  for (const std::int64_t number : numbers) text += ':' + std::to_string(number) + "\r\n";
  return text + bulk("api") + bulk(reason);
}

std::string pair(const std::string& limit, const std::string& result) {
  return "*2\r\n" + bulk(limit) + bulk(result);
}

std::string only(const std::string& result) {
  return "*1\r\n" + pair("api", result);
}

// The receipt in the reply to a reservation is its last text.
std::string receipt_in(const std::string& reply) {
  const std::size_t length = reply.rfind('$');
  const std::size_t begin = reply.find("\r\n", length) + 2;
  return reply.substr(begin, reply.find("\r\n", begin) - begin);
}

// Replaces each receipt with one letter, because every sealed text is different.
std::string without_receipts(const std::string& replies) {
  std::string out;
  for (std::size_t at = 0; at < replies.size();) {
    const std::size_t end = std::min(replies.find("\r\n", at), replies.size());
    const std::string line = replies.substr(at, end - at);
    out += line.size() > 64 && !line.starts_with('-') ? "R" : line;
    out += "\r\n";
    at = end + 2;
  }
  return out;
}

std::string left(Talk& talk, const std::string& consumer) {
  const std::string reply = talk.ask({"WEIR.PEEK", "api", consumer, "COST", "0"});
  const std::size_t begin = reply.find(':', reply.find(':', reply.find(':') + 1) + 1) + 1;
  return reply.substr(begin, reply.find('\r', begin) - begin);
}

TEST(RespReceipt, ReserveRepliesAsCheckWithTheReceiptBehind) {
  RespServer server;
  Talk talk(server);
  const std::string first = talk.send("WEIR.RESERVE api alice COST 2\r\n");
  EXPECT_TRUE(first.starts_with(reserved({0, 3, 1, 0, 2'000'000, 0}))) << first;
  EXPECT_TRUE(first.ends_with("\r\n:600000000\r\n")) << first;
  EXPECT_GT(receipt_in(first).size(), 100U) << first;
  const std::string leased = talk.send("weir.reserve api alice LEASE 1500\r\n");
  EXPECT_TRUE(leased.starts_with(reserved({0, 3, 0, 0, 3'000'000, 0}))) << leased;
  EXPECT_TRUE(leased.ends_with("\r\n:1500000\r\n")) << leased;
  EXPECT_EQ(talk.send("WEIR.RESERVE api alice\r\n"),
            reserved({1, 3, 0, 1'000'000, 3'000'000, 0}, "exceeded") + "$-1\r\n:-1\r\n");
  EXPECT_TRUE(talk.send("WEIR.RESERVE api dave TIER staff\r\n").ends_with("$9\r\nuncovered\r\n$-1\r\n:-1\r\n"));
}

TEST(RespReceipt, ThirdVersionNamesTheParts) {
  RespServer server;
  Talk talk(server);
  (void)talk.send("HELLO 3\r\n");
  const std::string reply = talk.send("WEIR.RESERVE api alice LEASE 1000\r\n");
  EXPECT_TRUE(reply.starts_with("%10\r\n$8\r\nadmitted\r\n#t\r\n$5\r\nquota\r\n:3\r\n")) << reply;
  EXPECT_NE(reply.find("$6\r\nwithin\r\n$7\r\nreceipt\r\n$"), std::string::npos) << reply;
  EXPECT_TRUE(reply.ends_with("$15\r\nreceipt_ends_us\r\n:1000000\r\n")) << reply;
  EXPECT_TRUE(talk.send("WEIR.RESERVE api alice COST 9\r\n")
                  .ends_with("$7\r\nreceipt\r\n_\r\n$15\r\nreceipt_ends_us\r\n:-1\r\n"));
}

TEST(RespReceipt, SettleCorrectsOnce) {
  RespServer server;
  Talk talk(server);
  const std::string receipt = receipt_in(talk.send("WEIR.RESERVE api alice COST 3\r\n"));
  EXPECT_EQ(left(talk, "alice"), "0");
  EXPECT_EQ(talk.ask({"WEIR.SETTLE", receipt, "1"}), only("done"));
  EXPECT_EQ(left(talk, "alice"), "2");
  EXPECT_EQ(talk.ask({"WEIR.SETTLE", receipt, "1"}), only("ended"));
  EXPECT_EQ(talk.ask({"WEIR.RELEASE", receipt}), only("ended"));
  EXPECT_EQ(talk.ask({"WEIR.EXTEND", receipt}), only("ended"));
  EXPECT_EQ(left(talk, "alice"), "2");
  const std::string upward = receipt_in(talk.send("WEIR.RESERVE api alice\r\n"));
  EXPECT_EQ(talk.ask({"weir.settle", upward, "5"}), only("done"));
  EXPECT_TRUE(talk.send("WEIR.CHECK api alice COST 0\r\n").starts_with("*8\r\n:1\r\n")) << "it is in debt";
}

TEST(RespReceipt, ReleaseGivesBackAndExtendKeepsOpen) {
  RespServer server;
  Talk talk(server);
  const std::string first = receipt_in(talk.send("WEIR.RESERVE api alice COST 3 LEASE 1000\r\n"));
  EXPECT_EQ(talk.ask({"WEIR.RELEASE", first}), only("done"));
  EXPECT_EQ(left(talk, "alice"), "3");
  const std::string second = receipt_in(talk.send("WEIR.RESERVE api alice COST 3 LEASE 1000\r\n"));
  server.clock.advance(999ms);
  EXPECT_EQ(talk.ask({"WEIR.EXTEND", second, "500"}), only("done"));
  server.clock.advance(499ms);
  EXPECT_EQ(talk.ask({"WEIR.EXTEND", second, "1"}), only("done"));
  server.clock.advance(1ms);
  EXPECT_EQ(talk.ask({"WEIR.RELEASE", second}), only("ended"));
}

TEST(RespReceipt, ReserveUnderAnIdIsRepeatedWithoutACharge) {
  RespServer server;
  Talk talk(server);
  const std::string first = talk.send("WEIR.RESERVE api alice COST 2 ID job-7\r\n");
  const std::string again = talk.send("WEIR.RESERVE api alice COST 2 ID job-7\r\n");
  EXPECT_EQ(without_receipts(again), without_receipts(first));
  EXPECT_NE(receipt_in(again), receipt_in(first)) << "texts are sealed anew";
  EXPECT_EQ(left(talk, "alice"), "1");
  EXPECT_EQ(talk.ask({"WEIR.RELEASE", receipt_in(again)}), only("done"));
  EXPECT_EQ(talk.ask({"WEIR.RELEASE", receipt_in(first)}), only("ended"));
}

TEST(RespReceipt, ReportIsChargedAndUnderAnIdOnce) {
  RespServer server;
  Talk talk(server);
  EXPECT_EQ(talk.send("WEIR.REPORT api alice 2\r\n"), only("done"));
  EXPECT_EQ(talk.send("WEIR.REPORT api alice 2 ID day-1\r\n"), only("done"));
  EXPECT_EQ(talk.send("WEIR.REPORT api alice 2 ID day-1\r\n"), only("repeated"));
  EXPECT_TRUE(talk.send("WEIR.CHECK api alice COST 0\r\n").starts_with("*8\r\n:1\r\n")) << "it is in debt";
  EXPECT_EQ(talk.send("WEIR.REPORT api alice 1 TIER pro\r\n"), only("done"));
  EXPECT_EQ(talk.send("WEIR.REPORT api dave 1 TIER staff\r\n"), "*0\r\n");
}

TEST(RespReceipt, NoMoreIdsAreKeptThanAThousandTwentyFour) {
  RespServer server;
  Talk talk(server);
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(talk.ask({"WEIR.REPORT", "api", "alice", "0", "ID", std::to_string(i)}), only("done"));
    ASSERT_NE(receipt_in(talk.ask({"WEIR.RESERVE", "api", "bob", "COST", "0", "ID", std::to_string(i)})), "");
  }
  EXPECT_EQ(talk.send("WEIR.REPORT api alice 1 ID more\r\n"), only("id_not_recorded"));
  EXPECT_EQ(left(talk, "alice"), "2") << "it is charged";
  EXPECT_EQ(talk.send("WEIR.RESERVE api bob\r\n"), reserved({0, 3, 2, 0, 1'000'000, 0}) + "$-1\r\n:-1\r\n");
}

TEST(RespReceipt, MistakesAreNamed) {
  RespServer server;
  Talk talk(server);
  const std::string receipt = receipt_in(talk.send("WEIR.RESERVE api alice\r\n"));
  const std::string not_a_number = "-ERR value is not an integer or out of range\r\n";
  const std::string syntax = "-ERR syntax error\r\n";
  const std::string does_not_open = "-ERR receipt: invalid: ";
  const auto wrong_count = [](const std::string& name) {
    return "-ERR wrong number of arguments for '" + name + "' command\r\n";
  };
  struct Row {
    std::string sent;
    std::string received;  // its beginning
  };
  const std::vector<Row> rows{
      {"WEIR.RESERVE api", wrong_count("weir.reserve")},
      {"WEIR.RESERVE api alice COST x", not_a_number},
      {"WEIR.RESERVE api alice COST 4294967296", not_a_number},
      {"WEIR.RESERVE api alice LEASE 0", not_a_number},
      {"WEIR.RESERVE api alice LEASE 9223372036854775807", not_a_number},
      {"WEIR.RESERVE api alice LEASE", syntax},
      {"WEIR.RESERVE api alice PRICE 1", syntax},
      {"WEIR.RESERVE api alice MAXWAIT x", not_a_number},
      {"WEIR.RESERVE api alice ID \"\"", "-ERR ID must not be empty"},
      {"WEIR.RESERVE apy alice", "-ERR limit"},
      {"WEIR.RESERVE api alice TIER prp", "-ERR tier"},
      {"WEIR.REPORT api alice", wrong_count("weir.report")},
      {"WEIR.REPORT api alice many", not_a_number},
      {"WEIR.REPORT api alice -1", not_a_number},
      {"WEIR.REPORT api alice 1 LEASE 5", syntax},
      {"WEIR.REPORT api alice 1 COST 5", syntax},
      {"WEIR.REPORT api alice 1 ID", syntax},
      {"WEIR.REPORT apy alice 1", "-ERR limit"},
      {"WEIR.SETTLE " + receipt, wrong_count("weir.settle")},
      {"WEIR.SETTLE " + receipt + " 1 2", wrong_count("weir.settle")},
      {"WEIR.SETTLE " + receipt + " x", not_a_number},
      {"WEIR.SETTLE " + receipt + " -1", not_a_number},
      {"WEIR.SETTLE " + receipt + " 4294967296", not_a_number},
      {"WEIR.SETTLE nothing 1", does_not_open},
      {"WEIR.SETTLE " + receipt.substr(1) + " 1", does_not_open},
      {"WEIR.RELEASE", wrong_count("weir.release")},
      {"WEIR.RELEASE " + receipt + " 1", wrong_count("weir.release")},
      {"WEIR.RELEASE \"\"", does_not_open},
      {"WEIR.EXTEND", wrong_count("weir.extend")},
      {"WEIR.EXTEND " + receipt + " 0", not_a_number},
      {"WEIR.EXTEND " + receipt + " 1 2", syntax},
      {"WEIR.EXTEND nothing", does_not_open},
  };
  for (const Row& row : rows) {
    const std::string received = talk.send(row.sent + "\r\n");
    EXPECT_TRUE(received.starts_with(row.received)) << row.sent << ": " << received;
    EXPECT_EQ(received.find('\n'), received.size() - 1) << received;
  }
  EXPECT_EQ(left(talk, "alice"), "2") << "none of them changed anything";
  EXPECT_EQ(talk.ask({"WEIR.RELEASE", receipt}), only("done"));
}

TEST(RespReceipt, WithoutAKeyTheErrorSaysWhereOneBelongs) {
  RespServer server;
  Talk talk(server);
  const std::string receipt = receipt_in(talk.send("WEIR.RESERVE api alice\r\n"));
  server.context.change_receipt_keys({});
  for (const std::string& sent : {std::string("WEIR.RESERVE api alice"), "WEIR.SETTLE " + receipt + " 1",
                                  "WEIR.RELEASE " + receipt, "WEIR.EXTEND " + receipt}) {
    const std::string received = talk.send(sent + "\r\n");
    EXPECT_TRUE(received.starts_with("-ERR ")) << received;
    EXPECT_NE(received.find("receipts.key_file"), std::string::npos) << received;
  }
  EXPECT_EQ(talk.send("WEIR.REPORT api alice 1\r\n"), only("done")) << "it needs none";
}

TEST(RespReceipt, LimitThatThePolicyHasNoMoreIsUnknown) {
  RespServer server;
  Talk talk(server);
  const std::string receipt = receipt_in(talk.send("WEIR.RESERVE api alice\r\n"));
  const policy::Loaded loaded = policy::load_text(
      "version: 1\nlimits:\n  - { name: other, consumer_key: user, algorithm: fixed_window, rate: 1/h }\n", "p.yaml");
  ASSERT_TRUE(server.engine->reload(loaded.ruleset, server.clock));
  EXPECT_EQ(talk.ask({"WEIR.SETTLE", receipt, "0"}), "*1\r\n*2\r\n$-1\r\n" + bulk("unknown"));
}

TEST(RespReceipt, TheyAskForTheTokenAsOthersDo) {
  RespServer server(asking_for_tokens());
  Talk talk(server);
  for (const std::string sent : {"WEIR.RESERVE api alice", "WEIR.REPORT api alice 1", "WEIR.SETTLE receipt 1",
                                 "WEIR.RELEASE receipt", "WEIR.EXTEND receipt"}) {
    EXPECT_EQ(talk.send(sent + "\r\n"), "-NOAUTH Authentication required.\r\n") << sent;
  }
}

TEST(RespReceipt, TransactionReservesAndSettlesInItsOrder) {
  RespServer server;
  Talk talk(server);
  const std::string receipt = receipt_in(talk.send("WEIR.RESERVE api alice COST 3\r\n"));
  EXPECT_EQ(talk.send("MULTI\r\nWEIR.RELEASE " + receipt + "\r\nWEIR.RESERVE api alice COST 2 LEASE 1000\r\n" +
                      "WEIR.SETTLE " + receipt + " 1\r\nPING\r\nWEIR.REPORT api alice 1\r\n"),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
  EXPECT_EQ(talk.ask({"WEIR.PEEK", "api", "alice", "COST", "0"}), "+QUEUED\r\n");
  const std::string received = without_receipts(talk.send("EXEC\r\n"));
  const std::string peeked = "*8\r\n:0\r\n:3\r\n:0\r\n:0\r\n:3000000\r\n:0\r\n$3\r\napi\r\n$6\r\nwithin\r\n";
  const std::size_t sealed = receipt.size();
  EXPECT_EQ(received, "*6\r\n" + only("done") + reserved({0, 3, 1, 0, 2'000'000, 0}) + "$" + std::to_string(sealed) +
                          "\r\nR\r\n:1000000\r\n" + only("ended") + "+PONG\r\n" + only("done") + peeked);
}

// Commands of every kind in one input.
std::string mixed(const std::string& receipt) {
  std::string sent;
  for (int i = 0; i < 8; ++i) {
    const std::string user = "user-" + std::to_string(i);
    sent += command({"WEIR.RESERVE", "api", user, "COST", "2"}) + command({"CL.THROTTLE", user, "1", "1", "60"}) +
            command({"WEIR.REPORT", "api", user, "1", "ID", "once"}) + command({"WEIR.CHECK", "api", user}) +
            command({"WEIR.SETTLE", receipt, "0"}) + command({"WEIR.EXTEND", receipt, "5"}) +
            command({"WEIR.RELEASE", "forged"}) + command({"PING"});
  }
  return sent;
}

TEST(RespReceipt, PipelineOfSixtyFourKeepsTheOrder) {
  RespServer server;
  RespServer one_by_one;
  Talk talk(server);
  Talk slow(one_by_one);
  const std::string receipt = receipt_in(talk.send("WEIR.RESERVE api alice COST 3\r\n"));
  const std::string other = receipt_in(slow.send("WEIR.RESERVE api alice COST 3\r\n"));
  const std::string received = without_receipts(talk.send(mixed(receipt)));
  EXPECT_EQ(received, without_receipts(slow.spell(mixed(other))));
  const auto times = [&](const std::string& reply) {
    int count = 0;
    for (std::size_t at = received.find(reply); at != std::string::npos; at = received.find(reply, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(times(only("done")), 8 + 1) << "each report, and the first settle";
  EXPECT_EQ(times(only("ended")), 7 + 8) << "the other settles, and each extend";
  EXPECT_EQ(server.frontend.requests(), 65U);
}

TEST(RespReceipt, StoreThatAnswersLaterKeepsTheOrderToo) {
  SharedResp shared;
  SharedResp own(SharedContext::Store::own);
  Conversation there = shared.connect();
  Conversation here = own.connect();
  const std::string reserve = command({"WEIR.RESERVE", "api", "alice", "COST", "3"});
  std::string received = there.send(reserve);
  EXPECT_EQ(received, "");
  const std::string first = received + shared.let_store_answer(there);
  const std::string second = here.send(reserve);
  EXPECT_TRUE(first.starts_with(reserved({0, 3, 0, 0, 3'000'000, 0}))) << first;
  EXPECT_TRUE(first.ends_with("\r\n:600000000\r\n")) << first;
  received = there.send(mixed(receipt_in(first)));
  received += shared.let_store_answer(there);
  // With a shared store, receipts are longer: they name the consumer for other nodes.
  const auto plain = [](const std::string& replies) {
    std::string text = without_receipts(replies);
    for (std::size_t at = text.find("\r\nR\r\n"); at != std::string::npos; at = text.find("\r\nR\r\n", at)) {
      const std::size_t length = text.rfind('$', at);
      text.erase(length, at - length);
      at = length + 5;
    }
    return text;
  };
  EXPECT_EQ(plain(received), plain(here.send(mixed(receipt_in(second)))));
}

TEST(RespReceipt, StoreThatIsAwayIsSaidAndTheSettleMayBeRepeated) {
  SharedResp resp;
  Conversation talk = resp.connect();
  std::string received = talk.send(command({"WEIR.RESERVE", "api", "alice", "COST", "3"}));
  received += resp.let_store_answer(talk);
  const std::string settle = command({"WEIR.SETTLE", receipt_in(received), "1"});
  resp.make_store_unavailable();
  received = talk.send(settle);
  EXPECT_EQ(received + resp.let_store_answer(talk), only("unanswered"));
  resp.store.failing = store::Failure::none;
  received = talk.send(settle);
  EXPECT_EQ(received + resp.let_store_answer(talk), only("done"));
  received = talk.send(settle);
  EXPECT_EQ(received + resp.let_store_answer(talk), only("ended"));
}

}  // namespace
}  // namespace weir::frontend::receipt_tests
