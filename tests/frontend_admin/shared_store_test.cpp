// One consumer of one limit on a shared store: inspected and reset when the store has answered.
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

class SharedAdmin : public SharedContext {
 public:
  explicit SharedAdmin(Store kept = Store::shared, std::string_view text = policy)
      : SharedContext(text, kept),
        frontend(context, backend, health, {.admin_token = Token("admin")}),
        talk(frontend.open({}, {})) {}

  std::string let_store_answer() {
    std::string heard;
    while (talk.paused()) {
      store.deliver_all();
      heard += talk.resume();
    }
    return heard;
  }

  FakeBackend backend;
  AdminFrontend frontend;
  Conversation talk;
};

std::string request(std::string_view line) {
  return std::string(line) + " HTTP/1.1\r\nHost: localhost\r\nX-Weir-Token: admin\r\n\r\n";
}

const std::string inspect = request("GET /v1/limits/api/consumers/alice");
const std::string reset = request("POST /v1/limits/api/consumers/alice/reset");

TEST(SharedAdmin, ConsumerIsInspectedWhenTheStoreHasAnswered) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.say(inspect), "");
  EXPECT_TRUE(admin.talk.paused());
  EXPECT_FALSE(admin.talk.idle());
  std::string heard = admin.let_store_answer();
  const Reply reply = take_reply(heard);
  EXPECT_EQ(reply.status, 200U);
  EXPECT_NE(reply.body.find(R"("remaining":2)"), std::string::npos) << reply.body;
  EXPECT_NE(reply.body.find(R"("consumer":"user=alice")"), std::string::npos) << reply.body;
  EXPECT_TRUE(admin.talk.idle());
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
    std::string heard = shared.talk.say(asked);
    heard += shared.let_store_answer();
    EXPECT_EQ(heard, own.talk.say(asked)) << asked;
  }
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
    std::string heard = shared.talk.say(request(line));
    heard += shared.let_store_answer();
    EXPECT_EQ(heard, own.talk.say(request(line))) << line;
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
    std::string heard = admin.talk.say(request("GET /v1/domains/edge/descriptor?address=a"));
    heard += admin.let_store_answer();
    return take_reply(heard).body;
  };
  EXPECT_NE(left().find(R"("remaining":0)"), std::string::npos);
  (void)admin.talk.say(request("POST /v1/domains/edge/descriptor/reset?address=a"));
  (void)admin.let_store_answer();
  EXPECT_NE(left().find(R"("remaining":2)"), std::string::npos) << left();
}

TEST(SharedAdmin, AnswersComeInOrderWhicheverIsKnownFirst) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.say(inspect + request("POST /v1/reload") + reset + request("GET /healthz")), "");
  ASSERT_EQ(admin.backend.reloads.size(), 1U);
  admin.store.deliver_all();
  std::string heard = admin.talk.resume();
  EXPECT_NE(take_reply(heard).body.find("remaining"), std::string::npos);
  EXPECT_EQ(heard, "") << "the reload is not done, and what follows it waits";
  EXPECT_TRUE(admin.talk.paused());
}

TEST(SharedAdmin, ResetThatTheStoreDidNotDoIsUnavailable) {
  for (const bool away : {true, false}) {
    SharedAdmin admin;
    if (away) admin.go_away();
    std::string heard = admin.talk.say(reset);
    if (!away) {
      EXPECT_EQ(heard, "");
      admin.store.fail(store::Failure::timeout);
      heard = admin.talk.resume();
    }
    const Reply reply = take_reply(heard);
    EXPECT_EQ(reply.status, 503U) << reply.body;
    EXPECT_EQ(heard, "");
  }
}

TEST(SharedAdmin, ConnectionThatGoesAwayIsNotAnswered) {
  SharedAdmin admin;
  EXPECT_EQ(admin.talk.say(inspect + reset), "");
  admin.talk.hang_up();
  admin.store.deliver_all();
  EXPECT_EQ(admin.store.waiting(), 0U);
}

// Over a socket: the batch resumes the connection.
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
  std::string heard = client.receive_to_end();
  EXPECT_EQ(take_reply(heard).status, 200U);
  EXPECT_EQ(take_reply(heard).status, 200U);
}

}  // namespace
}  // namespace weir::frontend
