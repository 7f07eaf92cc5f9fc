// Receipts next to a state, in rows.
#include "core/receipts.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/core/subject.h"

namespace weir::core {
namespace {

using namespace std::chrono_literals;

constexpr Instant opening{std::chrono::seconds(1'700'000'000)};

// One state with its receipts, at times since the opening instant.
template <class A>
class Reserved {
 public:
  explicit Reserved(const weir::Limit& limit) : limit_(limit) {}

  // Returns the decision and stores the result in `use`.
  Decision reserve(std::uint64_t id, std::uint64_t cost, Duration at, Duration lasts = 1h) {
    use = {.id = {0, id}, .lasts = lasts};
    const bool was_open = receipts.is_open(use.id, micros(opening + at));
    const Decision decision = A::decide(limit_, state_, Cost{was_open ? 0 : cost}, opening + at);
    if (decision.admitted) {
      receipts.reserve(charge_position<A>(limit_, state_, decision), Cost{cost}, was_open, use, micros(opening + at));
    }
    return decision;
  }
  ReceiptResult settle(std::uint64_t id, std::uint64_t actual, Duration at) {
    use = {.id = {0, id}, .actual = Cost{actual}};
    receipts.settle<A>(limit_, state_, use, micros(opening + at));
    return use.result;
  }
  ReceiptResult extend(std::uint64_t id, Duration lasts, Duration at) {
    use = {.id = {0, id}, .lasts = lasts};
    receipts.extend(use, micros(opening + at));
    return use.result;
  }
  ReceiptResult report(std::uint64_t id, std::uint64_t cost, Duration at) {
    use = {.id = {0, id}};
    receipts.report<A>(limit_, state_, Cost{cost}, use, micros(opening + at));
    return use.result;
  }
  [[nodiscard]] std::uint64_t left(Duration at) const { return look(at).remaining; }
  [[nodiscard]] Decision look(Duration at) const { return A::peek(limit_, state_, Cost{0}, opening + at); }

  Receipts receipts;
  ReceiptUse use;

 private:
  typename A::Limit limit_;
  typename A::State state_;
};

Reserved<TokenBucket> ten_at_one_a_second() {
  return Reserved<TokenBucket>(*weir::Limit::token_bucket({{1, 1s}, 10}));
}

TEST(ReceiptsTest, OldReservationsBankNoTokens) {
  auto bucket = ten_at_one_a_second();
  ASSERT_TRUE(bucket.reserve(1, 10, 0s).admitted);
  ASSERT_TRUE(bucket.reserve(2, 10, 10s).admitted);
  EXPECT_EQ(bucket.settle(1, 0, 10s), ReceiptResult::done);
  EXPECT_EQ(bucket.left(10s), 0U) << "all of the first has flowed in again";
  EXPECT_EQ(bucket.settle(2, 0, 10s), ReceiptResult::done);
  EXPECT_EQ(bucket.left(10s), 10U);
}

TEST(ReceiptsTest, WhatWasChargedLaterLiesNearerByWhatIsGivenBack) {
  Reserved<TokenBucket> bucket(*weir::Limit::token_bucket({{1, 1s}, 20}));
  ASSERT_TRUE(bucket.reserve(1, 10, 0s).admitted);
  ASSERT_TRUE(bucket.reserve(2, 10, 0s).admitted);
  EXPECT_EQ(bucket.settle(1, 0, 5s), ReceiptResult::done);  // five units are still visible: the second ends at 15 s
  EXPECT_EQ(bucket.left(5s), 10U);
  ASSERT_TRUE(bucket.reserve(3, 20, 15s).admitted);
  EXPECT_EQ(bucket.settle(2, 0, 15s), ReceiptResult::done);
  EXPECT_EQ(bucket.left(15s), 0U);
}

TEST(ReceiptsTest, AReservationIsSettledOnce) {
  auto bucket = ten_at_one_a_second();
  ASSERT_TRUE(bucket.reserve(1, 6, 0s).admitted);
  EXPECT_EQ(bucket.settle(1, 2, 0s), ReceiptResult::done);
  EXPECT_EQ(bucket.use.cost, Cost{6});
  EXPECT_EQ(bucket.left(0s), 8U);
  EXPECT_EQ(bucket.settle(1, 2, 0s), ReceiptResult::ended);
  EXPECT_EQ(bucket.left(0s), 8U);
}

TEST(ReceiptsTest, AReserveThatIsRepeatedIsTheSameOne) {
  auto bucket = ten_at_one_a_second();
  ASSERT_TRUE(bucket.reserve(1, 6, 0s, 30s).admitted);
  EXPECT_EQ(bucket.use.result, ReceiptResult::done);
  ASSERT_TRUE(bucket.reserve(1, 6, 0s, 90s).admitted);
  EXPECT_EQ(bucket.use.result, ReceiptResult::repeated);
  EXPECT_EQ(bucket.use.cost, Cost{6});
  EXPECT_EQ(bucket.use.ends, opening + 30s);
  EXPECT_EQ(bucket.left(0s), 4U);
}

TEST(ReceiptsTest, AReceiptThatEndsStaysCharged) {
  auto bucket = ten_at_one_a_second();
  ASSERT_TRUE(bucket.reserve(1, 10, 0s, 2s).admitted);
  EXPECT_EQ(bucket.extend(1, 1s, 0s), ReceiptResult::done);
  EXPECT_EQ(bucket.use.ends, opening + 2s) << "never to an earlier end";
  EXPECT_EQ(bucket.settle(1, 0, 2s), ReceiptResult::ended);
  EXPECT_EQ(bucket.extend(1, 9s, 2s), ReceiptResult::ended);
  EXPECT_EQ(bucket.left(2s), 2U);
}

TEST(ReceiptsTest, ExtendedItCanBeSettledLater) {
  auto bucket = ten_at_one_a_second();
  ASSERT_TRUE(bucket.reserve(1, 10, 0s, 2s).admitted);
  EXPECT_EQ(bucket.extend(1, 5s, 1s), ReceiptResult::done);
  EXPECT_EQ(bucket.settle(1, 0, 3s), ReceiptResult::done);
  EXPECT_EQ(bucket.left(3s), 10U);
}

TEST(ReceiptsTest, SettledUpwardItIsChargedNowIntoDebtOfAtMostOneCapacity) {
  auto bucket = ten_at_one_a_second();
  ASSERT_TRUE(bucket.reserve(1, 4, 0s).admitted);
  EXPECT_EQ(bucket.settle(1, 100, 0s), ReceiptResult::done);
  EXPECT_EQ(bucket.use.lost, 80U);
  EXPECT_FALSE(bucket.look(0s).admitted);
  EXPECT_EQ(bucket.look(0s).retry_after, 10s);
  EXPECT_TRUE(bucket.look(10s).admitted);
}

TEST(ReceiptsTest, AReportIsChargedOnceForEachId) {
  auto bucket = ten_at_one_a_second();
  EXPECT_EQ(bucket.report(7, 12, 0s), ReceiptResult::done);
  EXPECT_FALSE(bucket.look(0s).admitted) << "two of debt";
  EXPECT_EQ(bucket.report(7, 12, 0s), ReceiptResult::repeated);
  EXPECT_EQ(bucket.look(0s).retry_after, 2s);
  EXPECT_EQ(bucket.report(7, 12, 1h - 1us), ReceiptResult::repeated);
  EXPECT_EQ(bucket.report(7, 12, 1h), ReceiptResult::done) << "an hour later it is forgotten";
  EXPECT_EQ(bucket.report(0, 1, 1h), ReceiptResult::done) << "without an id it always counts";
  EXPECT_EQ(bucket.report(0, 100, 1h), ReceiptResult::done);
  EXPECT_EQ(bucket.use.lost, 93U);
}

TEST(ReceiptsTest, WhatThereIsNoRoomForSaysSo) {
  Reserved<FixedWindow> window(*weir::Limit::fixed_window({10'000, Duration(24h)}));
  for (std::uint64_t id = 1; id <= Receipts::max_open; ++id) {
    ASSERT_TRUE(window.reserve(id, 1, 0s, 60s).admitted);
    ASSERT_EQ(window.use.result, ReceiptResult::done);
    ASSERT_EQ(window.report(id, 1, 0s), ReceiptResult::done);
  }
  EXPECT_TRUE(window.reserve(5'000, 1, 0s).admitted);
  EXPECT_EQ(window.use.result, ReceiptResult::not_kept);
  const std::uint64_t left = window.left(0s);
  EXPECT_EQ(window.report(5'000, 3, 0s), ReceiptResult::not_kept);
  EXPECT_EQ(window.use.cost, Cost{3});
  EXPECT_EQ(window.left(0s), left - 3) << "it is charged all the same";
  EXPECT_EQ(window.report(5'000, 3, 0s), ReceiptResult::not_kept);
  EXPECT_EQ(window.left(0s), left - 6) << "and again when it is repeated";
  EXPECT_EQ(window.report(7, 3, 0s), ReceiptResult::repeated) << "an id that was kept still counts once";
  EXPECT_EQ(window.left(0s), left - 6);
  EXPECT_EQ(window.report(0, 1, 0s), ReceiptResult::done);
  EXPECT_TRUE(window.reserve(5'000, 1, 60s).admitted) << "the others have ended";
  EXPECT_EQ(window.use.result, ReceiptResult::done);
}

TEST(ReceiptsTest, AWindowThatIsOverTakesNothingBack) {
  Reserved<FixedWindow> window(*weir::Limit::fixed_window({10, Duration(100s)}));
  ASSERT_TRUE(window.reserve(1, 4, 0s).admitted);
  ASSERT_TRUE(window.reserve(2, 4, 100s).admitted);
  EXPECT_EQ(window.settle(1, 0, 101s), ReceiptResult::done);
  EXPECT_EQ(window.left(101s), 6U);
  EXPECT_EQ(window.settle(2, 1, 101s), ReceiptResult::done);
  EXPECT_EQ(window.left(101s), 9U);
}

TEST(ReceiptsTest, OnlyTheNewestTurnOfAQueueCanBeGivenBack) {
  Reserved<LeakyBucketQueue> queue(*weir::Limit::leaky_bucket(QueueNumbers{{1, 1s}, 3}));
  for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(queue.reserve(id, 1, 0s).admitted);
  EXPECT_EQ(queue.settle(1, 0, 0s), ReceiptResult::done);
  EXPECT_EQ(queue.left(0s), 1U);
  EXPECT_EQ(queue.settle(3, 0, 0s), ReceiptResult::done);
  EXPECT_EQ(queue.left(0s), 2U);
  EXPECT_EQ(queue.settle(2, 0, 0s), ReceiptResult::done) << "it is the newest by now";
  EXPECT_EQ(queue.left(0s), 3U);
}

// A charge without a receipt is given back: later reservations move nearer.
TEST(ReceiptsTest, ARefundOfAnotherChargeIsSeenByReceiptsBehindIt) {
  const TokenBucket::Limit limit(*weir::Limit::token_bucket({{1, 1s}, 20}));
  TokenBucket::State state;
  Receipts receipts;
  const Decision plain = TokenBucket::decide(limit, state, Cost{10}, opening);
  const Decision reserved = TokenBucket::decide(limit, state, Cost{10}, opening);
  ReceiptUse use{.id = {0, 1}, .lasts = 1h};
  receipts.reserve(charge_position<TokenBucket>(limit, state, reserved), Cost{10}, false, use, micros(opening));
  const Settlement nothing{Cost{10}, Cost{0}, charged_by(plain)};
  receipts.settle<TokenBucket>(limit, state, nothing, micros(opening + 4s));
  EXPECT_EQ(receipts.open[0].at, micros(opening + 14s));
}

// Holds

class HoldsTest : public testing::Test {
 protected:
  // Takes the hold if it is admitted.
  Decision hold(std::uint64_t id, std::uint64_t cost, Duration at, Duration lasts = 60s) {
    ReceiptUse use{.id = {0, id}, .lasts = lasts};
    const std::int64_t now = micros(opening + at);
    const bool was_open = receipts_.is_open(use.id, now);
    const Decision decision = receipts_.hold(limit_, Cost{was_open ? 0 : cost}, &use, 0, true, now);
    if (decision.admitted) receipts_.reserve({}, Cost{cost}, was_open, use, now);
    return decision;
  }
  ReceiptResult release(std::uint64_t id, Duration at) {
    ReceiptUse use{.id = {0, id}, .actual = Cost{0}};
    receipts_.settle<Concurrency>(limit_, state_, use, micros(opening + at));
    return use.result;
  }

  Concurrency::Limit limit_{*weir::Limit::concurrency({.limit = 3})};
  Concurrency::State state_;
  Receipts receipts_;
};

TEST_F(HoldsTest, AtMostTheLimitIsHeldAtAnyInstant) {
  EXPECT_EQ(hold(1, 1, 0s).remaining, 2U);
  EXPECT_EQ(hold(2, 2, 1s).remaining, 0U);
  const Decision denied = hold(3, 2, 2s);
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.retry_after, 59s) << "one unit by 60 s is not enough, two more by 61 s are";
  EXPECT_EQ(hold(3, 1, 2s).retry_after, 58s);
  EXPECT_EQ(release(2, 2s), ReceiptResult::done);
  EXPECT_TRUE(hold(3, 2, 2s).admitted);
  EXPECT_EQ(release(2, 2s), ReceiptResult::ended);
}

TEST_F(HoldsTest, AHoldEndsWithItsLease) {
  EXPECT_TRUE(hold(1, 3, 0s, 10s).admitted);
  EXPECT_FALSE(hold(2, 1, 10s - 1us).admitted);
  EXPECT_TRUE(hold(2, 1, 10s).admitted);
  EXPECT_EQ(release(1, 10s), ReceiptResult::ended);
}

TEST_F(HoldsTest, AWaitIsExactInTheOrderOfTheEnds) {
  EXPECT_TRUE(hold(1, 1, 0s, 30s).admitted);
  EXPECT_TRUE(hold(2, 1, 0s, 10s).admitted);
  EXPECT_TRUE(hold(3, 1, 0s, 20s).admitted);
  const Decision denied = hold(4, 2, 0s);
  EXPECT_EQ(denied.retry_after, 20s);
  EXPECT_EQ(denied.reset_after, 30s);
  EXPECT_EQ(denied.more_after, 10s);
  EXPECT_FALSE(hold(4, 2, 20s - 1us).admitted);
  EXPECT_TRUE(hold(4, 2, 20s).admitted);
}

TEST_F(HoldsTest, WhatCanNeverFitHasNoWait) {
  EXPECT_FALSE(hold(1, 4, 0s).retry_after.has_value());
}

TEST_F(HoldsTest, WithoutAReceiptNothingIsHeld) {
  const Decision denied = receipts_.hold(limit_, Cost{1}, nullptr, 0, false, micros(opening));
  EXPECT_FALSE(denied.admitted);
  EXPECT_FALSE(denied.retry_after.has_value());
  EXPECT_EQ(denied.remaining, 0U);
  EXPECT_TRUE(receipts_.hold(limit_, Cost{0}, nullptr, 0, false, micros(opening)).admitted);
}

TEST_F(HoldsTest, NegativeHitsEndTheOldest) {
  EXPECT_TRUE(hold(1, 1, 0s).admitted);
  EXPECT_TRUE(hold(2, 2, 0s).admitted);
  receipts_.settle<Concurrency>(limit_, state_, {.reserved = Cost{2}, .actual = Cost{0}}, micros(opening));
  EXPECT_EQ(release(1, 0s), ReceiptResult::ended);
  EXPECT_EQ(hold(3, 0, 0s).remaining, 2U);
  EXPECT_EQ(release(2, 0s), ReceiptResult::done);
}

}  // namespace
}  // namespace weir::core
