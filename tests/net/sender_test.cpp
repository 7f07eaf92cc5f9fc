#include "net/buffers.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

#include "net/descriptor.h"
#include "net/tls_context.h"
#include "net/tls_stream.h"
#include "tests/net/certificates.h"
#include "tests/net/server.h"

namespace weir::net {
namespace {

constexpr std::size_t much = std::size_t{4} << 20;  // more than a socket takes

struct Pair {
  Descriptor ours;
  Descriptor theirs;
};

Pair connected() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string read_all(const Descriptor& from) {
  std::string all;
  std::array<char, 4096> piece{};
  ssize_t count = 0;
  while ((count = ::read(from.number(), piece.data(), piece.size())) > 0) {
    all.append(piece.data(), static_cast<std::size_t>(count));
  }
  return all;
}

std::string letters(std::size_t count) {
  std::string text(count, ' ');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

TEST(Sender, SendsEverythingThatFits) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes = "+PONG\r\n";
  const auto progress = sender.send(pair.ours.number(), nullptr, bytes);
  EXPECT_EQ(progress.state, Sender::State::done);
  EXPECT_TRUE(progress.moved);
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(read_all(pair.theirs), "+PONG\r\n");
}

TEST(Sender, IsDoneWithoutBytes) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes;
  const auto progress = sender.send(pair.ours.number(), nullptr, bytes);
  EXPECT_EQ(progress.state, Sender::State::done);
  EXPECT_FALSE(progress.moved);
}

TEST(Sender, ContinuesAfterAFullSocket) {
  const Pair pair = connected();
  const std::string wanted = letters(much);
  Sender sender;
  std::string bytes = wanted;
  std::string arrived;
  std::size_t holds = 0;
  while (sender.send(pair.ours.number(), nullptr, bytes).state == Sender::State::blocked) {
    ++holds;
    EXPECT_GT(sender.unsent(), 0U);
    arrived += read_all(pair.theirs);
  }
  arrived += read_all(pair.theirs);
  EXPECT_GT(holds, 0U);
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(arrived, wanted);
}

TEST(Sender, FreesTheMemoryOfALargeResponse) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes = letters(100'000);
  EXPECT_EQ(sender.send(pair.ours.number(), nullptr, bytes).state, Sender::State::done);
  EXPECT_LE(bytes.capacity(), std::size_t{64} << 10);
}

TEST(Sender, ReusesTheMemoryOfSmallOnes) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes = letters(1000);
  const char* const memory = bytes.data();
  EXPECT_EQ(sender.send(pair.ours.number(), nullptr, bytes).state, Sender::State::done);
  bytes += letters(900);
  EXPECT_EQ(bytes.data(), memory);
}

void pass_on(TlsStream& from, TlsStream& to) {
  std::string wire;
  from.take_wire(wire);
  to.receive(wire);
}

TEST(Sender, ContinuesWithTls) {
  const Folder folder;
  const Identity ca = make_identity("weir test CA");
  ca.write(folder.file("ca.pem"), folder.file("ca.key"));
  const TlsFiles files{folder.file("server.pem"), folder.file("server.key"), ""};
  make_identity("server", &ca, "DNS:weir.test").write(files.certificate_chain, files.key);
  const auto server_context = TlsContext::load(files);
  const auto client_context = TlsClientContext::load({folder.file("ca.pem"), "", ""});
  ASSERT_TRUE(server_context && client_context);
  const auto server = TlsStream::make(*(*server_context)->current());
  const auto client = TlsStream::make_client((*client_context)->context(), "weir.test");
  ASSERT_TRUE(server && client);
  while (server->handshake() == TlsStream::Handshake::in_progress) {
    EXPECT_NE(client->handshake(), TlsStream::Handshake::failed);
    pass_on(*client, *server);
    pass_on(*server, *client);
  }
  pass_on(*server, *client);

  const Pair pair = connected();
  InputBuffer arrived(2 * much);
  const auto hear = [&] {
    client->receive(read_all(pair.theirs));
    EXPECT_EQ(client->read(arrived), TlsStream::Reading::drained);
  };
  const std::string wanted = letters(much);
  Sender sender;
  std::string bytes = wanted;
  std::size_t holds = 0;
  while (sender.send(pair.ours.number(), server.get(), bytes).state == Sender::State::blocked) {
    ++holds;
    EXPECT_EQ(bytes, "");
    EXPECT_GT(sender.unsent(), 0U);
    hear();
  }
  hear();
  EXPECT_GT(holds, 0U);
  EXPECT_EQ(sender.unsent(), 0U);
  EXPECT_EQ(std::string(arrived.pending().begin(), arrived.pending().end()), wanted);
}

TEST(Sender, FailsAfterThePeerHasClosed) {
  Pair pair = connected();
  pair.theirs = Descriptor();
  Sender sender;
  std::string bytes = "+PONG\r\n";
  const auto progress = sender.send(pair.ours.number(), nullptr, bytes);
  EXPECT_EQ(progress.state, Sender::State::failed);
  EXPECT_FALSE(progress.moved);
}

}  // namespace
}  // namespace weir::net
