// Many threads on one limit admit exactly what one thread would.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/limiter/limits.h"
#include "weir/keyed_limiter.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int threads = 4;
constexpr int attempts = 2000;
constexpr std::uint64_t capacity = 1000;
// Runs work(thread) on all threads at once.
template <class Work>
void all_at_once(Work work) {
  std::latch begin(threads);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      begin.arrive_and_wait();
      work(thread);
    });
  }
}

TEST(LimiterStress, ThreadsOnOneLimiterAdmitExactlyTheCapacity) {
  for (const Limit& limit : one_of_each(capacity, 1h)) {
    Limiter limiter = Limiter::create(limit, std::make_shared<ManualClock>(first_instant)).value();
    std::atomic<std::uint64_t> admitted{0};
    all_at_once([&](int) {
      for (int i = 0; i < attempts; ++i) admitted += limiter.check() ? 1 : 0;
    });
    EXPECT_EQ(admitted, capacity) << name_of(limit.algorithm());
  }
}

TEST(LimiterStress, ThreadsOnOneKeyAdmitExactlyTheCapacity) {
  for (const Limit& limit : one_of_each(capacity, 1h)) {
    KeyedLimiter limiter = KeyedLimiter::create(limit, std::make_shared<ManualClock>(first_instant)).value();
    std::atomic<std::uint64_t> admitted{0};
    all_at_once([&](int thread) {
      for (int i = 0; i < attempts; ++i) {
        admitted += limiter.check("anna") ? 1 : 0;
        std::ignore = limiter.check("only " + std::to_string(thread));
      }
    });
    EXPECT_EQ(admitted, capacity) << name_of(limit.algorithm());
    for (int thread = 0; thread < threads; ++thread) {
      EXPECT_EQ(limiter.peek("only " + std::to_string(thread), Cost{0}).remaining, 0U);
    }
  }
}

TEST(LimiterStress, BatchesAndSingleChecksTogetherAdmitExactlyTheCapacity) {
  KeyedLimiter limiter = KeyedLimiter::create(Limit::gcra({.rate = {1, 1h}, .burst = capacity}).value(),
                                              std::make_shared<ManualClock>(first_instant))
                             .value();
  std::atomic<std::uint64_t> admitted{0};
  all_at_once([&](int thread) {
    const std::vector<KeyedLimiter::Request> requests(20, {.key = "anna"});
    std::vector<Decision> decisions(requests.size());
    for (int i = 0; i < attempts / 20; ++i) {
      if (thread % 2 == 0) {
        limiter.check(requests, decisions);
      } else {
        for (Decision& decision : decisions) decision = limiter.check("anna");
      }
      for (const Decision& decision : decisions) admitted += decision ? 1 : 0;
    }
  });
  EXPECT_EQ(admitted, capacity);
}

// When everything reserved is released, nothing is left.
TEST(LimiterStress, ReservationsAndReleasesOfManyThreadsBalance) {
  for (const Limit& limit : one_of_each(capacity, 1h)) {
    if (limit.algorithm() == Algorithm::leaky_bucket_queue) continue;  // only the newest turn can be given back
    const auto clock = std::make_shared<ManualClock>(first_instant);
    Limiter one = Limiter::create(limit, clock).value();
    KeyedLimiter many = KeyedLimiter::create(limit, clock).value();
    all_at_once([&](int) {
      for (int i = 0; i < attempts; ++i) {
        const Receipt first = one.reserve(Cost{2}).receipt;
        const Receipt second = many.reserve("anna", Cost{2}).receipt;
        if (!one.release(first) || !many.release(second)) ADD_FAILURE() << "a receipt was lost";
      }
    });
    EXPECT_EQ(one.peek(Cost{0}).remaining, capacity) << name_of(limit.algorithm());
    EXPECT_EQ(many.peek("anna", Cost{0}).remaining, capacity) << name_of(limit.algorithm());
  }
}

TEST(LimiterStress, ReceiptThatManyThreadsSettleIsSettledOnce) {
  KeyedLimiter limiter = KeyedLimiter::create(Limit::gcra({.rate = {1, 1h}, .burst = capacity}).value(),
                                              std::make_shared<ManualClock>(first_instant))
                             .value();
  std::vector<Receipt> receipts;
  for (int i = 0; i < 200; ++i) receipts.push_back(limiter.reserve("anna", Cost{5}).receipt);
  std::atomic<int> settled{0};
  all_at_once([&](int) {
    for (const Receipt& receipt : receipts) settled += limiter.settle(receipt, Cost{3}) ? 1 : 0;
  });
  EXPECT_EQ(settled, 200);
  EXPECT_EQ(limiter.peek("anna", Cost{0}).remaining, capacity - 600);
}

// Each thread holds two of four units at a time; the counter would show if more were held.
TEST(LimiterStress, NoMoreIsHeldAtOnceThanTheLimit) {
  const Limit held = Limit::concurrency({.limit = 4, .lease = 1h}).value();
  const auto clock = std::make_shared<ManualClock>(first_instant);
  Limiter one = Limiter::create(held, clock).value();
  KeyedLimiter many = KeyedLimiter::create(held, clock).value();
  std::atomic<int> of_one{0};
  std::atomic<int> of_many{0};
  const auto hold = [](auto reserve, auto release, std::atomic<int>& holders) {
    const Reservation reservation = reserve();
    if (!reservation) return;
    if (++holders > 2) ADD_FAILURE() << "more is held than the limit";
    --holders;
    release(reservation.receipt);
  };
  all_at_once([&](int) {
    for (int i = 0; i < attempts; ++i) {
      hold([&] { return one.reserve(Cost{2}); }, [&](const Receipt& receipt) { one.release(receipt); }, of_one);
      hold([&] { return many.reserve("anna", Cost{2}); }, [&](const Receipt& receipt) { many.release(receipt); },
           of_many);
    }
  });
  EXPECT_EQ(one.peek(Cost{0}).remaining, 4U);
  EXPECT_EQ(many.peek("anna", Cost{0}).remaining, 4U);
}

TEST(LimiterStress, WaitersAreAdmittedAsTimePassesAndEachOnce) {
  const auto clock = std::make_shared<ManualClock>(first_instant);
  Limiter limiter = Limiter::create(Limit::gcra({.rate = {1, 1s}, .burst = 1}).value(), clock).value();
  EXPECT_TRUE(limiter.check());
  std::atomic<int> admitted{0};
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      if (limiter.acquire(Cost{1}, Instant::max())) {
        ++admitted;
        admitted.notify_one();
      }
    });
  }
  for (int second = 0; second < 8; ++second) {
    clock->await_waiters(8 - second);
    EXPECT_EQ(admitted, second);
    clock->advance(1s);
    admitted.wait(second);
  }
}

TEST(LimiterStress, ClockIsMonotoneForEveryThread) {
  const WallClock clock;
  all_at_once([&](int) {
    Instant before = clock.now();
    for (int i = 0; i < 20'000; ++i) {
      const Instant now = clock.now();
      if (now < before) ADD_FAILURE() << "went back by " << (before - now).count() << " us";
      before = now;
    }
  });
}

}  // namespace
}  // namespace weir
