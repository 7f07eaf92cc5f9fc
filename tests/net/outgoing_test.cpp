// Client connections: connecting, transfer and loss.
#include "net/outgoing.h"

#include <netinet/tcp.h>

#include <future>

#include "tests/net/visitor.h"

namespace weir::net {
namespace {

// An address without a listener.
Address vacant() {
  const Server server(echo());
  return server.listener->bound();
}

// Counts the sessions and their reads.
class CountedEcho {
 public:
  [[nodiscard]] MakeSession sessions() {
    return [this](const Peer&, const Link&) { return std::make_unique<Counted>(*this); };
  }
  std::atomic<int> reads = 0;
  std::atomic<int> sessions_open = 0;

 private:
  class Counted final : public Echo {
   public:
    explicit Counted(CountedEcho& counted) : counted_(counted) { ++counted_.sessions_open; }
    ~Counted() override { --counted_.sessions_open; }
    std::size_t on_input(std::span<char> input, Output& out) override {
      ++counted_.reads;
      return Echo::on_input(input, out);
    }

   private:
    CountedEcho& counted_;
  };
};

TEST(Endpoint, HasTheUsualText) {
  EXPECT_EQ((Endpoint{"redis.example", 6379, ""}.text()), "redis.example:6379");
  EXPECT_EQ((Endpoint{"::1", 6379, ""}.text()), "[::1]:6379");
  EXPECT_EQ((Endpoint{"", 0, "/run/redis.sock"}.text()), "unix:/run/redis.sock");
}

TEST(Outgoing, TransfersBytesBothWays) {
  const Folder folder;
  for (const Address& where : {address("127.0.0.1:0"), folder.socket()}) {
    const Server server(echo(), {}, 1, where);
    Visitor visitor(server.listener->bound());
    ASSERT_TRUE(visitor.arrives()) << visitor.loss();
    EXPECT_EQ(visitor.ask("hello"), "hello");
  }
}

TEST(Outgoing, ResolvesNames) {
  const Server server(echo());
  Visitor visitor(leading_to({"localhost", server.listener->bound().port(), ""}));
  ASSERT_TRUE(visitor.arrives()) << visitor.loss();
  EXPECT_EQ(visitor.ask("hello"), "hello");
}

TEST(Outgoing, SetsNoDelayAndKeepAlive) {
  const Server server(echo());
  Visitor visitor(server.listener->bound());
  ASSERT_TRUE(visitor.arrives());
  // One of the few sockets of this process is connected to the server.
  int found = 0;
  for (int number = 3; number < 256; ++number) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    void* const any = &peer;
    if (::getpeername(number, static_cast<sockaddr*>(any), &size) != 0) continue;
    if (Address::from_system(peer, size).text() != server.listener->bound().text()) continue;
    ++found;
    int no_delay = 0;
    int keep_alive = 0;
    socklen_t flag = sizeof no_delay;
    ::getsockopt(number, IPPROTO_TCP, TCP_NODELAY, &no_delay, &flag);
    ::getsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &keep_alive, &flag);
    EXPECT_EQ(no_delay, 1);
    EXPECT_EQ(keep_alive, 1);
    EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(found, 1);
}

TEST(Outgoing, ReportsWhyItCannotConnect) {
  const Folder folder;
  const Address vacant_address = vacant();
  const struct {
    Endpoint endpoint;
    std::string message;
  } rows[] = {
      {endpoint_of(vacant_address),
       vacant_address.text() + ": connection refused; check that the server is running and listening there"},
      {endpoint_of(folder.socket()),
       folder.socket().text() + ": no such socket; check that the server is running and listening there"},
      {{"", 0, "/" + std::string(200, 'x')},
       "unix:/" + std::string(200, 'x') + ": unix socket path too long: at most 107 bytes; choose a shorter one"},
  };
  for (const auto& row : rows) {
    Visitor visitor(leading_to(row.endpoint));
    visitor.connect();
    EXPECT_EQ(visitor.loss(), row.message);
    EXPECT_EQ(visitor.connections(), 0);
  }
}

TEST(Outgoing, ReportsAnUnknownName) {
  const std::string name(64, 'x');  // too long for a DNS query
  Visitor visitor(leading_to({name, 1, ""}));
  visitor.connect();
  EXPECT_EQ(visitor.loss().find(name + ":1: "), 0U) << visitor.loss();
  EXPECT_NE(visitor.loss().find("unknown host " + name), std::string::npos) << visitor.loss();
}

// A listener with a full backlog, which drops the first packet of further connections.
class Deaf {
 public:
  Deaf() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const Address any = address("127.0.0.1:0");
    EXPECT_EQ(::bind(socket_.number(), any.system(), any.system_size()), 0);
    EXPECT_EQ(::listen(socket_.number(), 0), 0);
    for (int i = 0; i < 4; ++i) {
      Descriptor waiting(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)::connect(waiting.number(), bound().system(), bound().system_size());
      waiting_.push_back(std::move(waiting));
    }
  }
  [[nodiscard]] Address bound() const {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    void* const any = &storage;
    EXPECT_EQ(::getsockname(socket_.number(), static_cast<sockaddr*>(any), &size), 0);
    return Address::from_system(storage, size);
  }

 private:
  Descriptor socket_;
  std::vector<Descriptor> waiting_;
};

TEST(Outgoing, TimesOut) {
  const Deaf deaf;
  OutgoingOptions options = leading_to(endpoint_of(deaf.bound()));
  options.timeout = 20ms;
  Visitor visitor(options);
  visitor.connect();
  EXPECT_EQ(visitor.loss(), deaf.bound().text() + ": connection timed out; check the address and the network");
}

TEST(Outgoing, IsLostWhenTheServerCloses) {
  Server server(echo());
  Visitor visitor(server.listener->bound());
  ASSERT_TRUE(visitor.arrives());
  const std::string where = server.listener->bound().text();
  server.listener = nullptr;
  EXPECT_EQ(visitor.loss(), where + ": the server closed the connection");
  visitor.send("into the void");
  EXPECT_EQ(visitor.losses().size(), 1U);
}

class Farewell final : public Session {
 public:
  std::size_t on_input(std::span<char> input, Output& out) override {
    out.append("bye");
    out.close_after();
    return input.size();
  }
};

TEST(Outgoing, LastBytesArriveBeforeTheLoss) {
  const Server server([](const Peer&, const Link&) { return std::make_unique<Farewell>(); });
  Visitor visitor(server.listener->bound());
  std::string heard_when_lost;
  visitor.when_lost = [&](Outgoing&) { heard_when_lost = visitor.received(); };
  ASSERT_TRUE(visitor.arrives());
  visitor.send("x");
  EXPECT_NE(visitor.loss(), "");
  visitor.close();  // the callback has returned
  EXPECT_EQ(heard_when_lost, "bye");
}

TEST(Outgoing, MegabytesArriveComplete) {
  const Server server(echo());
  Visitor visitor(server.listener->bound());
  ASSERT_TRUE(visitor.arrives());
  std::string text;
  for (int i = 0; text.size() < (std::size_t{8} << 20); ++i) text += std::to_string(i) + ' ';
  EXPECT_EQ(visitor.ask(text), text);
}

// Reads only when resumed.
class Sleeper final : public Echo {
 public:
  Sleeper(const Link& link, std::promise<Link>& link_promise) : link_(link), link_promise_(link_promise) {}
  std::size_t on_input(std::span<char> input, Output& out) override {
    if (std::exchange(awake_, true)) return Echo::on_input(input, out);
    out.pause();
    link_promise_.set_value(link_);
    return 0;
  }

 private:
  Link link_;
  std::promise<Link>& link_promise_;
  bool awake_ = false;
};

TEST(Outgoing, OutputWaitsForASlowReader) {
  std::promise<Link> asleep;
  const Server server([&](const Peer&, const Link& link) { return std::make_unique<Sleeper>(link, asleep); });
  Visitor visitor(server.listener->bound());
  ASSERT_TRUE(visitor.arrives());
  const std::string text(std::size_t{16} << 20, 'x');
  visitor.send(text);
  std::size_t unsent = 0;
  visitor.with([&](const Outgoing& outgoing) { unsent = outgoing.unsent(); });
  EXPECT_GT(unsent, std::size_t{1} << 20);
  const Link link = asleep.get_future().get();
  link.post([&] { link.resume(); });
  EXPECT_TRUE(eventually([&] { return visitor.received().size() == text.size(); }));
  visitor.with([&](const Outgoing& outgoing) { unsent = outgoing.unsent(); });
  EXPECT_EQ(unsent, 0U);
}

TEST(Outgoing, IsLostAtTheOutputBound) {
  std::promise<Link> asleep;
  const Server server([&](const Peer&, const Link& link) { return std::make_unique<Sleeper>(link, asleep); });
  OutgoingOptions options = leading_to(endpoint_of(server.listener->bound()));
  options.output_bound = std::size_t{1} << 20;
  Visitor visitor(options);
  ASSERT_TRUE(visitor.arrives());
  const std::string piece(std::size_t{1} << 19, 'x');
  EXPECT_TRUE(eventually([&] {
    visitor.send(piece);
    return !visitor.losses().empty();
  }));
  EXPECT_NE(visitor.loss().find("the server does not read: "), std::string::npos) << visitor.loss();
}

TEST(Outgoing, IsLostAtTheInputBound) {
  const Server server(echo());
  OutgoingOptions options = leading_to(endpoint_of(server.listener->bound()));
  options.input_bound = 1000;
  Visitor visitor(options);
  visitor.consumes = false;
  ASSERT_TRUE(visitor.arrives());
  visitor.send(std::string(1000, 'x'));
  EXPECT_EQ(visitor.loss(),
            server.listener->bound().text() + ": received more than 1000 bytes without a complete message");
}

TEST(Outgoing, OutputOfACallbackIsOneWrite) {
  CountedEcho counted;
  const Server server(counted.sessions());
  Visitor visitor(server.listener->bound());
  visitor.when_connected = [](Outgoing& outgoing) {
    for (int i = 0; i < 100; ++i) outgoing.send("piece ");
  };
  ASSERT_TRUE(visitor.arrives());
  EXPECT_TRUE(eventually([&] { return visitor.received().size() == 600; }));
  EXPECT_EQ(counted.reads, 1);
}

TEST(Outgoing, NoCallbacksAfterClose) {
  CountedEcho counted;
  const Server server(counted.sessions());
  Visitor visitor(server.listener->bound());
  ASSERT_TRUE(visitor.arrives());
  visitor.send("x");
  visitor.close();
  EXPECT_TRUE(eventually([&] { return counted.sessions_open == 0; }));
  visitor.close();
  EXPECT_EQ(visitor.losses().size(), 0U);
}

TEST(Outgoing, Reconnects) {
  CountedEcho counted;
  const Server server(counted.sessions());
  Visitor visitor(server.listener->bound());
  ASSERT_TRUE(visitor.arrives());
  for (int i = 2; i < 5; ++i) {
    visitor.connect();  // replaces the existing connection
    EXPECT_TRUE(eventually([&] { return visitor.connections() == i; }));
  }
  EXPECT_EQ(visitor.ask("x"), "x");
  EXPECT_TRUE(eventually([&] { return counted.sessions_open == 1; }));
  EXPECT_EQ(visitor.losses().size(), 0U);
}

TEST(Outgoing, ReconnectsFromOnLost) {
  const Address vacant_address = vacant();
  Visitor visitor(vacant_address);
  visitor.when_lost = [&](Outgoing& outgoing) {
    if (visitor.losses().size() < 3) outgoing.connect();
  };
  visitor.connect();
  EXPECT_TRUE(eventually([&] { return visitor.losses().size() == 3; }));
}

// Each way of ending a connection, from each callback.
class EndedFromWithin : public testing::TestWithParam<bool> {
 protected:
  void end(Outgoing& outgoing, Visitor& visitor) {
    if (GetParam()) {
      visitor.destroy_here();
    } else {
      outgoing.send("never sent");
      outgoing.close();
    }
  }
  CountedEcho counted_;
  Server server_{counted_.sessions()};
};

TEST_P(EndedFromWithin, OnConnected) {
  Visitor visitor(server_.listener->bound());
  visitor.when_connected = [&](Outgoing& outgoing) { end(outgoing, visitor); };
  EXPECT_TRUE(visitor.arrives());
  EXPECT_TRUE(eventually([&] { return server_.counts().accepted == 1 && server_.counts().open == 0; }));
  EXPECT_EQ(counted_.reads, 0);
  EXPECT_EQ(visitor.losses().size(), 0U);
}

TEST_P(EndedFromWithin, OnBytes) {
  Visitor visitor(server_.listener->bound());
  visitor.when_bytes = [&](Outgoing& outgoing) { end(outgoing, visitor); };
  EXPECT_TRUE(visitor.arrives());
  EXPECT_EQ(visitor.ask("x"), "x");
  EXPECT_TRUE(eventually([&] { return server_.counts().open == 0; }));
  EXPECT_EQ(counted_.reads, 1);
  EXPECT_EQ(visitor.losses().size(), 0U);
}

TEST_P(EndedFromWithin, OnLost) {
  Visitor visitor(server_.listener->bound());
  visitor.when_lost = [&](Outgoing& outgoing) { end(outgoing, visitor); };
  EXPECT_TRUE(visitor.arrives());
  server_.listener = nullptr;
  EXPECT_NE(visitor.loss(), "");
  visitor.destroy();
  EXPECT_EQ(visitor.losses().size(), 1U);
}

TEST_P(EndedFromWithin, WhileItIsDialling) {
  Visitor visitor(server_.listener->bound());
  visitor.with([&](Outgoing& outgoing) {
    outgoing.connect();
    end(outgoing, visitor);
  });
  visitor.destroy();
  EXPECT_EQ(visitor.connections(), 0);
  EXPECT_EQ(visitor.losses().size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Ways, EndedFromWithin, testing::Bool(),
                         [](const auto& way) { return way.param ? "destroyed" : "closed"; });

}  // namespace
}  // namespace weir::net
