// Delayed responses, from the loop's thread or from others, to connections that may have closed.
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/net/server.h"

namespace weir::net {
namespace {

// Pauses at every line until resumed.
class PausingSession final : public Session {
 public:
  PausingSession(Link link, std::function<void(PausingSession&)> paused)
      : link_(std::move(link)), on_pause_(std::move(paused)) {}

  std::size_t on_input(std::span<char> input, Output& out) override {
    const std::string_view bytes(input.data(), input.size());
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return 0;
    line_ = bytes.substr(0, end + 1);
    out.pause();
    on_pause_(*this);
    return end + 1;
  }
  void on_resume(Output& out) override { out.append(line_); }

  [[nodiscard]] const Link& link() const { return link_; }

 private:
  Link link_;
  std::function<void(PausingSession&)> on_pause_;
  std::string line_;
};

MakeSession pausing(std::function<void(PausingSession&)> paused) {
  return [paused = std::move(paused)](const Peer&, const Link& link) {
    return std::make_unique<PausingSession>(link, paused);
  };
}

TEST(Link, DelayedResponsesKeepTheirOrder) {
  std::mutex mutex;
  std::vector<Link> waiting;
  const Server server(pausing([&](const PausingSession& session) {
    const std::lock_guard lock(mutex);
    waiting.push_back(session.link());
  }));
  Client client = server.connect();
  client.send("a\nb\nc\n");
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return waiting.size() == i;
    }));
    const Link link = waiting.back();
    link.post([link] { link.resume(); });
  }
  EXPECT_EQ(client.receive(6), "a\nb\nc\n");
}

TEST(Link, ResumeBeforeThePauseIsNotLost) {
  const Server server(pausing([](const PausingSession& session) { session.link().resume(); }));
  EXPECT_EQ(server.connect().ask("a\nb\n"), "a\nb\n");
}

// Responds with views of the bytes that it consumed before it paused.
class Viewing final : public Session {
 public:
  Viewing(Link link, std::function<void(const Link&)> paused) : link_(std::move(link)), paused_(std::move(paused)) {}

  std::size_t on_input(std::span<char> input, Output& out) override {
    seen_ = {input.data(), input.size()};
    out.pause();
    paused_(link_);
    return input.size();
  }
  void on_resume(Output& out) override { out.append(seen_); }

 private:
  Link link_;
  std::function<void(const Link&)> paused_;
  std::string_view seen_;
};

TEST(Link, ConsumedBytesStayWhileTheOutputIsPaused) {
  std::mutex mutex;
  std::vector<Link> paused;
  const Server server([&](const Peer&, const Link& link) {
    return std::make_unique<Viewing>(link, [&](const Link& of) {
      const std::lock_guard lock(mutex);
      paused.push_back(of);
    });
  });
  Client client = server.connect();
  client.send("aaaa");
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return paused.size() == 1;
  }));
  const Link link = paused.front();
  client.send("bbbb");  // would overwrite them
  (*server.loops)[0].run([] {});
  link.post([link] { link.resume(); });
  EXPECT_EQ(client.receive(4), "aaaa");
}

TEST(Link, HalfClosedPeerGetsItsDelayedResponse) {
  std::promise<Link> paused;
  const Server server(pausing([&](const PausingSession& session) { paused.set_value(session.link()); }));
  Client client = server.connect();
  client.send("a\n");
  client.half_close();
  const Link link = paused.get_future().get();
  link.post([link] { link.resume(); });
  EXPECT_EQ(client.receive_to_end(), "a\n");
}

TEST(Link, DoesNothingAfterTheConnectionHasClosed) {
  std::promise<Link> paused;
  const Server server(pausing([&](const PausingSession& session) { paused.set_value(session.link()); }));
  Client client = server.connect();
  client.send("a\n");
  const Link link = paused.get_future().get();
  (*server.loops)[0].run([&] {
    EXPECT_TRUE(link.alive());
    link.close();
    EXPECT_FALSE(link.alive());
    link.send("x");
    link.resume();
    link.close();
  });
  bool ran = false;
  link.post([&] { ran = true; });
  (*server.loops)[0].run([] {});
  EXPECT_FALSE(ran);
  EXPECT_EQ(client.receive_to_end(), "");
}

TEST(Link, SessionMayCloseItselfDuringACall) {
  const Server server(pausing([](const PausingSession& session) { session.link().close(); }));
  Client client = server.connect();
  client.send("a\n");
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_TRUE(eventually([&] { return server.counts().open == 0; }));
}

TEST(Link, SendsByItself) {
  std::promise<Link> made;
  const Server server([&](const Peer&, const Link& link) {
    made.set_value(link);
    return std::make_unique<Echo>();
  });
  Client client = server.connect();
  const Link link = made.get_future().get();
  link.post([&] { link.send("news"); });
  EXPECT_EQ(client.receive(4), "news");
  EXPECT_EQ(client.ask("x"), "x");
}

TEST(Link, DoesNothingWithoutAConnection) {
  const Link link;
  EXPECT_FALSE(link.alive());
  EXPECT_EQ(link.loop(), nullptr);
  link.send("x");
  link.resume();
  link.close();
  link.post([] { FAIL(); });
}

TEST(Link, ManyThreadsRespondWhileConnectionsOpenAndClose) {
  std::mutex mutex;
  std::vector<Link> waiting;
  const Server server(pausing([&](const PausingSession& session) {
                        const std::lock_guard lock(mutex);
                        waiting.push_back(session.link());
                      }),
                      {}, 2);
  std::atomic<bool> done = false;
  std::vector<std::thread> answering;
  for (int i = 0; i < 2; ++i) {
    answering.emplace_back([&] {
      while (!done) {
        std::vector<Link> taken;
        {
          const std::lock_guard lock(mutex);
          taken.swap(waiting);
        }
        for (const Link& link : taken) link.post([link] { link.resume(); });
        if (taken.empty()) std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    Client client = server.connect();
    if (i % 3 == 0) {
      client.send("gone\n");
      client.reset();
    } else {
      EXPECT_EQ(client.ask("a\nb\n"), "a\nb\n");
    }
  }
  done = true;
  for (std::thread& thread : answering) thread.join();
}

}  // namespace
}  // namespace weir::net
