#include "store/outage/breaker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::store {
namespace {

using namespace std::chrono_literals;

constexpr Breaker::SteadyTime start{};

// One event per row, and the breaker's state afterwards.
enum class Happens { good, slow, error, lost, alive, probe };

struct BreakerStep {
  Duration at;
  Happens what;
  BreakerState then;
};

void happen(Breaker& breaker, const BreakerStep& row) {
  const auto now = start + row.at;
  switch (row.what) {
    case Happens::good:
      return breaker.answered(1ms, now);
    case Happens::slow:
      return breaker.answered(11ms, now);
    case Happens::error:
      return breaker.failed(now);
    case Happens::lost:
      return breaker.lost(now);
    case Happens::alive:
      return breaker.alive();
    case Happens::probe:
      static_cast<void>(breaker.begin_probe(now));
      return;
  }
}

Breaker closed_breaker() {
  Breaker breaker({}, 1, start);
  EXPECT_TRUE(breaker.begin_probe(start));
  breaker.answered(1ms, start);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  return breaker;
}

void expect(Breaker breaker, const std::vector<BreakerStep>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    happen(breaker, rows[i]);
    EXPECT_EQ(breaker.state(), rows[i].then) << "after row " << i;
  }
}

TEST(Breaker, BeginsOpenWithAProbeDueAtOnce) {
  Breaker breaker({}, 1, start);
  EXPECT_EQ(breaker.state(), BreakerState::open);
  EXPECT_TRUE(breaker.begin_probe(start));
  EXPECT_EQ(breaker.state(), BreakerState::half_open);
}

TEST(Breaker, FiveErrorsInARowOpenIt) {
  expect(closed_breaker(), {{0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::open}});
}

TEST(Breaker, AGoodAnswerResetsTheErrorCount) {
  expect(closed_breaker(), {{0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::good, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed}});
}

TEST(Breaker, ASlowAnswerBetweenErrorsDoesNot) {
  expect(closed_breaker(), {{0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::closed},
                            {0ms, Happens::slow, BreakerState::closed},
                            {0ms, Happens::error, BreakerState::open}});
}

TEST(Breaker, ALostConnectionOpensItAtOnce) {
  expect(closed_breaker(), {{0ms, Happens::lost, BreakerState::open}});
}

TEST(Breaker, HalfOfTwentyAnswersWithinASecondSlowOpenIt) {
  Breaker breaker = closed_breaker();
  for (int i = 0; i < 10; ++i) breaker.answered(1ms, start);
  for (int i = 0; i < 9; ++i) breaker.answered(11ms, start + 1s);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.answered(11ms, start + 1s);
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(Breaker, AnAnswerOfExactlyTheBudgetIsNotSlow) {
  Breaker breaker = closed_breaker();
  for (int i = 0; i < 100; ++i) breaker.answered(10ms, start);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST(Breaker, FewerThanTwentyAnswersOpenNothing) {
  Breaker breaker = closed_breaker();
  for (int i = 0; i < 19; ++i) breaker.answered(1s, start);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST(Breaker, AnswersOlderThanASecondAreForgotten) {
  Breaker breaker = closed_breaker();
  for (int i = 0; i < 19; ++i) breaker.answered(11ms, start);
  for (int i = 0; i < 19; ++i) breaker.answered(11ms, start + 1s + 1us);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST(Breaker, GoodAnswersBetweenTimeoutsDoNotKeepItClosed) {
  Breaker breaker = closed_breaker();
  for (int i = 0; i < 9; ++i) {
    breaker.timed_out(1, start);
    breaker.answered(1ms, start);
  }
  breaker.answered(1ms, start);
  EXPECT_EQ(breaker.state(), BreakerState::closed) << "nineteen are too few";
  breaker.timed_out(1, start + 1s);
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(Breaker, TimeoutsTogetherAreOneErrorButAsManySlowAnswers) {
  Breaker breaker = closed_breaker();
  breaker.timed_out(19, start);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.timed_out(0, start + 2s);
  EXPECT_EQ(breaker.state(), BreakerState::closed) << "the first have left the window";
  breaker.timed_out(20, start + 2s);
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(Breaker, FiveTimeoutsInARowOpenIt) {
  Breaker breaker = closed_breaker();
  for (int i = 0; i < 4; ++i) breaker.timed_out(1, start);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.timed_out(1, start);
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(Breaker, AProbeThatTimesOutOpensItAgain) {
  Breaker breaker = closed_breaker();
  breaker.lost(start);
  const auto due = breaker.probe_at();
  ASSERT_TRUE(breaker.begin_probe(due));
  breaker.timed_out(1, due);
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(Breaker, OneProbeAtATimeDecides) {
  Breaker breaker = closed_breaker();
  breaker.lost(start);
  EXPECT_FALSE(breaker.begin_probe(start)) << "before its time";
  const auto due = breaker.probe_at();
  EXPECT_TRUE(breaker.begin_probe(due));
  EXPECT_FALSE(breaker.begin_probe(due)) << "while one is in flight";
  breaker.answered(1ms, due);
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST(Breaker, AProbeThatFailsOrIsSlowOpensItAgain) {
  for (const Happens what : {Happens::error, Happens::slow, Happens::lost}) {
    expect(closed_breaker(), {{0ms, Happens::lost, BreakerState::open},
                              {200ms, Happens::probe, BreakerState::half_open},
                              {200ms, what, BreakerState::open}});
  }
}

TEST(Breaker, WaitsTwiceAsLongEachTimeUpToFiveSeconds) {
  Breaker breaker = closed_breaker();
  auto now = start;
  breaker.lost(now);
  for (const Duration wait : {200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    EXPECT_GE(breaker.probe_at() - now, wait * 3 / 4);
    EXPECT_LE(breaker.probe_at() - now, wait);
    now = breaker.probe_at();
    ASSERT_TRUE(breaker.begin_probe(now));
    breaker.failed(now);
  }
}

TEST(Breaker, AGoodAnswerMakesTheNextWaitShortAgain) {
  Breaker breaker = closed_breaker();
  breaker.lost(start);
  auto now = breaker.probe_at();
  ASSERT_TRUE(breaker.begin_probe(now));
  breaker.answered(1ms, now);
  breaker.lost(now);
  EXPECT_LE(breaker.probe_at() - now, 200ms);
}

TEST(Breaker, ASignOfLifeClosesItButDoesNotShortenTheNextWait) {
  Breaker breaker = closed_breaker();
  breaker.lost(start);
  const auto now = breaker.probe_at();
  ASSERT_TRUE(breaker.begin_probe(now));
  breaker.alive();
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.lost(now);
  EXPECT_GT(breaker.probe_at() - now, 200ms);
}

TEST(Breaker, WaitsAreJittered) {
  std::vector<Breaker::SteadyTime> probes;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Breaker breaker({}, seed * 0x9E3779B97F4A7C15U, start);
    ASSERT_TRUE(breaker.begin_probe(start));
    breaker.failed(start);
    probes.push_back(breaker.probe_at());
  }
  std::sort(probes.begin(), probes.end());
  EXPECT_NE(probes.front(), probes.back());
}

TEST(Breaker, WhatComesWhileItIsOpenChangesNothing) {
  Breaker breaker = closed_breaker();
  breaker.lost(start);
  const auto due = breaker.probe_at();
  breaker.failed(start + 1ms);
  breaker.answered(1ms, start + 1ms);
  breaker.lost(start + 1ms);
  EXPECT_EQ(breaker.state(), BreakerState::open);
  EXPECT_EQ(breaker.probe_at(), due);
}

}  // namespace
}  // namespace weir::store
