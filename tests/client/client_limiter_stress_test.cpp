// ClientLimiter with many threads, on a clock that the test moves.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "weir/client_limiter.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

const Limit generous = Limit::gcra({.rate = {1'000'000, 1s}, .burst = 1'000'000}).value();

class ClientLimiterStress : public testing::Test {
 protected:
  // Threads that each send once, as soon as possible.
  void start_senders(int count) {
    for (int i = 0; i < count; ++i) {
      senders_.emplace_back([this](std::stop_token stop) {
        if (limiter_.acquire(Cost{1}, Instant::max(), stop)) sent_.release();
        ended_.release();
      });
    }
  }

  // Returns when `count` more have been sent.
  void await_sent(int count) {
    for (int i = 0; i < count; ++i) sent_.acquire();
  }

  void await_ended(int count) {
    for (int i = 0; i < count; ++i) ended_.acquire();
  }

  bool another_was_sent() { return sent_.try_acquire(); }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  ClientLimiter limiter_ = ClientLimiter::create(generous, clock_).value();
  std::counting_semaphore<> sent_{0};
  std::counting_semaphore<> ended_{0};
  std::vector<std::jthread> senders_;
};

TEST_F(ClientLimiterStress, AllWaitersAreWokenWhenTheQuotaOpens) {
  limiter_.learn({.denied = true, .retry_after = "10"});
  start_senders(16);
  clock_->await_waiters(16);
  clock_->advance(10s);
  await_sent(16);
}

TEST_F(ClientLimiterStress, ThoseWokenTogetherDoNotPassWhatIsLeft) {
  limiter_.learn({.rate_limit = R"("a";r=3;t=20)"});
  limiter_.learn({.denied = true, .retry_after = "10"});
  start_senders(16);
  clock_->await_waiters(16);
  clock_->advance(10s);
  await_sent(3);
  // A fourth request must wait: the quota is open again only after another ten seconds.
  EXPECT_EQ(limiter_.closed_until(), Instant{20s});
  EXPECT_FALSE(another_was_sent());
  clock_->advance(10s);
  await_sent(13);
}

TEST_F(ClientLimiterStress, OwnLimitLetsWaitersThroughOneByOne) {
  limiter_ = ClientLimiter::create(Limit::gcra({.rate = {1, 1s}, .burst = 1}).value(), clock_).value();
  start_senders(8);
  await_sent(1);
  for (int second = 1; second < 8; ++second) {
    EXPECT_FALSE(another_was_sent());
    clock_->advance(1s);
    await_sent(1);
  }
}

TEST_F(ClientLimiterStress, StopWakesAllWaitersAndNothingIsSent) {
  limiter_.learn({.denied = true, .retry_after = "10"});
  start_senders(16);
  clock_->await_waiters(16);
  for (std::jthread& sender : senders_) sender.request_stop();
  await_ended(16);
  EXPECT_FALSE(another_was_sent());
}

TEST_F(ClientLimiterStress, StopOfOneLeavesTheOthersWaiting) {
  limiter_.learn({.rate_limit = R"("a";r=0;t=10)"});
  start_senders(4);
  clock_->await_waiters(4);
  senders_.front().request_stop();
  await_ended(1);
  clock_->advance(10s);
  await_sent(3);
  await_ended(3);
  EXPECT_FALSE(another_was_sent());
}

// In each round the server has some quota left for a second; all threads race for it while late responses with a larger
// value keep arriving.
TEST_F(ClientLimiterStress, RacingSendersTakeExactlyWhatIsLeftWhateverLateAnswersSay) {
  constexpr int rounds = 100;
  constexpr int threads = 4;
  for (int round = 1; round <= rounds; ++round) {
    const int left = round % 13;
    limiter_.learn({.rate_limit = R"("a";t=1;r=)" + std::to_string(left)});
    std::atomic<int> sent{0};
    {
      std::vector<std::jthread> racers;
      for (int i = 0; i < threads; ++i) {
        racers.emplace_back([&] {
          for (int attempt = 0; attempt < 5; ++attempt) {
            if (limiter_.acquire(Cost{1}, clock_->now())) ++sent;
            limiter_.learn({.rate_limit = R"("a";r=500;t=1)"});
          }
        });
      }
    }
    ASSERT_EQ(sent, left) << "in round " << round;
    clock_->advance(1s);
  }
}

}  // namespace
}  // namespace weir
