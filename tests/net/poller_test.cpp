// Readiness is reported once, to current watchers.
#include "net/poller.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <string_view>
#include <utility>

namespace weir::net {
namespace {

class Listening final : public Watcher {
 public:
  explicit Listening(Poller& poller) : watched(poller, *this) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    other = Descriptor(ends[1]);
    EXPECT_TRUE(watched.take(Descriptor(ends[0]), Interest::input));
  }

  void on_ready(Readiness ready) override {
    ++calls;
    last = ready;
    if (then) then();
  }

  void make_ready(std::string_view bytes) const {
    EXPECT_EQ(::send(other.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  Watched watched;
  Descriptor other;  // input sent here makes the first descriptor ready
  std::function<void()> then;
  int calls = 0;
  Readiness last;
};

void look(Poller& poller) {
  poller.wait(Poller::WaitMode::poll);
}

TEST(Poller, ReadinessIsReportedOnce) {
  Poller poller;
  Listening one(poller);
  look(poller);
  EXPECT_EQ(one.calls, 0);
  one.make_ready("x");
  look(poller);
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_TRUE(one.last.input && !one.last.output && !one.last.until_eagain);
  one.make_ready("y");
  look(poller);
  EXPECT_EQ(one.calls, 2);
}

TEST(Poller, ShutdownOfThePeerIsReportedWithTheLastBytes) {
  Poller poller;
  Listening one(poller);
  one.make_ready("x");
  ::shutdown(one.other.number(), SHUT_WR);
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_TRUE(one.last.input && one.last.until_eagain);
}

TEST(Poller, WritabilityIsReportedOnRequest) {
  Poller poller;
  Listening one(poller);
  one.watched.want(Interest::both);
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_TRUE(one.last.output && !one.last.input);
}

TEST(Poller, RequestedTurnComesOnceWithoutBlocking) {
  Poller poller;
  Listening one(poller);
  one.watched.ask_for_turn();
  one.watched.ask_for_turn();
  poller.wait(Poller::WaitMode::block);
  EXPECT_EQ(one.calls, 1);
  EXPECT_FALSE(one.last.input || one.last.output || one.last.until_eagain);
  look(poller);
  EXPECT_EQ(one.calls, 1);
}

TEST(Poller, TurnRequestedDuringATurnComesInTheNextRound) {
  Poller poller;
  Listening one(poller);
  one.then = [&] { one.watched.ask_for_turn(); };
  one.watched.ask_for_turn();
  look(poller);
  EXPECT_EQ(one.calls, 1);
  look(poller);
  EXPECT_EQ(one.calls, 2);
}

TEST(Poller, RemovedWatcherIsNotCalledInTheSameRound) {
  Poller poller;
  Listening one(poller);
  Listening other(poller);
  one.then = [&] { other.watched.close(); };
  other.then = [&] { one.watched.close(); };
  one.make_ready("x");
  other.make_ready("x");
  look(poller);
  EXPECT_EQ(one.calls + other.calls, 1);
}

TEST(Poller, RemovedWatcherLosesItsTurn) {
  Poller poller;
  Listening one(poller);
  Listening other(poller);
  Listening third(poller);
  for (Listening* each : {&one, &other, &third}) each->watched.ask_for_turn();
  third.watched.close();
  one.then = [&] { other.watched.close(); };
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_EQ(other.calls, 0);
  EXPECT_EQ(third.calls, 0);
}

}  // namespace
}  // namespace weir::net
