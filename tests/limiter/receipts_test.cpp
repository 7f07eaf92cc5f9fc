// Reserve, settle, release, extend and report with both limiters, on a clock that the test moves.
#include "weir/receipt.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "tests/limiter/limits.h"
#include "weir/keyed_limiter.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

// A Limiter, or one key of a KeyedLimiter, with the same interface.
class OfOneLimiter {
 public:
  OfOneLimiter(const Limit& limit, std::shared_ptr<const Clock> clock)
      : limiter_(Limiter::create(limit, std::move(clock)).value()) {}
  Decision check(std::uint64_t cost) { return limiter_.check(Cost{cost}); }
  Decision peek(std::uint64_t cost) { return limiter_.peek(Cost{cost}); }
  Decision acquire(std::uint64_t cost) { return limiter_.acquire(Cost{cost}); }
  Reservation reserve(std::uint64_t cost, Duration lasts = {}, std::string_view id = {}) {
    return limiter_.reserve(Cost{cost}, lasts, id);
  }
  ReceiptAnswer report(std::uint64_t cost, std::string_view id = {}) { return limiter_.report(Cost{cost}, id); }
  Limiter& receipts() { return limiter_; }

 private:
  Limiter limiter_;
};

class OfOneKey {
 public:
  OfOneKey(const Limit& limit, std::shared_ptr<const Clock> clock)
      : limiter_(KeyedLimiter::create(limit, std::move(clock)).value()) {
    std::ignore = limiter_.reserve("bert", Cost{1});
  }
  Decision check(std::uint64_t cost) { return limiter_.check("anna", Cost{cost}); }
  Decision peek(std::uint64_t cost) { return limiter_.peek("anna", Cost{cost}); }
  Decision acquire(std::uint64_t cost) { return limiter_.acquire("anna", Cost{cost}); }
  Reservation reserve(std::uint64_t cost, Duration lasts = {}, std::string_view id = {}) {
    return limiter_.reserve("anna", Cost{cost}, lasts, id);
  }
  ReceiptAnswer report(std::uint64_t cost, std::string_view id = {}) { return limiter_.report("anna", Cost{cost}, id); }
  KeyedLimiter& receipts() { return limiter_; }

 private:
  KeyedLimiter limiter_;
};

template <class Limited>
class ReceiptsTest : public testing::Test {
 protected:
  [[nodiscard]] Limited limited(const Limit& limit) { return Limited(limit, clock_); }
  [[nodiscard]] Limited bucket() { return limited(Limit::token_bucket({.rate = {1, 1s}, .burst = 10}).value()); }
  [[nodiscard]] Limited held() { return limited(Limit::concurrency({.limit = 3, .lease = 30s}).value()); }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(first_instant);
};

using BothLimiters = testing::Types<OfOneLimiter, OfOneKey>;
TYPED_TEST_SUITE(ReceiptsTest, BothLimiters);

TYPED_TEST(ReceiptsTest, ReserveAnswersAsCheckAndGivesAReceipt) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    TypeParam reserving = this->limited(limit);
    TypeParam checking = this->limited(limit);
    for (const std::uint64_t cost : {0U, 2U, 1U, 6U, 2U, 1U}) {
      const Decision decision = checking.check(cost);
      const Reservation reservation = reserving.reserve(cost, 5s);
      EXPECT_EQ(reservation.decision, decision) << name_of(limit.algorithm()) << " cost " << cost;
      EXPECT_EQ(static_cast<bool>(reservation.receipt), decision.admitted);
      EXPECT_EQ(reservation.result, decision.admitted ? ReceiptResult::done : ReceiptResult::none);
      if (!decision.admitted) continue;
      EXPECT_EQ(reservation.cost, Cost{cost});
      EXPECT_EQ(reservation.ends, first_instant + 5s);
    }
  }
}

TYPED_TEST(ReceiptsTest, ReleaseGivesAllBackAndOnce) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    TypeParam limited = this->limited(limit);
    std::ignore = limited.check(1);
    const Receipt receipt = limited.reserve(3).receipt;
    EXPECT_EQ(limited.peek(0).remaining, 1U);
    const ReceiptAnswer released = limited.receipts().release(receipt);
    EXPECT_EQ(released.result, ReceiptResult::done) << name_of(limit.algorithm());
    EXPECT_EQ(released.cost, Cost{3});
    EXPECT_EQ(limited.peek(0).remaining, 4U) << name_of(limit.algorithm());
    const ReceiptAnswer again = limited.receipts().release(receipt);
    EXPECT_EQ(again.result, ReceiptResult::ended) << name_of(limit.algorithm());
    EXPECT_EQ(limited.peek(0).remaining, 4U) << name_of(limit.algorithm());
  }
}

TYPED_TEST(ReceiptsTest, SettleCorrectsWhatWasReserved) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    TypeParam limited = this->limited(limit);
    EXPECT_TRUE(limited.receipts().settle(limited.reserve(4).receipt, Cost{1}));
    EXPECT_EQ(limited.peek(0).remaining, 4U) << name_of(limit.algorithm());
    EXPECT_TRUE(limited.receipts().settle(limited.reserve(1).receipt, Cost{3}));
    EXPECT_EQ(limited.peek(0).remaining, 1U) << name_of(limit.algorithm());
  }
}

TYPED_TEST(ReceiptsTest, WhatSettlesUpwardGoesIntoADebtOfOneCapacityAndTheRestIsLost) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    TypeParam limited = this->limited(limit);
    const ReceiptAnswer settled = limited.receipts().settle(limited.reserve(2).receipt, Cost{13});
    EXPECT_EQ(settled.result, ReceiptResult::done) << name_of(limit.algorithm());
    EXPECT_EQ(settled.lost, 3U) << name_of(limit.algorithm());
    EXPECT_FALSE(limited.peek(0)) << name_of(limit.algorithm());
  }
}

TYPED_TEST(ReceiptsTest, OldReservationsThatAreReleasedAtOnceBankNothing) {
  TypeParam limited = this->bucket();
  const Receipt first = limited.reserve(10).receipt;
  this->clock_->advance(10s);
  const Receipt second = limited.reserve(10).receipt;
  limited.receipts().release(first);
  limited.receipts().release(second);
  std::uint64_t admitted = 10;  // the first was admitted and has been refilled
  while (limited.check(1)) ++admitted;
  EXPECT_EQ(admitted, 20U);
}

TYPED_TEST(ReceiptsTest, ReceiptEndsAndItsChargeStays) {
  TypeParam limited = this->limited(Limit::fixed_window({.limit = 5, .window = 1h}).value());
  const Receipt receipt = limited.reserve(4, 10s).receipt;
  this->clock_->advance(10s - 1us);
  EXPECT_EQ(limited.receipts().extend(receipt, 5s).ends, first_instant + 15s - 1us);
  this->clock_->advance(1us);
  EXPECT_EQ(limited.receipts().extend(receipt, 1s).ends, first_instant + 15s - 1us) << "never earlier";
  this->clock_->advance(5s);
  EXPECT_EQ(limited.receipts().extend(receipt, 5s).result, ReceiptResult::ended);
  EXPECT_EQ(limited.receipts().settle(receipt, Cost{0}).result, ReceiptResult::ended);
  EXPECT_EQ(limited.peek(0).remaining, 1U);
}

TYPED_TEST(ReceiptsTest, ReceiptLastsAsLongAsItSaysWithinReason) {
  struct Row {
    Duration asked;
    Duration lasts;
  };
  for (const Row row : {Row{0s, 10min}, Row{1us, 1us}, Row{-1s, 1us}, Row{24h, 24h}, Row{24h * 8, 24h * 7}}) {
    TypeParam limited = this->bucket();
    EXPECT_EQ(limited.reserve(1, row.asked).ends, first_instant + row.lasts) << row.asked.count();
  }
  TypeParam held = this->held();
  const Reservation usual = held.reserve(1);
  EXPECT_EQ(usual.ends, first_instant + 30s);
  this->clock_->advance(1s);
  EXPECT_EQ(held.receipts().extend(usual.receipt).ends, first_instant + 31s);
}

TYPED_TEST(ReceiptsTest, ReserveUnderAnOpenIdIsTheSameOne) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    TypeParam limited = this->limited(limit);
    const Reservation first = limited.reserve(4, 1min, "invoice 7");
    const Reservation again = limited.reserve(4, 1min, "invoice 7");
    EXPECT_TRUE(again);
    EXPECT_EQ(again.result, ReceiptResult::repeated);
    EXPECT_EQ(again.receipt, first.receipt);
    EXPECT_EQ(again.ends, first.ends);
    EXPECT_EQ(limited.peek(0).remaining, 1U) << name_of(limit.algorithm());
    EXPECT_NE(limited.reserve(1, 1min, "invoice 8").receipt, first.receipt);
    EXPECT_TRUE(limited.receipts().release(first.receipt));
    EXPECT_EQ(limited.reserve(0, 1min, "invoice 7").result, ReceiptResult::done) << "it was released";
  }
}

TYPED_TEST(ReceiptsTest, ReportIsNeverDeniedAndUnderAnIdItCountsOnceAnHour) {
  for (const Limit& limit : one_of_each(5, 10h)) {
    TypeParam limited = this->limited(limit);
    EXPECT_EQ(limited.report(2).result, ReceiptResult::done);
    EXPECT_EQ(limited.report(2, "day 1").result, ReceiptResult::done);
    EXPECT_EQ(limited.report(2, "day 1").result, ReceiptResult::repeated);
    EXPECT_EQ(limited.peek(0).remaining, 1U) << name_of(limit.algorithm());
    EXPECT_EQ(limited.report(7).lost, 1U) << name_of(limit.algorithm());
    EXPECT_FALSE(limited.peek(0)) << name_of(limit.algorithm());
    this->clock_->advance(1h);
    EXPECT_EQ(limited.report(0, "day 1").result, ReceiptResult::done) << name_of(limit.algorithm());
  }
}

TYPED_TEST(ReceiptsTest, BeyondTheMostAReserveIsChargedWithoutAReceiptAndAReportWithoutItsId) {
  TypeParam limited = this->limited(Limit::fixed_window({.limit = 5000, .window = 1h}).value());
  for (int i = 0; i < 1024; ++i) {
    ASSERT_TRUE(limited.reserve(1).receipt);
    ASSERT_EQ(limited.report(1, std::to_string(i)).result, ReceiptResult::done);
  }
  const Reservation beyond = limited.reserve(1);
  EXPECT_TRUE(beyond);
  EXPECT_EQ(beyond.result, ReceiptResult::not_kept);
  EXPECT_FALSE(beyond.receipt);
  EXPECT_EQ(limited.report(2, "one more").result, ReceiptResult::not_kept);
  EXPECT_EQ(limited.peek(0).remaining, 5000U - 2 * 1024 - 3);
}

TYPED_TEST(ReceiptsTest, ReceiptOfAnotherLimiterAndNoneChangeNothing) {
  TypeParam limited = this->bucket();
  TypeParam other = this->bucket();
  const Receipt foreign = other.reserve(5).receipt;
  std::ignore = limited.reserve(5);
  for (const Receipt& receipt : {foreign, Receipt{}}) {
    EXPECT_EQ(limited.receipts().settle(receipt, Cost{0}).result, ReceiptResult::ended);
    EXPECT_EQ(limited.receipts().extend(receipt, 1h).result, ReceiptResult::ended);
  }
  EXPECT_EQ(limited.peek(0).remaining, 5U);
}

TYPED_TEST(ReceiptsTest, AtMostSoManyAreHeldAtOnce) {
  TypeParam limited = this->held();
  const Reservation first = limited.reserve(1, 10s);
  const Reservation second = limited.reserve(2, 20s);
  EXPECT_TRUE(first);
  EXPECT_EQ(second.decision.remaining, 0U);
  const Reservation denied = limited.reserve(2);
  EXPECT_FALSE(denied);
  EXPECT_FALSE(denied.receipt);
  EXPECT_EQ(denied.decision.retry_after, 20s);
  EXPECT_EQ(limited.peek(1).retry_after, 10s);
  EXPECT_TRUE(limited.receipts().settle(second.receipt, Cost{2})) << "whatever it cost, it is over";
  EXPECT_EQ(limited.peek(0).remaining, 2U);
  this->clock_->advance(10s);
  EXPECT_EQ(limited.peek(0).remaining, 3U);
  EXPECT_EQ(limited.receipts().release(first.receipt).result, ReceiptResult::ended);
  EXPECT_EQ(limited.reserve(4).decision.retry_after, std::nullopt);
}

TYPED_TEST(ReceiptsTest, WithoutAReceiptNothingIsHeld) {
  TypeParam limited = this->held();
  for (const Decision& denied : {limited.check(1), limited.acquire(1)}) {
    EXPECT_FALSE(denied);
    EXPECT_EQ(denied.retry_after, std::nullopt);
  }
  EXPECT_EQ(limited.report(1).result, ReceiptResult::none);
  EXPECT_EQ(limited.peek(0).remaining, 3U);
}

}  // namespace
}  // namespace weir
