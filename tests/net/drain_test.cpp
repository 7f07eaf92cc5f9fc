// Draining: idle connections close immediately, busy ones later, and all by the deadline.
#include <future>
#include <thread>
#include <vector>

#include "tests/net/server.h"

namespace weir::net {
namespace {

TEST(Drain, IdleConnectionsCloseAndNoNewOnesAreAccepted) {
  ListenOptions options;
  options.connection.timeouts.linger = 20ms;
  const Server server(echo(), options, 2);
  Client idle = server.connect();
  Client silent = server.connect();
  EXPECT_EQ(idle.ask("x"), "x");
  EXPECT_EQ(server.listener->drain(10s), 0U);
  EXPECT_EQ(idle.receive_to_end(), "");
  EXPECT_FALSE(idle.was_reset());
  EXPECT_EQ(silent.receive_to_end(), "");
  const Descriptor late(::socket(AF_INET, SOCK_STREAM, 0));
  const Address& where = server.listener->bound();
  EXPECT_NE(::connect(late.number(), where.system(), where.system_size()), 0);
}

TEST(Drain, IncompleteMessageMayBeFinished) {
  LineCounts counts;
  const Server server(lines(counts));
  Client client = server.connect();
  client.send("first\nsec");
  EXPECT_EQ(client.receive(6), "first\n");
  server.listener->start_drain();
  client.send("ond\n");
  EXPECT_EQ(client.receive_to_end(), "second\n");
  client.close();
  EXPECT_EQ(server.listener->await_drained(std::chrono::steady_clock::now() + 10s), 0U);
}

TEST(Drain, MessageInFlightIsAnswered) {
  LineCounts counts;
  for (int i = 0; i < 20; ++i) {
    // The loop is busy while the message arrives and the drain starts.
    const Server busy(lines(counts));
    Client client = busy.connect();
    EXPECT_EQ(client.ask("a\n"), "a\n");
    std::promise<void> sent;
    (*busy.loops)[0].post([&] { sent.get_future().wait(); });
    std::thread draining([&] { EXPECT_EQ(busy.listener->drain(10s), 0U); });
    client.send("b\n");
    sent.set_value();
    EXPECT_EQ(client.receive_to_end(), "b\n");
    client.close();
    draining.join();
  }
}

TEST(Drain, ClientInTheBacklogIsAnswered) {
  constexpr int more_than_are_accepted_at_once = 100;
  LineCounts counts;
  const Server busy(lines(counts));
  std::promise<void> go_on;
  (*busy.loops)[0].post([&] {
    go_on.get_future().wait();
    busy.listener->start_drain();
  });
  std::vector<Client> waiting;
  for (int i = 0; i < more_than_are_accepted_at_once; ++i) {
    waiting.push_back(busy.connect());
    waiting.back().send("b\n");
  }
  go_on.set_value();
  for (Client& client : waiting) {
    EXPECT_EQ(client.receive_to_end(), "b\n");
    client.close();
  }
  EXPECT_EQ(busy.listener->await_drained(std::chrono::steady_clock::now() + 10s), 0U);
}

// Announces the drain and stays busy until released.
class Polite final : public Session {
 public:
  explicit Polite(std::atomic<bool>& busy) : busy_(busy) {}
  std::size_t on_input(std::span<char> input, Output& out) override {
    const std::string_view bytes(input.data(), input.size());
    out.append(bytes);
    return bytes.size();
  }
  void on_drain(Output& out) override { out.append("goodbye;"); }
  [[nodiscard]] bool idle() const override { return !busy_; }

 private:
  std::atomic<bool>& busy_;
};

TEST(Drain, SessionAnnouncesItAndTheServerWaitsWhileItIsBusy) {
  std::atomic<bool> busy = true;
  const Server server([&](const Peer&, const Link&) { return std::make_unique<Polite>(busy); });
  Client client = server.connect();
  EXPECT_EQ(client.ask("x"), "x");
  server.listener->start_drain();
  EXPECT_EQ(client.receive(8), "goodbye;");
  EXPECT_EQ(client.ask("y"), "y");
  busy = false;
  EXPECT_EQ(client.receive_to_end(), "");
  client.close();
  EXPECT_EQ(server.listener->await_drained(std::chrono::steady_clock::now() + 10s), 0U);
}

TEST(Drain, EverythingClosesAtTheDeadline) {
  std::atomic<bool> busy = true;
  const Server server([&](const Peer&, const Link&) { return std::make_unique<Polite>(busy); });
  Client client = server.connect();
  EXPECT_EQ(client.ask("x"), "x");
  EXPECT_EQ(server.listener->drain(20ms), 1U);
  EXPECT_EQ(client.receive_to_end(), "goodbye;");
  EXPECT_EQ(server.counts().open, 0U);
}

TEST(Drain, ListenersAndLoopsMayBeDestroyedInAnyOrder) {
  LineCounts counts;
  {
    Server server(lines(counts), {}, 2);
    Client client = server.connect();
    EXPECT_EQ(client.ask("a\n"), "a\n");
    server.loops->stop();
    server.listener.reset();
    EXPECT_EQ(client.receive_to_end(), "");
  }
  {
    Server server(lines(counts), {}, 2);
    Client client = server.connect();
    EXPECT_EQ(client.ask("a\n"), "a\n");
    server.listener.reset();
    EXPECT_EQ(client.receive_to_end(), "");
    EXPECT_EQ(counts.sessions, 0);
  }
}

}  // namespace
}  // namespace weir::net
