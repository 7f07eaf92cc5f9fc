// The stream: its messages, the maximum number of clients, and clients that do not read.
#include <thread>

#include "frontend/admin/live_json.h"
#include "tests/frontend_admin/admin_fixture.h"
#include "tests/net/server.h"

namespace weir::frontend {
namespace {

class AdminStreamTest : public AdminFrontendTest {
 protected:
  // Returns what a new client receives immediately.
  std::string begin(net::Session& session, net::Output& out) {
    std::string bytes = request("GET /v1/stream");
    EXPECT_EQ(session.on_input(bytes, out), bytes.size());
    return std::exchange(out.bytes(), {});
  }
  // Resumes the session, as the feed does after a message.
  std::string turn(net::Session& session, net::Output& out) {
    session.on_resume(out);
    return std::exchange(out.bytes(), {});
  }
  void publish(const std::string& text) { backend_.feed_now.publish(text + "\n\n"); }
};

TEST_F(AdminStreamTest, BeginsWithTheLastMessageAndGoesOn) {
  publish("one");
  publish("two");
  net::Output out;
  const std::string first = begin(*session_, out);
  EXPECT_NE(first.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(first.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(first.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(first.ends_with("\r\n\r\ntwo\n\n"));
  EXPECT_TRUE(out.paused());
  EXPECT_EQ(turn(*session_, out), "");
  publish("three");
  publish("four");
  EXPECT_EQ(turn(*session_, out), "three\n\nfour\n\n");
  EXPECT_EQ(turn(*session_, out), "");
}

TEST_F(AdminStreamTest, EveryClientIsNotifiedOfAMessageImmediately) {
  int notified = 0;
  {
    const Feed::Subscription one(backend_.feed_now, [&] { ++notified; });
    const Feed::Subscription other(backend_.feed_now, [&] { ++notified; });
    publish("one");
    EXPECT_EQ(notified, 2);
  }
  publish("two");
  EXPECT_EQ(notified, 2);
}

TEST_F(AdminStreamTest, IsPushedToItsConnection) {
  const net::Server server(
      [this](const net::Peer& peer, const net::Link& link) { return frontend_->open(peer, link); });
  net::Client client = server.connect();
  publish("one");
  client.send(request("GET /v1/stream"));
  std::string received;
  while (!received.ends_with("one\n\n")) received += client.receive(1);
  publish("two");
  EXPECT_EQ(client.receive(5), "two\n\n");
}

TEST_F(AdminStreamTest, ThereMayBeNoMessageYet) {
  net::Output out;
  EXPECT_TRUE(begin(*session_, out).ends_with("\r\n\r\n"));
  publish("one");
  EXPECT_EQ(turn(*session_, out), "one\n\n");
}

TEST_F(AdminStreamTest, LoopThatWasLateGetsWhatIsKept) {
  net::Output out;
  (void)begin(*session_, out);
  for (int i = 1; i <= 10; ++i) publish(std::to_string(i));
  EXPECT_EQ(turn(*session_, out), "7\n\n8\n\n9\n\n10\n\n");
}

TEST_F(AdminStreamTest, ClientsBeyondTheMaximumAreRejected) {
  std::vector<std::unique_ptr<net::Session>> sessions;
  net::Output out;
  for (std::size_t i = 0; i < Feed::max_clients; ++i) {
    sessions.push_back(frontend_->open({}, {}));
    EXPECT_NE(begin(*sessions.back(), out).find("200 OK"), std::string::npos);
    out = net::Output();
  }
  EXPECT_EQ(backend_.feed_now.clients(), Feed::max_clients);
  const Reply refused = ask("GET /v1/stream");
  EXPECT_EQ(refused.status, 503U);
  EXPECT_TRUE(refused.says("Retry-After: 5\r\n"));
  EXPECT_NE(refused.body.find("Too many stream readers (maximum 16)"), std::string::npos);
  sessions.pop_back();
  EXPECT_NE(begin(*session_, out).find("200 OK"), std::string::npos);
}

// A web page of another origin must not occupy one of the 16 streams.
TEST_F(AdminStreamTest, APageOfAnotherOriginTakesNoPlace) {
  open({.hosts = HostNames({"weir.example"})});
  for (const std::string_view headers :
       {"Origin: http://evil.example\r\n", "Origin: null\r\n", "Origin: http://localhost:3000\r\n",
        "Origin: http://localhost.evil.example\r\n", "Origin: http://127.0.0.1\r\n", "Origin: localhost\r\n",
        "Origin: \r\n", "Origin: http://localhost\r\nOrigin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n", "sec-fetch-site: whatever\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n",
        "Sec-Fetch-Site: cross-site\r\nOrigin: http://localhost\r\n"}) {
    const Reply refused = ask("GET /v1/stream", headers);
    EXPECT_EQ(refused.status, 403U) << headers;
    EXPECT_NE(refused.body.find("listeners.admin.hosts"), std::string::npos) << refused.body;
  }
  EXPECT_EQ(backend_.feed_now.clients(), 0U);
}

TEST_F(AdminStreamTest, ThePageFromHereAndProgramsAreServed) {
  open({.hosts = HostNames({"weir.example"})});
  for (const std::string_view headers :
       {"", "Origin: http://localhost\r\n", "Origin: https://LOCALHOST\r\n", "Origin: https://weir.example\r\n",
        "Sec-Fetch-Site: same-origin\r\n", "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n",
        "Sec-Fetch-Site: same-origin\r\nOrigin: https://behind-a-proxy.example\r\n"}) {
    net::Output out;
    auto session = frontend_->open({}, {});
    std::string bytes = request("GET /v1/stream", headers);
    EXPECT_EQ(session->on_input(bytes, out), bytes.size());
    EXPECT_NE(out.bytes().find("200 OK"), std::string::npos) << headers;
    EXPECT_NE(out.bytes().find("X-Content-Type-Options: nosniff\r\n"), std::string::npos);
  }
}

TEST_F(AdminStreamTest, AClientThatDoesNotReadIsNotSentMore) {
  net::Output out(64);
  (void)begin(*session_, out);
  publish(std::string(100, 'x'));
  session_->on_resume(out);
  const std::size_t unread = out.bytes().size();
  EXPECT_GE(unread, 64U);
  for (int i = 0; i < 100; ++i) {
    publish(std::string(100, 'y'));
    session_->on_resume(out);
  }
  EXPECT_EQ(out.bytes().size(), unread);
}

// With a real connection, unread data fills the socket first, then the output up to its bound.
TEST_F(AdminStreamTest, AClientThatDoesNotReadIsDisconnected) {
  const net::Server server(
      [this](const net::Peer& peer, const net::Link& link) { return frontend_->open(peer, link); });
  net::Client client = server.connect();
  client.send(request("GET /v1/stream"));
  const auto until = std::chrono::steady_clock::now() + net::timeout;
  const auto await = [&](std::size_t clients) {
    while (backend_.feed_now.clients() != clients && std::chrono::steady_clock::now() < until) {
      publish(std::string(256 << 10, 'x'));
      std::this_thread::yield();
    }
    return backend_.feed_now.clients();
  };
  EXPECT_EQ(await(1), 1U);
  EXPECT_EQ(await(0), 0U);
}

TEST_F(AdminStreamTest, EndsWhenTheServerStops) {
  net::Output out;
  (void)begin(*session_, out);
  EXPECT_FALSE(session_->idle());
  session_->on_drain(out);
  EXPECT_EQ(out.bytes(), end_message);
  EXPECT_TRUE(out.closing());
  EXPECT_TRUE(session_->idle());
  EXPECT_EQ(backend_.feed_now.clients(), 0U);
}

TEST_F(AdminStreamTest, IsOnAConnectionOfItsOwn) {
  std::string bytes = send(request("GET /v1/stream") + request("GET /healthz"));
  EXPECT_EQ(take_reply(bytes).status, 400U);
  EXPECT_EQ(take_reply(bytes).status, 200U);
}

TEST_F(AdminStreamTest, SecondIsOneLineOfJson) {
  observe::MeasuredSecond measured{.second = {.at = noon + 1500ms, .span = 1002ms, .requests = 3},
                                   .limits = {{"api", {5, 2, 0}}, {"<b>", {1, 0, 1}}}};
  measured.second.counts = {6, 2, 1};
  measured.second.p50 = 0.5e-6;
  measured.second.gauges = {.connections = 4, .used = 10, .resident = 20, .store = observe::StoreState::half_open};
  const std::vector<observe::Notice> news{{.kind = observe::Notice::Kind::spike,
                                           .level = observe::Level::warning,
                                           .limit = "api",
                                           .message = "a & b",
                                           .at = noon,
                                           .id = 7}};
  EXPECT_EQ(second_message(12, measured, 100, news),
            "id: 12\nevent: second\ndata: "
            R"({"at":"2026-01-05T12:00:01Z","seconds":1.002,"requests":3,"evaluated":0,"denied_requests":0,)"
            R"("decisions":6,"denied":2,"shadow_denied":1,)"
            R"("p50":5e-07,"p99":null,"connections":4,"memory":{"used":10,"budget":100,"resident":20},)"
            R"("store":"half_open","limits":[{"limit":"api","decisions":5,"denied":2,"shadow_denied":0},)"
            R"({"limit":"\u003cb\u003e","decisions":1,"denied":0,"shadow_denied":1}],"more_limits":0,)"
            R"("events":[{"id":7,"at":"2026-01-05T12:00:00Z","kind":"spike","level":"warning","limit":"api",)"
            R"("consumer":null,"message":"a \u0026 b"}]})"
            "\n\n");
}

TEST_F(AdminStreamTest, SecondListsTheBusiestLimitsOnly) {
  observe::MeasuredSecond measured;
  for (int i = 0; i < 250; ++i) measured.limits.push_back({"limit" + std::to_string(i), {1, 0, 0}});
  const std::string message = second_message(1, measured, 0, {});
  EXPECT_NE(message.find("\"limit199\""), std::string::npos);
  EXPECT_EQ(message.find("\"limit200\""), std::string::npos);
  EXPECT_NE(message.find("\"more_limits\":50"), std::string::npos);
}

}  // namespace
}  // namespace weir::frontend
