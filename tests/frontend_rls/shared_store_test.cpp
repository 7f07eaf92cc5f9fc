// A connection of the rate limit service frontend while the store has not answered.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/frontend/shared_context.h"
#include "tests/frontend_rls/rls_fixture.h"
#include "tests/net/server.h"

namespace weir::frontend::shared_store_tests {
namespace {

constexpr std::string_view two_per_user = R"(
version: 1
limits:
  - { name: by-user, consumer_key: user, algorithm: fixed_window, rate: 2/min }
)";

constexpr std::string_view shop = R"(
domain: shop
descriptors:
  - { key: user, rate_limit: { unit: minute, requests_per_unit: 2, name: per-user } }
)";

class SharedRls : public SharedContext {
 public:
  explicit SharedRls(std::string_view policy, Store kept = Store::shared)
      : SharedContext(policy, kept), frontend(context, health, {}), talk(frontend.open({}, {})) {}

  std::int32_t ask(const Ask& asked, const Fields& fields = {}) {
    return client.ask(post(should_rate_limit, fields), asked.body());
  }
  std::int32_t ask_for(const std::string& user) { return ask(Ask("weir").descriptor({{"user", user}})); }

  // Exchanges bytes until the frontend waits.
  void exchange() {
    for (std::string bytes = client.bytes(); !bytes.empty(); bytes = client.bytes()) client.hear(talk.send(bytes));
  }
  // Lets the store answer until nothing is pending.
  void let_store_answer() {
    exchange();
    while (store.waiting() > 0) {
      store.deliver_all();
      client.hear(talk.resume());
      exchange();
    }
  }
  MessageFields response_of(std::int32_t stream) {
    const Reply& reply = client.reply(stream);
    EXPECT_EQ(status_of(reply), "0") << message_of(reply);
    const auto messages = messages_of(reply);
    EXPECT_EQ(messages.size(), 1U);
    return MessageFields(messages.empty() ? std::string() : messages.front());
  }

  RlsFrontend frontend;
  Conversation talk;
  wire::http2::Client client;
};

TEST(SharedRls, CallsOfOneReadAreOneBatch) {
  SharedRls rls(two_per_user);
  const auto first = rls.ask_for("alice");
  const auto second = rls.ask(Ask("weir").descriptor({{"user", "bob"}}).descriptor({{"user", "alice"}}));
  const auto third = rls.ask_for("alice");
  const auto health = rls.client.ask(post(health_check, {}), framed(""));
  rls.exchange();
  EXPECT_FALSE(rls.talk.idle());
  EXPECT_EQ(rls.store.waiting(), 4U);
  EXPECT_EQ(status_of(rls.client.reply(health)), "0") << "what needs no verdict does not wait";
  rls.store.deliver();
  EXPECT_EQ(rls.talk.resume(), "");
  rls.let_store_answer();
  EXPECT_EQ(rls.response_of(first).number(1), ok);
  EXPECT_EQ(rls.response_of(second).number(1), ok);
  EXPECT_EQ(rls.response_of(second).message(2, 0).number(3), 1U);
  EXPECT_EQ(rls.response_of(second).message(2, 1).number(3), 0U);
  EXPECT_EQ(rls.response_of(third).number(1), over_limit);
  EXPECT_EQ(rls.response_of(third).header("retry-after"), "40");
}

TEST(SharedRls, AnswersAreThoseOfAStoreOfOnesOwn) {
  struct Row {
    std::string_view name;
    std::string_view policy;
    std::vector<Ask> asks;
  };
  const Ask alice = Ask("shop").descriptor({{"user", "alice"}});
  const Ask both = Ask("shop").descriptor({{"user", "alice"}}).descriptor({{"user", "bob"}});
  const Ask nothing =
      Ask("shop").descriptor({{"user", "bob"}}).descriptor({{"user", "eve"}}, override_field(0, /* minute */ 2));
  const Ask query = Ask("weir").descriptor({{"path", "/x"}, {"user", "alice"}});
  for (const Row& row : {
           Row{"descriptors", shop, {alice, both, both, alice, Ask("shop").descriptor({{"other", "x"}})}},
           Row{"overrides",
               shop,
               {nothing, both, Ask("shop").descriptor({{"user", "al"}}, override_field(1, 1)), nothing, both}},
           Row{"looks", shop, {Ask("shop").descriptor({{"user", "alice"}}, hits_field(0)), alice, alice, alice}},
           Row{"hits", shop, {Ask("shop").descriptor({{"user", "alice"}}).hits(2), alice}},
           Row{"queries", two_per_user, {query, query, Ask("weir").descriptor({{"user", "bob"}}).hits(3), query}},
           Row{"what is wrong", shop, {Ask(""), alice, Ask("shop")}},
       }) {
    SharedRls own(row.policy, SharedContext::Store::own);
    SharedRls shared(row.policy);
    for (SharedRls* const rls : {&own, &shared}) {
      for (const Ask& each : row.asks) (void)rls->ask(each);
      rls->let_store_answer();
    }
    for (std::int32_t stream = 1; stream < 2 * static_cast<std::int32_t>(row.asks.size()); stream += 2) {
      EXPECT_EQ(shared.client.reply(stream).body, own.client.reply(stream).body) << row.name << ' ' << stream;
      EXPECT_EQ(shared.client.reply(stream).fields, own.client.reply(stream).fields) << row.name << ' ' << stream;
      EXPECT_TRUE(shared.client.reply(stream).ended) << row.name << ' ' << stream;
    }
  }
}

TEST(SharedRls, CancelledCallIsNotTouched) {
  SharedRls rls(two_per_user);
  const auto given_up = rls.ask_for("alice");
  const auto kept = rls.ask_for("alice");
  rls.exchange();
  rls.client.reset(given_up);
  const auto later = rls.ask_for("alice");
  rls.let_store_answer();
  EXPECT_EQ(rls.response_of(kept).number(1), ok);
  EXPECT_EQ(rls.response_of(later).number(1), over_limit);
  rls.client.hear(rls.talk.drain());
  rls.client.hear(rls.talk.tick(net::SteadyTime(std::chrono::seconds(1))));
  EXPECT_TRUE(rls.talk.idle()) << "nothing of it is left";
}

TEST(SharedRls, TicksDoNotAffectWaitingCalls) {
  SharedRls rls(two_per_user);
  const auto waiting = rls.ask_for("alice");
  const auto incomplete = rls.client.ask(post(should_rate_limit, {}), "", true);
  rls.exchange();
  for (const auto seconds : {1, 20, 40}) rls.client.hear(rls.talk.tick(net::SteadyTime(std::chrono::seconds(seconds))));
  EXPECT_TRUE(rls.client.reply(incomplete).closed);
  EXPECT_FALSE(rls.client.reply(waiting).closed);
  rls.let_store_answer();
  EXPECT_EQ(rls.response_of(waiting).number(1), ok);
}

TEST(SharedRls, DrainingConnectionGivesItsAnswersFirst) {
  SharedRls rls(two_per_user);
  const auto waiting = rls.ask_for("alice");
  rls.exchange();
  rls.client.hear(rls.talk.drain());
  rls.client.hear(rls.talk.tick(net::SteadyTime(std::chrono::seconds(1))));
  EXPECT_EQ(rls.client.goaways().size(), 2U);
  EXPECT_FALSE(rls.talk.idle());
  EXPECT_FALSE(rls.talk.closing());
  rls.store.deliver_all();
  rls.client.hear(rls.talk.resume());
  EXPECT_EQ(rls.response_of(waiting).number(1), ok);
  EXPECT_TRUE(rls.talk.closing());
}

TEST(SharedRls, ConnectionThatGoesAwayIsNotAnswered) {
  SharedRls rls(two_per_user);
  (void)rls.ask_for("alice");
  (void)rls.ask(Ask("shop").descriptor({{"user", "alice"}}));
  rls.exchange();
  rls.talk.hang_up();
  rls.store.deliver_all();
  EXPECT_EQ(rls.store.waiting(), 0U);
}

TEST(SharedRls, PeerThatBreaksTheProtocolWhileWaitingGetsAnError) {
  SharedRls rls(two_per_user);
  (void)rls.ask_for("alice");
  rls.exchange();
  rls.client.hear(rls.talk.send("this is no frame of HTTP/2 at all, nor the beginning of one"));
  EXPECT_TRUE(rls.talk.closing());
  EXPECT_EQ(rls.client.goaways().size(), 1U);
  rls.talk.hang_up();
  rls.store.deliver_all();
}

TEST(SharedRls, CallsOfALaterReadDoNotWaitForThoseBefore) {
  SharedRls rls(two_per_user);
  const auto first = rls.ask_for("alice");
  rls.exchange();
  const auto second = rls.ask_for("bob");
  rls.exchange();
  EXPECT_FALSE(rls.talk.paused());
  EXPECT_EQ(rls.store.waiting(), 2U);
  rls.store.deliver_last();
  rls.client.hear(rls.talk.resume());
  EXPECT_EQ(rls.response_of(second).number(1), ok);
  EXPECT_FALSE(rls.client.reply(first).ended);
  rls.store.deliver_all();
  rls.client.hear(rls.talk.resume());
  EXPECT_EQ(rls.response_of(first).number(1), ok);
}

TEST(SharedRls, WhoAsksWithoutEndIsMadeToWait) {
  SharedRls rls(two_per_user);
  std::vector<std::int32_t> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(rls.ask_for("user-" + std::to_string(i)));
    rls.exchange();
  }
  EXPECT_TRUE(rls.talk.paused());
  EXPECT_EQ(rls.store.waiting(), 8U);
  rls.let_store_answer();
  EXPECT_FALSE(rls.talk.paused());
  for (const auto call : calls) EXPECT_EQ(rls.response_of(call).number(1), ok);
}

TEST(SharedRls, CallThatIsGivenUpWhileOthersComeIsNotTouched) {
  SharedRls rls(two_per_user);
  const auto given_up = rls.ask_for("alice");
  rls.exchange();
  rls.client.reset(given_up);
  rls.exchange();
  const auto later = rls.ask_for("alice");  // on another exchange
  rls.exchange();
  EXPECT_EQ(rls.store.waiting(), 2U);
  rls.let_store_answer();
  EXPECT_EQ(rls.response_of(later).number(1), ok);
  EXPECT_FALSE(rls.client.reply(given_up).ended);
  const auto last = rls.ask_for("bob");
  rls.let_store_answer();
  EXPECT_EQ(rls.response_of(last).number(1), ok);
}

TEST(SharedRls, PeerThatSendsNoMoreGetsItsAnswers) {
  SharedRls rls(two_per_user);
  const auto call = rls.ask_for("alice");
  rls.exchange();
  rls.talk.end();
  EXPECT_TRUE(rls.talk.paused());
  rls.store.deliver_all();
  rls.client.hear(rls.talk.resume());
  EXPECT_FALSE(rls.talk.paused());
  EXPECT_EQ(rls.response_of(call).number(1), ok);
}

TEST(SharedRls, NoRequestWaitsForAnUnavailableStore) {
  SharedRls rls(R"(
version: 1
limits:
  - { name: shut, consumer_key: user, algorithm: gcra, rate: 1/s, on_store_failure: closed }
)");
  rls.make_store_unavailable();
  const auto call = rls.ask_for("alice");
  rls.exchange();
  EXPECT_FALSE(rls.talk.paused());
  EXPECT_EQ(rls.response_of(call).number(1), over_limit);
  EXPECT_EQ(rls.response_of(call).header("retry-after"), "1");
}

// With a socket, the batch resumes the connection.
TEST(SharedRls, BatchResumesItsConnection) {
  SharedRls rls(two_per_user);
  const net::Server server([&](const net::Peer& peer, const net::Link& link) { return rls.frontend.open(peer, link); });
  net::Client socket = server.connect();
  const auto call = rls.ask_for("alice");
  socket.send(rls.client.bytes());
  bool delivered = false;
  EXPECT_TRUE(net::eventually([&] {
    (*server.loops)[0].run([&] {
      delivered = rls.store.waiting() == 1;
      rls.store.deliver_all();
    });
    return delivered;
  }));
  while (!rls.client.reply(call).closed) rls.client.hear(socket.receive_some());
  EXPECT_EQ(rls.response_of(call).number(1), ok);
}

}  // namespace
}  // namespace weir::frontend::shared_store_tests
