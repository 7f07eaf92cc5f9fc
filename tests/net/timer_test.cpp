// A timer runs once, unless it is set again or cancelled.
#include "net/timer.h"

#include <atomic>
#include <optional>

#include "tests/net/server.h"

namespace weir::net {
namespace {

using Clock = std::chrono::steady_clock;

class TimerOnALoop : public testing::Test {
 protected:
  TimerOnALoop() {
    auto made = Loops::make(1, 5ms);
    EXPECT_TRUE(made.has_value());
    loops_ = std::move(*made);
    EXPECT_TRUE(loops_->start().has_value());
    run([&] { timer_.emplace(loop()); });
  }
  ~TimerOnALoop() override {
    run([&] { timer_.reset(); });
  }

  Loop& loop() { return (*loops_)[0]; }
  void run(const std::function<void()>& work) { loop().run(work); }

  // Everything that is due now is done when it returns.
  void pass() {
    std::atomic<bool> passed = false;
    std::optional<Timer> other;
    run([&] {
      other.emplace(loop());
      other->set(Clock::now() + 1ms, [&] { passed = true; });
    });
    EXPECT_TRUE(eventually([&] { return passed.load(); }));
    run([&] { other.reset(); });
  }

  std::unique_ptr<Loops> loops_;
  std::optional<Timer> timer_;
  std::atomic<int> done_ = 0;
};

TEST_F(TimerOnALoop, RunsOnceAndNotEarly) {
  const auto when = Clock::now() + 20ms;
  std::atomic<bool> early = false;
  run([&] {
    timer_->set(when, [&] {
      early = Clock::now() < when;
      ++done_;
    });
  });
  EXPECT_TRUE(eventually([&] { return done_ == 1; }));
  pass();
  EXPECT_EQ(done_, 1);
  EXPECT_FALSE(early);
}

TEST_F(TimerOnALoop, RunsTheLastSetting) {
  run([&] {
    timer_->set(Clock::now(), [&] { done_ += 100; });
    timer_->set(Clock::now(), [&] { ++done_; });
  });
  pass();
  EXPECT_EQ(done_, 1);
}

TEST_F(TimerOnALoop, DoesNothingOnceCancelled) {
  run([&] {
    timer_->set(Clock::now(), [&] { ++done_; });
    timer_->cancel();
  });
  pass();
  EXPECT_EQ(done_, 0);
}

TEST_F(TimerOnALoop, MayBeSetAgainByItsFunction) {
  run([&] {
    timer_->set(Clock::now(), [&] {
      ++done_;
      timer_->set(Clock::now(), [&] { ++done_; });
    });
  });
  EXPECT_TRUE(eventually([&] { return done_ == 2; }));
}

TEST_F(TimerOnALoop, MayBeDestroyedByItsFunction) {
  run([&] {
    timer_->set(Clock::now(), [&] {
      timer_.reset();
      ++done_;
    });
  });
  EXPECT_TRUE(eventually([&] { return done_ == 1; }));
}

}  // namespace
}  // namespace weir::net
