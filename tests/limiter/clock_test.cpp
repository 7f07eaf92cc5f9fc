// The two clocks: one that a test moves, and one that follows the wall clock.
#include "weir/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace weir {
namespace {

using namespace std::chrono_literals;

std::stop_token stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

TEST(ManualClock, MovesOnlyBySetAndAdvance) {
  ManualClock clock(Instant{5s});
  EXPECT_EQ(clock.now(), Instant{5s});
  clock.advance(2s);
  EXPECT_EQ(clock.now(), Instant{7s});
  clock.set(Instant{1s});
  EXPECT_EQ(clock.now(), Instant{1s});
  EXPECT_EQ(ManualClock{}.now(), Instant{});
}

TEST(ManualClock, DoesNotWaitForWhatHasPassed) {
  const ManualClock clock(Instant{5s});
  clock.wait_until(Instant{5s}, {});
  clock.wait_until(Instant{4s}, {});
  EXPECT_EQ(clock.now(), Instant{5s});
}

TEST(ManualClock, WaitersWakeWhenTimeReachesThemAndNotBefore) {
  ManualClock clock;
  std::vector<std::atomic<bool>> woken(3);
  std::vector<std::jthread> waiters;
  for (std::size_t i = 0; i < woken.size(); ++i) {
    waiters.emplace_back([&, i] {
      clock.wait_until(Instant{(i + 1) * 1s}, {});
      woken[i] = true;
      woken[i].notify_one();
    });
  }
  clock.await_waiters(3);
  clock.advance(1s);
  woken[0].wait(false);
  EXPECT_FALSE(woken[1]);
  clock.set(Instant{3s});
  woken[1].wait(false);
  woken[2].wait(false);
}

TEST(ManualClock, StopEndsTheWait) {
  const ManualClock clock;
  clock.wait_until(Instant::max(), stopped());
  std::jthread waiter([&](std::stop_token stop) { clock.wait_until(Instant::max(), stop); });
  clock.await_waiters(1);
  waiter.request_stop();
  waiter.join();
  EXPECT_EQ(clock.now(), Instant{});
}

TEST(WallClock, IsCloseToTheSystemClock) {
  const WallClock clock;
  const auto before = std::chrono::system_clock::now();
  const Instant now = clock.now();
  const auto after = std::chrono::system_clock::now();
  EXPECT_GE(now, before - 1s);
  EXPECT_LE(now, after + 1s);
}

TEST(WallClock, NeverGoesBack) {
  const WallClock clock;
  Instant before = clock.now();
  for (int i = 0; i < 200'000; ++i) {
    const Instant now = clock.now();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(WallClock, DoesNotWaitForWhatHasPassed) {
  const WallClock clock;
  const Instant begin = clock.now();
  clock.wait_until(begin - 1h, {});
  clock.wait_until(Instant::min(), {});
  EXPECT_LT(clock.now(), begin + 30min);
}

TEST(WallClock, WaitsUntilTheInstantHasCome) {
  const WallClock clock;
  const Instant until = clock.now() + 2ms;
  clock.wait_until(until, {});
  EXPECT_GE(clock.now(), until);
}

TEST(WallClock, StopEndsTheLongestWait) {
  const WallClock clock;
  const Instant begin = clock.now();
  clock.wait_until(Instant::max(), stopped());
  std::jthread waiter([&](std::stop_token stop) { clock.wait_until(Instant::max(), stop); });
  waiter.request_stop();
  waiter.join();
  EXPECT_LT(clock.now(), begin + 30min);
}

}  // namespace
}  // namespace weir
