#include "net/sender.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

#include "net/descriptor.h"

namespace weir::net {
namespace {

constexpr std::size_t much = std::size_t{4} << 20;  // more than a socket takes at once

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

TEST(Sender, SendsAllThatFits) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes = "+PONG\r\n";
  const auto progress = sender.send(pair.ours.number(), nullptr, bytes);
  EXPECT_EQ(progress.state, Sender::State::done);
  EXPECT_TRUE(progress.moved);
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(read_all(pair.theirs), "+PONG\r\n");
}

TEST(Sender, HasNothingToDoWithoutBytes) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes;
  const auto progress = sender.send(pair.ours.number(), nullptr, bytes);
  EXPECT_EQ(progress.state, Sender::State::done);
  EXPECT_FALSE(progress.moved);
}

TEST(Sender, GoesOnWhereTheSocketTookNoMore) {
  const Pair pair = connected();
  const std::string wanted = letters(much);
  Sender sender;
  std::string bytes = wanted;
  std::string arrived;
  std::size_t holds = 0;
  while (sender.send(pair.ours.number(), nullptr, bytes).state == Sender::State::held) {
    ++holds;
    EXPECT_FALSE(bytes.empty());
    arrived += read_all(pair.theirs);
  }
  arrived += read_all(pair.theirs);
  EXPECT_GT(holds, 0U);
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(arrived, wanted);
}

TEST(Sender, GivesBackTheMemoryOfALargeAnswer) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes = letters(much);
  while (sender.send(pair.ours.number(), nullptr, bytes).state == Sender::State::held) (void)read_all(pair.theirs);
  EXPECT_LE(bytes.capacity(), std::size_t{64} << 10);
}

TEST(Sender, KeepsTheMemoryOfSmallOnes) {
  const Pair pair = connected();
  Sender sender;
  std::string bytes = letters(1000);
  const char* const memory = bytes.data();
  EXPECT_EQ(sender.send(pair.ours.number(), nullptr, bytes).state, Sender::State::done);
  bytes.assign(letters(900));
  EXPECT_EQ(bytes.data(), memory);
}

TEST(Sender, FailsWhenNobodyIsThere) {
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
