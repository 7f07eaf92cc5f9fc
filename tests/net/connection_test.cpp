// Input and output of a session: in batches, in order, bounded, and complete at the end.
#include "tests/net/server.h"

namespace weir::net {
namespace {

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + '\n';
  return text;
}

TEST(Connection, EchoesOverEveryTransport) {
  const Folder folder;
  for (const Address& where : {address("127.0.0.1:0"), address("[::1]:0"), folder.socket()}) {
    const Server server(echo(), {}, 1, where);
    Client client = server.connect();
    EXPECT_EQ(client.ask("hello"), "hello") << where.text();
    const std::string large(200'000, 'x');
    EXPECT_EQ(client.ask(large), large) << where.text();
  }
}

TEST(Connection, SessionKnowsItsPeer) {
  const Folder folder;
  std::vector<Peer> peers;
  const auto make = [&](const Peer& peer, const Link&) {
    peers.push_back(peer);
    return std::make_unique<Echo>();
  };
  for (const Address& where : {address("127.0.0.1:0"), address("[::]:0"), folder.socket()}) {
    const Server server(make, {}, 1, where);
    const auto port = server.listener->bound().port();
    Client client(where.family() == AF_INET6 ? address("127.0.0.1:" + std::to_string(port)) : server.listener->bound());
    client.ask("x");
  }
  ASSERT_EQ(peers.size(), 3U);
  EXPECT_EQ(peers[0].address, "127.0.0.1");
  EXPECT_NE(peers[0].port, 0);
  EXPECT_EQ(peers[1].address, "127.0.0.1") << "mapped into IPv6";
  EXPECT_TRUE(peers[2].unix_socket);
  EXPECT_EQ(peers[2].address, "");
  for (const Peer& peer : peers) EXPECT_TRUE(!peer.tls && peer.certificate_subject.empty() && peer.application.empty());
}

TEST(Connection, PipelinedLinesAreOneBatchAndOneWrite) {
  const Folder folder;
  LineCounts counts;
  const Server server(lines(counts), {}, 1, folder.socket());
  Client client = server.connect();
  const std::string batch = many_lines(200);
  client.send(batch);
  EXPECT_EQ(client.receive_some(), batch);
  EXPECT_EQ(counts.calls, 1);
  EXPECT_EQ(counts.lines, 200);
}

TEST(Connection, ReadsGrowWithTheInput) {
  const Folder folder;
  LineCounts counts;
  const Server server(lines(counts), {}, 1, folder.socket());
  Client client = server.connect();
  const std::string batch = many_lines(4000);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(client.ask(batch), batch);
  counts.calls = 0;
  ASSERT_EQ(client.ask(batch), batch);
  EXPECT_LE(counts.calls, 3) << "of " << batch.size() << " bytes";
}

TEST(Connection, SingleBytesMakeCompleteLines) {
  LineCounts counts;
  const Server server(lines(counts));
  Client client = server.connect();
  const std::string text = many_lines(20);
  for (const char byte : text) client.send({&byte, 1});
  EXPECT_EQ(client.receive(text.size()), text);
  EXPECT_EQ(counts.lines, 20);
}

// Answers every line with 64 KiB and records the maximum of unsent output.
class Loud final : public Lines {
 public:
  Loud(LineCounts& counts, std::atomic<std::size_t>& most) : Lines(counts), most_(most) {}

 protected:
  void answer(std::string_view /*line*/, Output& out) override {
    out.bytes().append(65536, 'a');
    most_ = std::max(most_.load(), out.bytes().size());
  }

 private:
  std::atomic<std::size_t>& most_;
};

TEST(Connection, SlowReaderIsNotReadFrom) {
  LineCounts counts;
  std::atomic<std::size_t> most = 0;
  ListenOptions options;
  options.connection.output_bound = 128 << 10;
  const Server server([&](const Peer&, const Link&) { return std::make_unique<Loud>(counts, most); }, options);
  Client client = server.connect();
  client.send(many_lines(2000));
  // 128 MiB of responses are due. Once the system's buffers are full, the session is not called.
  int before = -1;
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 50; ++i) ::poll(nullptr, 0, 1);
    return std::exchange(before, counts.lines.load()) == counts.lines;
  }));
  EXPECT_LT(counts.lines, 1000);
  EXPECT_LE(most, std::size_t{192} << 10);
  EXPECT_EQ(client.receive(std::size_t{2000} * 65536).size(), std::size_t{2000} * 65536);
  EXPECT_EQ(counts.lines, 2000);
  EXPECT_LE(most, std::size_t{192} << 10);
}

// Answers any input with more than a socket takes.
class Generous final : public Session {
 public:
  static constexpr std::size_t size = std::size_t{16} << 20;

  std::size_t on_input(std::span<char> input, Output& out) override {
    out.bytes().append(size, 'x');
    return input.size();
  }
};

TEST(Connection, SlowReaderGetsTheWholeLastResponse) {
  const Server server([](const Peer&, const Link&) { return std::make_unique<Generous>(); });
  Client client = server.connect();
  client.send("?");
  EXPECT_EQ(client.receive(Generous::size).size(), Generous::size);
}

TEST(Connection, HalfClosedPeerGetsAllResponsesAndThenTheEnd) {
  LineCounts counts;
  const Server server(lines(counts));
  Client client = server.connect();
  client.send("one\ntwo\nthr");
  client.half_close();
  EXPECT_EQ(client.receive_to_end(), "one\ntwo\n");
  EXPECT_FALSE(client.was_reset());
  EXPECT_EQ(counts.ends, 1);
  EXPECT_TRUE(eventually([&] { return counts.sessions == 0; }));
}

// The end is not signalled again after the bytes before it are read.
TEST(Connection, InputAndEndThatArriveTogetherAreBothRead) {
  const Folder folder;
  for (const Address& where : {address("127.0.0.1:0"), folder.socket()}) {
    LineCounts counts;
    const Server server(lines(counts), {}, 1, where);
    Client client = server.connect();
    client.ask("hello\n");
    (*server.loops)[0].run([&] {
      client.send("one\ntwo\n");
      client.half_close();
    });
    EXPECT_EQ(client.receive_to_end(), "one\ntwo\n") << where.text();
    EXPECT_EQ(counts.ends, 1) << where.text();
  }
}

// A read stops at an urgent byte.
TEST(Connection, InputAfterAnUrgentByteIsReadWithoutFurtherInput) {
  LineCounts counts;
  const Server server(lines(counts));
  Client client = server.connect();
  client.ask("hello\n");
  (*server.loops)[0].run([&] {
    client.send("one\n");
    client.send_urgent('!');
    client.send("two\n");
  });
  EXPECT_EQ(client.receive(8), "one\ntwo\n");
  EXPECT_EQ(client.ask("three\n"), "three\n");
}

TEST(Connection, InputAfterADescriptorIsReadWithoutFurtherInput) {
  const Folder folder;
  LineCounts counts;
  const Server server(lines(counts), {}, 1, folder.socket());
  Client client = server.connect();
  client.ask("hello\n");
  (*server.loops)[0].run([&] {
    client.send_with_descriptor("one\n");
    client.send("two\n");
  });
  EXPECT_EQ(client.receive(8), "one\ntwo\n");
}

// Pauses at the first line until resumed.
class PausesFirst final : public Session {
 public:
  PausesFirst(const Link& link, std::atomic<Link*>& paused) : link_(link), paused_(paused) {}

  std::size_t on_input(std::span<char> bytes, Output& out) override {
    out.append({bytes.data(), bytes.size()});
    if (std::exchange(first_, false)) {
      out.pause();
      paused_ = &link_;
    }
    return bytes.size();
  }

 private:
  Link link_;
  std::atomic<Link*>& paused_;
  bool first_ = true;
};

TEST(Connection, InputDuringAPauseIsReadWithoutFurtherInput) {
  std::atomic<Link*> paused = nullptr;
  const Server server([&](const Peer&, const Link& link) { return std::make_unique<PausesFirst>(link, paused); });
  Client client = server.connect();
  client.send("one\n");
  ASSERT_TRUE(eventually([&] { return paused.load() != nullptr; }));
  (*server.loops)[0].run([&] { client.send("two\n"); });
  (*server.loops)[0].run([&] { paused.load()->resume(); });
  EXPECT_EQ(client.receive(8), "one\ntwo\n");
}

TEST(Connection, DisconnectEndsTheSession) {
  LineCounts counts;
  const Server server(lines(counts));
  Client closing = server.connect();
  Client resetting = server.connect();
  closing.ask("a\n");
  resetting.ask("b\n");
  EXPECT_EQ(counts.sessions, 2);
  closing.close();
  resetting.reset();
  EXPECT_TRUE(eventually([&] { return counts.sessions == 0 && server.counts().open == 0; }));
}

class Refusing final : public Session {
 public:
  std::size_t on_input(std::span<char> /*bytes*/, Output& out) override {
    out.append("refused");
    out.close_after();
    return 0;
  }
};

TEST(Connection, LastResponseArrivesDespiteUnreadInput) {
  const Server server([](const Peer&, const Link&) { return std::make_unique<Refusing>(); });
  for (int i = 0; i < 20; ++i) {
    Client client = server.connect();
    client.send(std::string(100'000, 'x'));
    EXPECT_EQ(client.receive_to_end(), "refused");
    EXPECT_FALSE(client.was_reset());
  }
}

TEST(Connection, PeerThatDoesNotCloseIsClosed) {
  ListenOptions options;
  options.connection.timeouts.linger = 10ms;
  const Server server([](const Peer&, const Link&) { return std::make_unique<Refusing>(); }, options);
  Client client = server.connect();
  client.send("x");
  EXPECT_EQ(client.receive_to_end(), "refused");
  EXPECT_TRUE(eventually([&] { return server.counts().open == 0; }));
  EXPECT_EQ(server.counts().timed_out, 0U);
}

TEST(Connection, InputBeyondTheBoundClosesTheConnection) {
  LineCounts counts;
  ListenOptions options;
  options.connection.input_bound = 10'000;
  const Server server(lines(counts), options);
  Client client = server.connect();
  const std::string most = std::string(9998, 'x') + '\n';
  EXPECT_EQ(client.ask(most), most);
  client.send(std::string(10'000, 'x'));
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_EQ(server.counts().overlong, 1U);
}

class Throwing final : public Session {
 public:
  std::size_t on_input(std::span<char> /*bytes*/, Output& /*out*/) override { throw std::bad_alloc(); }
};

TEST(Connection, OnlyTheSessionThatThrowsIsClosed) {
  int made = 0;
  const Server server([&](const Peer&, const Link&) -> std::unique_ptr<Session> {
    if (++made == 2) return std::make_unique<Throwing>();
    return std::make_unique<Echo>();
  });
  Client good = server.connect();
  good.ask("x");
  Client bad = server.connect();
  bad.send("x");
  EXPECT_EQ(bad.receive_to_end(), "");
  EXPECT_EQ(good.ask("y"), "y");
  EXPECT_EQ(server.counts().faults, 1U);
}

TEST(Connection, NullSessionClosesTheConnection) {
  const Server server([](const Peer&, const Link&) { return nullptr; });
  EXPECT_EQ(server.connect().receive_to_end(), "");
}

}  // namespace
}  // namespace weir::net
