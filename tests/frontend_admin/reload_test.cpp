// A reload is answered when it is done. Uses real connections, because the response arrives through their links.
#include <condition_variable>
#include <mutex>

#include "tests/frontend_admin/admin_fixture.h"
#include "tests/net/server.h"

namespace weir::frontend {
namespace {

// Reloads wait until the test completes them, on the test's thread.
class HeldReloads final : public FakeBackend {
 public:
  std::string metrics() override { return "metrics\n"; }
  void reload(Reloaded done) override {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(done));
    came_.notify_all();
  }

  // Waits for the next reload.
  Reloaded take() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, net::timeout, [&] { return !waiting_.empty(); }));
    Reloaded first = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Reloaded> waiting_;
};

class AdminReloadTest : public AdminFrontendTest {
 protected:
  static std::string reload(std::string_view more = {}) {
    return request("POST /v1/reload", "X-Weir-Token: a\r\n" + std::string(more));
  }

  Reply receive(net::Client& client) {
    while (received_.find("\r\n\r\n") == std::string::npos || !has_body()) {
      const std::string more = client.receive_some();
      if (more.empty()) break;
      received_ += more;
    }
    return take_reply(received_);
  }

  HeldReloads reloads_;
  AdminFrontend frontend_on_loop_{*context_, reloads_, health_, {.admin_token = Token("a")}};
  net::Server server_{
      [this](const net::Peer& peer, const net::Link& link) { return frontend_on_loop_.open(peer, link); }};

 private:
  [[nodiscard]] bool has_body() const {
    const std::size_t end = received_.find("\r\n\r\n");
    const std::size_t length = received_.find("Content-Length: ");
    return received_.size() - end - 4 >= std::stoul(received_.substr(length + std::string("Content-Length: ").size()));
  }

  std::string received_;
};

TEST_F(AdminReloadTest, IsAnsweredWithTheDigest) {
  net::Client client = server_.connect();
  client.send(reload());
  reloads_.take()(AdminBackend::Reload{.digest = "d7"});
  const Reply reply = receive(client);
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body, "{\"digest\":\"d7\",\"restart_needed\":null}\n");
}

TEST_F(AdminReloadTest, NamesSettingsThatRequireARestart) {
  net::Client client = server_.connect();
  client.send(reload());
  reloads_.take()(AdminBackend::Reload{.digest = "d7", .restart_needed = "listeners.http, log"});
  EXPECT_EQ(receive(client).body, "{\"digest\":\"d7\",\"restart_needed\":\"listeners.http, log\"}\n");
}

TEST_F(AdminReloadTest, ThatIsRefusedSaysWhy) {
  net::Client client = server_.connect();
  client.send(reload());
  reloads_.take()(failure("policy.yaml:3:5", "is wrong"));
  const Reply reply = receive(client);
  EXPECT_EQ(reply.status, 422U);
  EXPECT_NE(reply.body.find("policy.yaml:3:5: is wrong"), std::string::npos);
}

TEST_F(AdminReloadTest, AnswersBehindItWaitForIt) {
  net::Client client = server_.connect();
  client.send(request("GET /healthz") + reload() + request("GET /metrics") + reload() + request("GET /healthz"));
  const auto done = reloads_.take();
  done(AdminBackend::Reload{.digest = "d8"});
  EXPECT_EQ(receive(client).body, "ok\n");
  EXPECT_EQ(receive(client).body, "{\"digest\":\"d8\",\"restart_needed\":null}\n");
  EXPECT_EQ(receive(client).body, "metrics\n");
  EXPECT_EQ(receive(client).status, 409U);
  EXPECT_EQ(receive(client).body, "ok\n");
}

TEST_F(AdminReloadTest, CanBeAskedForAgain) {
  net::Client client = server_.connect();
  for (const auto* digest : {"d1", "d2"}) {
    client.send(reload());
    reloads_.take()(AdminBackend::Reload{.digest = digest});
    EXPECT_EQ(receive(client).body, "{\"digest\":\"" + std::string(digest) + "\",\"restart_needed\":null}\n");
  }
}

TEST_F(AdminReloadTest, AsTheLastRequestEndsTheConnectionAfterItsAnswer) {
  net::Client client = server_.connect();
  client.send(reload("Connection: close\r\n"));
  reloads_.take()(AdminBackend::Reload{.digest = "d9"});
  const Reply reply = receive(client);
  EXPECT_TRUE(reply.says("Connection: close\r\n"));
  EXPECT_EQ(client.receive_some(), "");
}

TEST_F(AdminReloadTest, OfAClientThatLeftIsNotMissed) {
  net::Client client = server_.connect();
  client.send(reload());
  const auto done = reloads_.take();
  client.reset();
  done(AdminBackend::Reload{.digest = "d1"});
  EXPECT_TRUE(net::eventually([&] { return server_.counts().open == 0; }));
  net::Client next = server_.connect();
  next.send(request("GET /healthz"));
  EXPECT_EQ(receive(next).body, "ok\n");
}

TEST_F(AdminReloadTest, ThatEndsAfterItsConnectionIsDropped) {
  net::Client client = server_.connect();
  client.send(reload());
  const auto done = reloads_.take();
  server_.listener.reset();
  done(AdminBackend::Reload{.digest = "d1"});
  EXPECT_EQ(client.receive_some(), "");
}

}  // namespace
}  // namespace weir::frontend
