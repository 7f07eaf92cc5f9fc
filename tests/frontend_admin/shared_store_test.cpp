// Inspecting and resetting one consumer at one limit on a shared store.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend/shared_context.h"
#include "tests/frontend_admin/admin_fixture.h"
#include "tests/net/server.h"

namespace weir::frontend {
namespace {

constexpr std::string_view policy = R"(
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: fixed_window, rate: 2/min }
)";

std::string request(std::string_view line) {
  return std::string(line) + " HTTP/1.1\r\nHost: localhost\r\nX-Weir-Token: admin\r\n\r\n";
}

const std::string inspect = request("GET /v1/limits/api/consumers/alice");
const std::string reset = request("POST /v1/limits/api/consumers/alice/reset");

class SharedAdmin : public SharedContext {
 public:
  explicit SharedAdmin(Store kept = Store::shared, std::string_view text = policy)
      : SharedContext(text, kept),
        frontend(context, backend, health, {.admin_token = Token("admin")}),
        talk(frontend.open({}, {})) {}

  std::string body_of(const std::string& asked) {
    std::string received = talk.send(asked);
    received += let_store_answer();
    return take_reply(received).body;
  }

  // Another node requests a slice of alice's units, charges one and receives at most `want`.
  void lend(std::uint64_t holder, std::uint64_t want, Duration hold) {
    (void)talk.send(inspect);
    store::Group group;
    group.checks.push_back(store.groups().front()->checks[0]);
    (void)let_store_answer();
    const core::Rule rule = *group.checks[0].rule;
    store::SliceExchange exchange{.message = {.holder = holder, .number = 1, .want = want, .lease = hold},
                                  .answer = {}};
    store::CheckExtension extension{.exchange = &exchange};
    struct Done final : store::Callback {
      void answered(store::Group& /*group*/) override {}
    } done;
    group.operation = store::Operation::decide;
    group.callback = &done;
    group.checks[0].rule = &rule;
    group.checks[0].cost = Cost{1};
    group.checks[0].extension = &extension;
    group.checks[0].holdings = nullptr;
    store.submit(group);
    store.deliver_all();
    ASSERT_EQ(exchange.answer.units, want);
  }

  std::string let_store_answer() {
    std::string received;
    while (talk.paused()) {
      store.deliver_all();
      received += talk.resume();
    }
    return received;
  }

  FakeBackend backend;
  AdminFrontend frontend;
  Conversation talk;
};

TEST(SharedAdmin, ConsumerIsInspectedWhenTheStoreHasAnswered) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.send(inspect), "");
  EXPECT_TRUE(admin.talk.paused());
  EXPECT_FALSE(admin.talk.idle());
  std::string received = admin.let_store_answer();
  const Reply reply = take_reply(received);
  EXPECT_EQ(reply.status, 200U);
  EXPECT_NE(reply.body.find(R"("remaining":2)"), std::string::npos) << reply.body;
  EXPECT_NE(reply.body.find(R"("consumer":"user=alice")"), std::string::npos) << reply.body;
  EXPECT_TRUE(admin.talk.idle());
}

TEST(SharedAdmin, ResetIsReportedAfterTheClientDisconnects) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.send(reset), "");
  ASSERT_TRUE(admin.talk.paused());
  EXPECT_TRUE(admin.backend.changes.empty());
  admin.talk.hang_up();
  ASSERT_EQ(admin.backend.changes.size(), 1U);
  EXPECT_EQ(admin.backend.changes[0].outcome, "unanswered");
  EXPECT_EQ(admin.backend.changes[0].consumer, "named:user=alice");
  admin.store.deliver_all();  // has no further effect
  EXPECT_EQ(admin.backend.changes.size(), 1U);
}

TEST(SharedAdmin, AnswersAreThoseOfAStoreOfOnesOwn) {
  for (const std::string& asked : std::vector<std::string>{
           inspect,
           reset,
           request("HEAD /v1/limits/api/consumers/alice"),
           request("GET /v1/limits/api/consumers/alice?tier=none"),
           request("GET /v1/limits/none/consumers/alice"),
           request("POST /v1/limits/none/consumers/alice/reset"),
           request("POST /v1/limits/api/consumers/ip=192.0.2.1/reset"),
           inspect + reset + request("GET /healthz") + inspect + request("GET /v1/nothing"),
       }) {
    SharedAdmin own(SharedContext::Store::own);
    SharedAdmin shared;
    std::string received = shared.talk.send(asked);
    received += shared.let_store_answer();
    EXPECT_EQ(received, own.talk.send(asked)) << asked;
  }
}

constexpr std::string_view leased = R"(
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: fixed_window, rate: 2000/h, consistency: leased,
      candidate: { rate: 100/h } }
  - { name: watched, consumer_key: user, algorithm: fixed_window, rate: 2000/h, consistency: leased, mode: shadow }
)";

bool has(const std::string& body, std::string_view text) {
  return body.find(text) != std::string::npos;
}

TEST(SharedAdmin, LeasedUnitsAreListedWithTheirHolders) {
  SharedAdmin admin(SharedContext::Store::shared, leased);
  admin.lend(0x0123'4567'89ab'0001U, 100, std::chrono::seconds(1));
  admin.lend(0xfedc'ba98'7654'0000U, 40, std::chrono::milliseconds(250));
  const std::string body = admin.body_of(inspect);
  EXPECT_TRUE(has(body, R"("quota":2000,"remaining":1858,)")) << body;
  EXPECT_TRUE(has(body, R"("consistency":"leased","used":2,"leased":140,"holders":2,"slices":[)"
                        R"({"holder":"0123456789ab","units":100,"expires_after":1,"own":false},)"
                        R"({"holder":"fedcba987654","units":40,"expires_after":0.25,"own":false}],)"))
      << body;
}

TEST(SharedAdmin, OfManySlicesSomeAreListedAndAllCounted) {
  SharedAdmin admin(SharedContext::Store::shared, leased);
  for (std::uint64_t holder = 1; holder <= 40; ++holder) admin.lend(holder << 16, 4, std::chrono::seconds(holder));
  const std::string body = admin.body_of(inspect);
  EXPECT_TRUE(has(body, R"("used":40,"leased":160,"holders":40,"slices":[{"holder":"000000000028",)")) << body;
  EXPECT_TRUE(has(body, R"({"holder":"000000000009","units":4,"expires_after":9,"own":false}],)")) << body;
}

// They have their own states, which are never leased.
TEST(SharedAdmin, CandidatesAndLimitsInShadowAreShownAsExact) {
  SharedAdmin admin(SharedContext::Store::shared, leased);
  admin.lend(1 << 16, 200, std::chrono::seconds(1));
  EXPECT_TRUE(has(admin.body_of(inspect),
                  R"("candidate":{"admitted":true,"quota":100,"remaining":100,"consistency":"exact"},)"));
  const std::string shadow = admin.body_of(request("GET /v1/limits/watched/consumers/alice"));
  EXPECT_TRUE(has(shadow, R"("mode":"shadow",)")) << shadow;
  EXPECT_TRUE(has(shadow, R"("consistency":"exact","used":0,"leased":0,"holders":0,"slices":[],"open":0,)")) << shadow;
}

TEST(SharedAdmin, AResetReportsLeasedUnits) {
  SharedAdmin admin(SharedContext::Store::shared, leased);
  admin.lend(1 << 16, 100, std::chrono::seconds(1));
  admin.lend(2 << 16, 40, std::chrono::milliseconds(250));
  EXPECT_EQ(admin.body_of(reset),
            R"({"limit":"api","consumer":"user=alice","reset":true,"out":{"units":140,"holders":2,"expires_after":1}})"
            "\n");
  EXPECT_TRUE(has(admin.body_of(inspect), R"("remaining":2000,)"));
  EXPECT_TRUE(has(admin.body_of(inspect), R"("used":0,"leased":0,"holders":0,"slices":[],)"));
  EXPECT_TRUE(has(admin.body_of(reset), R"("out":{"units":0,"holders":0,"expires_after":0})"));
}

TEST(SharedAdmin, WhatAStoreThatIsAwayHoldsIsNotKnown) {
  SharedAdmin admin(SharedContext::Store::shared, leased);
  admin.make_store_unavailable();
  const std::string body = admin.body_of(inspect);
  EXPECT_TRUE(has(body, R"("consistency":"leased","used":null,"leased":null,"holders":null,"slices":null,)")) << body;
}

constexpr std::string_view descriptors = R"(
domain: edge
descriptors:
  - { key: address, rate_limit: { unit: hour, requests_per_unit: 2 } }
  - { key: health, rate_limit: { unlimited: true } }
)";

TEST(SharedAdmin, DescriptorsAreAnsweredAsOnAStoreOfOnesOwn) {
  for (const auto* line :
       {"GET /v1/domains/edge/descriptor?address=a", "GET /v1/domains/edge/descriptor?health=a",
        "GET /v1/domains/edge/descriptor?x=a", "GET /v1/domains/x/descriptor?address=a",
        "POST /v1/domains/edge/descriptor/reset?address=a", "POST /v1/domains/edge/descriptor/reset?health=a",
        "POST /v1/domains/edge/descriptor/reset?x=a"}) {
    SharedAdmin own(SharedContext::Store::own, descriptors);
    SharedAdmin shared(SharedContext::Store::shared, descriptors);
    std::string received = shared.talk.send(request(line));
    received += shared.let_store_answer();
    EXPECT_EQ(received, own.talk.send(request(line))) << line;
  }
}

TEST(SharedAdmin, DescriptorIsForgottenInTheStore) {
  SharedAdmin admin(SharedContext::Store::shared, descriptors);
  const engine::DescriptorEntry entry{"address", "a"};
  const engine::DescriptorQuery twice{.entries = {&entry, 1}, .hits = Cost{2}, .limit_override = {}};
  const auto batch = admin.context.evaluator().new_batch();
  batch->add("edge", {&twice, 1});
  ASSERT_FALSE(batch->submit());
  admin.store.deliver_all();
  ASSERT_TRUE(batch->verdict(0).admitted);
  const auto left = [&] {
    std::string received = admin.talk.send(request("GET /v1/domains/edge/descriptor?address=a"));
    received += admin.let_store_answer();
    return take_reply(received).body;
  };
  EXPECT_NE(left().find(R"("remaining":0)"), std::string::npos);
  (void)admin.talk.send(request("POST /v1/domains/edge/descriptor/reset?address=a"));
  (void)admin.let_store_answer();
  EXPECT_NE(left().find(R"("remaining":2)"), std::string::npos) << left();
}

TEST(SharedAdmin, AnswersComeInOrderWhicheverIsKnownFirst) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.send(inspect + request("POST /v1/reload") + reset + request("GET /healthz")), "");
  ASSERT_EQ(admin.backend.reloads.size(), 1U);
  admin.store.deliver_all();
  std::string received = admin.talk.resume();
  EXPECT_NE(take_reply(received).body.find("remaining"), std::string::npos);
  EXPECT_EQ(received, "") << "the reload is not done, and what follows it waits";
  EXPECT_TRUE(admin.talk.paused());
}

TEST(SharedAdmin, ResetThatTheStoreDidNotDoIsUnavailable) {
  for (const bool is_unavailable : {true, false}) {
    SharedAdmin admin;
    if (is_unavailable) admin.make_store_unavailable();
    std::string received = admin.talk.send(reset);
    if (!is_unavailable) {
      EXPECT_EQ(received, "");
      admin.store.fail(store::Failure::timeout);
      received = admin.talk.resume();
    }
    const Reply reply = take_reply(received);
    EXPECT_EQ(reply.status, 503U) << reply.body;
    EXPECT_EQ(received, "");
  }
}

TEST(SharedAdmin, ConnectionThatGoesAwayIsNotAnswered) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.send(inspect + reset), "");
  admin.talk.hang_up();
  admin.store.deliver_all();
  EXPECT_EQ(admin.store.waiting(), 0U);
}

// With a socket, the batch resumes the connection.
TEST(SharedAdmin, BatchResumesItsConnection) {
  SharedAdmin admin;
  const net::Server server(
      [&](const net::Peer& peer, const net::Link& link) { return admin.frontend.open(peer, link); });
  net::Client client = server.connect();
  client.send(request("GET /v1/limits/api/consumers/alice") + reset);
  bool delivered = false;
  EXPECT_TRUE(net::eventually([&] {
    (*server.loops)[0].run([&] {
      delivered = admin.store.waiting() > 0;
      admin.store.deliver_all();
    });
    return delivered;
  }));
  client.half_close();
  std::string received = client.receive_to_end();
  EXPECT_EQ(take_reply(received).status, 200U);
  EXPECT_EQ(take_reply(received).status, 200U);
}

}  // namespace
}  // namespace weir::frontend
