// A connection of the HTTP frontend while the store has not answered.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/frontend/shared_context.h"
#include "tests/frontend_http/http_fixture.h"
#include "tests/net/server.h"

namespace weir::frontend::shared_store_tests {
namespace {

constexpr std::string_view policy = R"(
version: 1
limits:
  - name: by-user
    routes: [/**]
    consumer_key: user
    algorithm: fixed_window
    rate: 2/min
  - name: gateway
    routes: [/gateway]
    consumer_key: global
    algorithm: leaky_bucket
    rate: 10/s
    queue: 2
)";

struct SharedHttp : SharedContext {
  explicit SharedHttp(HttpOptions options = {}, std::string_view text = policy, Store kept = Store::shared)
      : SharedContext(text, kept), frontend(context, health, std::move(options)) {}

  [[nodiscard]] Conversation connect() {
    net::Peer peer;
    peer.address = "127.0.0.1";
    return Conversation(frontend.open(peer, net::Link()));
  }

  HttpFrontend frontend;
};

std::string check(std::string_view user) {
  return HttpFixture::check_request(R"({"path":"/x","user":")" + std::string(user) + "\"}");
}

std::string get(std::string_view target, std::string_view headers = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) + "\r\n";
}

std::vector<int> statuses(std::string_view bytes) {
  std::vector<int> all;
  for (const Answer& answer : parse_answers(bytes)) all.push_back(answer.status);
  return all;
}

TEST(SharedHttp, AnswerComesWhenTheStoreHasAnswered) {
  SharedHttp http;
  Conversation talk = http.connect();
  EXPECT_EQ(talk.send(check("alice")), "");
  EXPECT_TRUE(talk.paused());
  EXPECT_FALSE(talk.idle());
  http.store.deliver_all();
  const auto answers = parse_answers(talk.resume());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 200);
  EXPECT_EQ(answers[0].field("X-RateLimit-Remaining"), "1");
  EXPECT_FALSE(talk.paused());
  EXPECT_TRUE(talk.idle());
}

TEST(SharedHttp, RequestsOfOneReadAreAskedTogetherAndAnsweredInOrder) {
  SharedHttp http;
  Conversation talk = http.connect();
  const std::string array = R"([{"path":"/x","user":"bob"},{"path":"/x","user":"bob"}])";
  const std::string all = check("alice") + get("/healthz") + get("/nowhere") + check("alice") + check("alice") +
                          get("/v1/auth/x", "X-User-Id: carol\r\n") + HttpFixture::check_request(array) +
                          HttpFixture::check_request("{") + get("/healthz");
  EXPECT_EQ(talk.send(all), "");
  EXPECT_EQ(http.store.waiting(), 6U);
  http.store.deliver();
  EXPECT_EQ(talk.resume(), "") << "not all of them are decided";
  EXPECT_TRUE(talk.paused());
  http.store.deliver_all();
  EXPECT_EQ(statuses(talk.resume()), (std::vector{200, 200, 404, 200, 429, 200, 200, 400, 200}));
}

TEST(SharedHttp, WhatNeedsNoVerdictDoesNotWait) {
  SharedHttp http;
  Conversation talk = http.connect();
  EXPECT_EQ(statuses(talk.send(get("/healthz") + get("/nowhere"))), (std::vector{200, 404}));
  EXPECT_FALSE(talk.paused());
}

TEST(SharedHttp, LaterRequestsWaitForTheStore) {
  SharedHttp http;
  Conversation talk = http.connect();
  EXPECT_EQ(talk.send(check("alice") + check("alice").substr(0, 70)), "");
  EXPECT_EQ(talk.send(check("alice").substr(70) + check("alice")), "");
  EXPECT_EQ(http.store.waiting(), 1U);
  http.store.deliver_all();
  EXPECT_EQ(statuses(talk.resume()), (std::vector{200}));
  EXPECT_EQ(http.store.waiting(), 2U);
  http.store.deliver_all();
  EXPECT_EQ(statuses(talk.resume()), (std::vector{200, 429}));
}

TEST(SharedHttp, MoreRequestsThanABatchHoldsAreSeveralBatches) {
  SharedHttp http;
  Conversation talk = http.connect();
  std::string all;
  for (int i = 0; i < 100; ++i) all += check("user-" + std::to_string(i));
  std::string received = talk.send(all);
  EXPECT_EQ(http.store.waiting(), HttpLoopState::max_requests);
  while (talk.paused()) {
    http.store.deliver_all();
    received += talk.resume();
  }
  EXPECT_EQ(statuses(received), std::vector<int>(100, 200));
}

TEST(SharedHttp, ConnectionsDoNotWaitForEachOther) {
  SharedHttp http;
  Conversation first = http.connect();
  Conversation second = http.connect();
  EXPECT_EQ(first.send(check("alice")), "");
  EXPECT_EQ(second.send(check("alice") + check("alice")), "");
  http.store.deliver();
  EXPECT_EQ(statuses(first.resume()), (std::vector{200}));
  http.store.deliver_all();
  EXPECT_EQ(statuses(second.resume()), (std::vector{200, 429}));
}

TEST(SharedHttp, ConnectionThatGoesAwayIsNotAnswered) {
  SharedHttp http;
  Conversation gone = http.connect();
  EXPECT_EQ(gone.send(check("alice") + get("/v1/auth/x", "X-User-Id: alice\r\n")), "");
  gone = Conversation();
  Conversation next = http.connect();
  EXPECT_EQ(next.send(check("alice")), "");
  http.store.deliver_all();
  EXPECT_EQ(statuses(next.resume()), (std::vector{429})) << "it was charged all the same";
}

TEST(SharedHttp, FrontendMayGoBeforeTheStoreAnswers) {
  SharedContext shared(policy);
  {
    HttpFrontend frontend(shared.context, shared.health, {});
    Conversation talk(frontend.open({}, {}));
    EXPECT_EQ(talk.send(check("alice")), "");
  }
  shared.store.deliver_all();
  EXPECT_EQ(shared.store.waiting(), 0U);
}

TEST(SharedHttp, NoRequestWaitsForAnUnavailableStore) {
  SharedHttp http({}, R"(
version: 1
limits:
  - { name: shut, routes: [/shut], consumer_key: global, algorithm: gcra, rate: 1/s, on_store_failure: closed }
  - { name: free, routes: [/free], consumer_key: global, algorithm: gcra, rate: 1/s, on_store_failure: open }
)");
  http.make_store_unavailable();
  Conversation talk = http.connect();
  const auto answers = parse_answers(talk.send(get("/v1/auth/shut") + get("/v1/auth/free")));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].status, 429);
  EXPECT_EQ(answers[0].field("Retry-After"), "1");
  EXPECT_NE(answers[0].body.find("#quota-exceeded"), std::string::npos) << answers[0].body;
  EXPECT_NE(answers[0].body.find("shut"), std::string::npos) << answers[0].body;
  EXPECT_EQ(answers[1].status, 200);
  EXPECT_FALSE(talk.paused());
}

TEST(SharedHttp, StoreFailureIsAnsweredByTheOutageRules) {
  SharedHttp http({}, R"(
version: 1
limits:
  - { name: shut, consumer_key: global, algorithm: gcra, rate: 1/s, on_store_failure: closed }
)");
  Conversation talk = http.connect();
  EXPECT_EQ(talk.send(check("alice")), "");
  http.store.fail(store::Failure::timeout);
  const auto answers = parse_answers(talk.resume());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 429);
  EXPECT_NE(answers[0].body.find("store_unavailable"), std::string::npos) << answers[0].body;
}

TEST(SharedHttp, AnswerIsHeldForItsTurnAfterTheVerdict) {
  SharedHttp http;
  Conversation talk = http.connect();
  EXPECT_EQ(talk.send(get("/v1/auth/gateway") + get("/v1/auth/gateway") + get("/healthz")), "");
  http.store.deliver_all();
  EXPECT_EQ(statuses(talk.resume()), (std::vector{200})) << "the second waits its turn, and what follows with it";
  EXPECT_TRUE(talk.paused());
  EXPECT_FALSE(talk.idle());
}

TEST(SharedHttp, ThoseWhoWaitForAVerdictMayBeHeldToo) {
  HttpOptions options;
  options.max_delayed = 1;
  SharedHttp http(options);
  Conversation first = http.connect();
  EXPECT_EQ(first.send(get("/v1/auth/gateway")), "");
  Conversation second = http.connect();
  EXPECT_EQ(second.send(get("/v1/auth/gateway")), "");
  http.store.deliver_all();
  EXPECT_EQ(statuses(first.resume()), (std::vector{200}));
  EXPECT_EQ(statuses(second.resume()), (std::vector{429})) << "the first might have been held";
  EXPECT_EQ(first.send(get("/v1/auth/gateway")), "");
  http.store.deliver_all();
  EXPECT_EQ(first.resume(), "");
  EXPECT_TRUE(first.paused()) << "no other response waits now, and it is delayed";
}

TEST(SharedHttp, DescriptorsOfABatchAreAllOrNothing) {
  constexpr std::string_view domain = R"(
domain: shop
descriptors:
  - { key: user, rate_limit: { unit: minute, requests_per_unit: 1 } }
)";
  const auto json = [](std::string_view body) {
    return "POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  };
  const std::string alice = json(R"({"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"alice"}]}]})");
  const std::string nothing = json(
      R"({"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"bob"}]},{"entries":[{"key":"user","value":"eve"}],"limit":{"requestsPerUnit":0,"unit":"HOUR"}}]})");
  const std::string bob = json(R"({"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"bob"}]}]})");
  const std::string all = alice + check("carol") + alice + nothing + json("{") + bob;
  SharedHttp http({}, domain);
  Conversation talk = http.connect();
  EXPECT_EQ(talk.send(all), "");
  http.store.deliver_all();
  const std::string received = talk.resume();
  EXPECT_EQ(statuses(received), (std::vector{200, 200, 429, 429, 400, 200}));
  SharedHttp own({}, domain, SharedContext::Store::own);
  EXPECT_EQ(own.connect().send(all), received);
}

TEST(SharedHttp, ChunkedBodyStaysWhereItWasDecoded) {
  SharedHttp http;
  Conversation talk = http.connect();
  const std::string body = R"({"path":"/x","user":"alice"})";
  const std::string chunked = "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\na\r\n" +
                              body.substr(0, 10) + "\r\n12\r\n" + body.substr(10) + "\r\n0\r\n\r\n";
  EXPECT_EQ(talk.send(chunked + get("/v1/auth/x", "X-User-Id: alice\r\n") + chunked), "");
  http.store.deliver_all();
  EXPECT_EQ(statuses(talk.resume()), (std::vector{200, 200, 429}));
}

TEST(SharedHttp, LastAnswerClosesTheConnection) {
  struct Row {
    std::string_view name;
    std::string bytes;
    std::vector<int> statuses;
  };
  const std::string fault = "GET / HTTP/3.0\r\n\r\n";
  for (const Row& row : {
           Row{"asked to", check("a") + get("/healthz", "Connection: close\r\n") + check("a"), {200, 200}},
           Row{"asked to, by the one that waits", get("/v1/auth/x", "X-User-Id: a\r\nConnection: close\r\n"), {200}},
           Row{"behind a fault", check("a") + fault, {200, 400}},
       }) {
    SharedHttp http;
    Conversation talk = http.connect();
    EXPECT_EQ(talk.send(row.bytes), "") << row.name;
    EXPECT_FALSE(talk.closing()) << row.name;
    http.store.deliver_all();
    EXPECT_EQ(statuses(talk.resume()), row.statuses) << row.name;
    EXPECT_TRUE(talk.closing()) << row.name;
  }
}

TEST(SharedHttp, DrainingConnectionGivesItsAnswerFirst) {
  SharedHttp http;
  Conversation talk = http.connect();
  EXPECT_EQ(talk.send(check("alice")), "");
  EXPECT_EQ(talk.drain(), "");
  EXPECT_FALSE(talk.idle());
  http.store.deliver_all();
  const auto answers = parse_answers(talk.resume());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].field("Connection"), "close");
  EXPECT_TRUE(talk.closing());
}

// With sockets, the batch resumes the connection.
class ServedHttp : public testing::Test {
 protected:
  ServedHttp()
      : server([this](const net::Peer& peer, const net::Link& link) { return http.frontend.open(peer, link); }) {}
  ~ServedHttp() override {
    server.listener.reset();
    server.loops->stop();
  }

  template <class Work>
  void on_loop(const Work& work) {
    (*server.loops)[0].run(work);
  }
  bool eventually_waiting(std::size_t count) {
    return net::eventually([&] {
      std::size_t waiting = 0;
      on_loop([&] { waiting = http.store.waiting(); });
      return waiting == count;
    });
  }

  SharedHttp http;
  net::Server server;
};

TEST_F(ServedHttp, BatchResumesItsConnection) {
  net::Client client = server.connect();
  for (int round = 0; round < 3; ++round) {
    client.send(check("alice") + check("bob"));
    ASSERT_TRUE(eventually_waiting(2));
    on_loop([&] { http.store.deliver_all(); });
    std::string received;  // two responses with an object each
    while (std::ranges::count(received, '}') < 2) received += client.receive_some();
    EXPECT_EQ(statuses(received), std::vector<int>(2, round < 2 ? 200 : 429));
  }
}

TEST_F(ServedHttp, ConnectionThatWasResetIsForgotten) {
  net::Client client = server.connect();
  client.send(check("alice"));
  ASSERT_TRUE(eventually_waiting(1));
  client.reset();
  on_loop([&] { http.store.deliver_all(); });
  EXPECT_TRUE(net::eventually([&] { return server.counts().open == 0; }));
}

TEST_F(ServedHttp, DrainWaitsForBatchesInFlight) {
  net::Client client = server.connect();
  client.send(check("alice"));
  ASSERT_TRUE(eventually_waiting(1));
  server.listener->start_drain();
  on_loop([] {});
  EXPECT_EQ(server.counts().open, 1U);
  on_loop([&] { http.store.deliver_all(); });
  EXPECT_EQ(statuses(client.receive_to_end()), (std::vector{200}));
}

std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

// Returns the response after the store has answered or failed.
Answer answer_to(SharedHttp& http, std::string_view bytes) {
  Conversation talk = http.connect();
  std::string received = talk.send(bytes);
  http.store.deliver_all();
  received += talk.resume();
  const auto answers = parse_answers(received);
  EXPECT_EQ(answers.size(), 1U) << bytes;
  return answers.empty() ? Answer{} : answers.front();
}

std::string settlement_of(const Answer& reserved) {
  constexpr std::string_view begin = R"("receipt":")";
  const std::size_t at = reserved.body.find(begin) + begin.size();
  const std::string receipt = reserved.body.substr(at, reserved.body.find('"', at) - at);
  return post("/v1/settle", R"({"receipt":")" + receipt + R"(","actual":0})");
}

const std::string reserve_one = HttpFixture::check_request(R"({"path":"/x","user":"alice","reserve":true})");

TEST(SharedHttp, ASettlementThatTheStoreDidNotAnswerMayBeRepeated) {
  SharedHttp http;
  const std::string settlement = settlement_of(answer_to(http, reserve_one));
  http.make_store_unavailable();
  const Answer unanswered = answer_to(http, settlement);
  EXPECT_EQ(unanswered.status, 503);
  EXPECT_EQ(unanswered.body, R"({"limits":[{"limit":"by-user","result":"unanswered"}]})");
  http.store.failing = store::Failure::none;
  const Answer settled = answer_to(http, settlement);
  EXPECT_EQ(settled.status, 200);
  EXPECT_NE(settled.body.find(R"("result":"done","quota":2,"remaining":2)"), std::string::npos) << settled.body;
}

TEST(SharedHttp, AReceiptGivenInAnOutageIsSettledInItsProcess) {
  SharedHttp giver;
  giver.make_store_unavailable();
  const Answer reserved = answer_to(giver, reserve_one);
  EXPECT_EQ(reserved.status, 200);
  const std::string settlement = settlement_of(reserved);
  SharedHttp other;
  EXPECT_NE(answer_to(other, settlement).body.find(R"("result":"ended")"), std::string::npos);
  other.make_store_unavailable();
  EXPECT_EQ(answer_to(other, settlement).status, 503);
  giver.store.failing = store::Failure::none;
  EXPECT_NE(answer_to(giver, settlement).body.find(R"("result":"done")"), std::string::npos);
  EXPECT_NE(answer_to(giver, settlement).body.find(R"("result":"ended")"), std::string::npos);
}

}  // namespace
}  // namespace weir::frontend::shared_store_tests
