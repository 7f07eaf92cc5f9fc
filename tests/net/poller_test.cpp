// What becomes ready is reported once, to the watchers that still want it.
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
  Descriptor other;  // what is sent here makes the first one ready
  std::function<void()> then;
  int calls = 0;
  Readiness last;
};

void look(Poller& poller) {
  poller.wait(Poller::Patience::none);
}

TEST(Poller, WhatBecomesReadyIsToldOnce) {
  Poller poller;
  Listening one(poller);
  look(poller);
  EXPECT_EQ(one.calls, 0);
  one.make_ready("x");
  look(poller);
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_TRUE(one.last.input && !one.last.output && !one.last.to_the_end);
  one.make_ready("y");
  look(poller);
  EXPECT_EQ(one.calls, 2);
}

TEST(Poller, EndOfThePeerIsToldWithTheLastBytes) {
  Poller poller;
  Listening one(poller);
  one.make_ready("x");
  ::shutdown(one.other.number(), SHUT_WR);
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_TRUE(one.last.input && one.last.to_the_end);
}

TEST(Poller, RoomForOutputIsToldToThoseThatWantIt) {
  Poller poller;
  Listening one(poller);
  one.watched.want(Interest::both);
  look(poller);
  EXPECT_EQ(one.calls, 1);
  EXPECT_TRUE(one.last.output && !one.last.input);
}

TEST(Poller, TurnThatWasAskedForComesOnceAndWithoutWaiting) {
  Poller poller;
  Listening one(poller);
  one.watched.ask_for_turn();
  one.watched.ask_for_turn();
  poller.wait(Poller::Patience::endless);
  EXPECT_EQ(one.calls, 1);
  EXPECT_FALSE(one.last.input || one.last.output || one.last.to_the_end);
  look(poller);
  EXPECT_EQ(one.calls, 1);
}

TEST(Poller, TurnAskedForWithinATurnIsOneOfTheNextRound) {
  Poller poller;
  Listening one(poller);
  one.then = [&] { one.watched.ask_for_turn(); };
  one.watched.ask_for_turn();
  look(poller);
  EXPECT_EQ(one.calls, 1);
  look(poller);
  EXPECT_EQ(one.calls, 2);
}

TEST(Poller, WatcherThatIsRemovedIsNotCalledInThisRound) {
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

TEST(Poller, WatcherThatIsRemovedLosesItsTurn) {
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
