// Every timeout closes its connection. Each test would wait forever without its timeout.
#include "tests/net/server.h"

namespace weir::net {
namespace {

// Disables all timeouts but the one that the test sets.
ListenOptions patient() {
  ListenOptions options;
  options.connection.timeouts = {Duration::max(), Duration::max(), Duration::max(), Duration::max(), Duration::max()};
  return options;
}

TEST(Timeout, ClosesASilentClient) {
  ListenOptions options = patient();
  options.connection.timeouts.first_bytes = 20ms;
  const Server server(echo(), options);
  EXPECT_EQ(server.connect().receive_to_end(), "");
  EXPECT_EQ(server.counts().timed_out, 1U);
}

TEST(Timeout, ClosesAnIdleClient) {
  ListenOptions options = patient();
  options.connection.timeouts.idle = 20ms;
  const Server server(echo(), options);
  Client client = server.connect();
  EXPECT_EQ(client.ask("x"), "x");
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_EQ(server.counts().timed_out, 1U);
}

TEST(Timeout, ClosesAClientThatSendsAMessageSlowly) {
  ListenOptions options = patient();
  options.connection.timeouts.incomplete = 50ms;
  LineCounts counts;
  const Server server(lines(counts), options);
  Client client = server.connect();
  EXPECT_EQ(client.ask("line\n"), "line\n");
  EXPECT_TRUE(eventually([&] {
    client.send_some("x");
    return server.counts().timed_out == 1;
  }));
  EXPECT_EQ(client.receive_to_end(), "");
}

class Flood final : public Session {
 public:
  std::size_t on_input(std::span<char> input, Output& out) override {
    const std::string_view bytes(input.data(), input.size());
    out.bytes().append(std::size_t{32} << 20, 'a');
    return bytes.size();
  }
};

TEST(Timeout, ClosesAClientThatDoesNotRead) {
  ListenOptions options = patient();
  options.connection.timeouts.unread = 50ms;
  const Server server([](const Peer&, const Link&) { return std::make_unique<Flood>(); }, options);
  Client client = server.connect();
  client.send("x");
  EXPECT_TRUE(eventually([&] { return server.counts().timed_out == 1 && server.counts().open == 0; }));
}

// Delays its response by some ticks, far longer than the idle timeout.
class Pondering final : public Session {
 public:
  explicit Pondering(Link link) : link_(std::move(link)) {}
  std::size_t on_input(std::span<char> input, Output& out) override {
    const std::string_view bytes(input.data(), input.size());
    out.pause();
    return bytes.size();
  }
  void on_tick(SteadyTime /*now*/, Output& out) override {
    if (out.paused() && ++ticks_ == 30) link_.resume();
  }
  void on_resume(Output& out) override { out.append("at last"); }

 private:
  Link link_;
  int ticks_ = 0;
};

TEST(Timeout, SparesAClientThatWaitsForADelayedResponse) {
  ListenOptions options = patient();
  options.connection.timeouts.idle = 20ms;
  options.connection.timeouts.first_bytes = 10s;
  const Server server([](const Peer&, const Link& link) { return std::make_unique<Pondering>(link); }, options);
  Client client = server.connect();
  client.send("x");
  EXPECT_EQ(client.receive(7), "at last");
}

class Strict final : public Session {
 public:
  std::size_t on_input(std::span<char> /*bytes*/, Output& /*out*/) override {
    waiting_ = true;
    return 0;
  }
  void on_tick(SteadyTime /*now*/, Output& out) override {
    if (!waiting_ || ++ticks_ < 3) return;
    out.append("408");
    out.close_after();
  }

 private:
  bool waiting_ = false;
  int ticks_ = 0;
};

TEST(Timeout, SessionRespondsToProtocolTimeouts) {
  const Server server([](const Peer&, const Link&) { return std::make_unique<Strict>(); }, patient());
  Client client = server.connect();
  client.send("GET / HTT");
  EXPECT_EQ(client.receive_to_end(), "408");
  EXPECT_EQ(server.counts().timed_out, 0U);
}

}  // namespace
}  // namespace weir::net
