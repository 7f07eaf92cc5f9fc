// Sliding window log: the window is (now - W, now]; an entry leaves exactly at t + W.
#include "tests/core/oracle.h"
#include "tests/core/rows.h"

namespace weir::core {
namespace {

weir::Limit log_limit(std::uint64_t limit, Duration window) {
  return weir::Limit::sliding_window_log({.limit = limit, .window = window}).value();
}

class SlidingWindowLogTest : public Story<SlidingWindowLog> {
 protected:
  SlidingWindowLogTest() { limited_to(log_limit(3, 10s)); }
};

TEST(SlidingWindowLog, EntryLeavesExactlyOneWindowAfterItCame) {
  expect_rows<SlidingWindowLog>(log_limit(3, 10s), {
                                                       {0s, 1, admitted(2, 10s)},
                                                       {4s, 2, admitted(0, 10s)},
                                                       {4s, 0, admitted(0, 10s)},
                                                       {4s, 1, denied(0, 6s, 10s)},
                                                       {4s, 2, denied(0, 10s, 10s)},
                                                       {4s, 4, refused(0, 10s)},
                                                       {10s - 1us, 1, denied(0, 1us, 4s + 1us)},
                                                       {10s, 1, admitted(0, 10s)},
                                                       {10s, 1, denied(0, 4s, 10s)},
                                                       {10s, 3, denied(0, 10s, 10s)},
                                                       {14s, 0, admitted(2, 6s)},
                                                       {14s, 2, admitted(0, 10s)},
                                                       {100s, 3, admitted(0, 10s)},
                                                   });
}

TEST(SlidingWindowLog, WindowsAreNotAlignedToAnything) {
  expect_rows<SlidingWindowLog>(log_limit(100, 60s), {
                                                         {60s - 1us, 100, admitted(0, 60s)},
                                                         {60s, 1, denied(0, 60s - 1us, 60s - 1us)},
                                                         {-5s + 1h, 1, admitted(99, 60s)},
                                                     });
}

TEST(SlidingWindowLog, EntriesBeforeTheEpochCountAlike) {
  expect_rows<SlidingWindowLog>(log_limit(1, 10s), {
                                                       {-12s, 1, admitted(0, 10s)},
                                                       {-3s, 1, denied(0, 1s, 1s)},
                                                       {-2s, 1, admitted(0, 10s)},
                                                       {7s, 1, denied(0, 1s, 1s)},
                                                   });
}

TEST(SlidingWindowLog, LargestLimitIsKeptEntryByEntry) {
  Subject<SlidingWindowLog> subject(log_limit(65'536, 1h));
  for (int i = 0; i < 65'536; ++i) ASSERT_TRUE(subject.decide(Cost{1}, at(Duration{i})).admitted);
  EXPECT_EQ(subject.peek(Cost{1}, at(Duration{65'536})).retry_after, 1h - 65'536us);
  EXPECT_EQ(subject.peek(Cost{65'536}, at(Duration{65'536})).retry_after, 1h - 1us);
  for (int i = 0; i < 65'536; ++i) {
    ASSERT_FALSE(subject.decide(Cost{1}, at(1h + Duration{i - 1})).admitted);
    ASSERT_TRUE(subject.decide(Cost{1}, at(1h + Duration{i})).admitted);
  }
}

TEST_F(SlidingWindowLogTest, RefundCreditsTheEntryThatWasCharged) {
  const Decision first = charge(1, 0s);
  const Decision second = charge(2, 4s);
  refund(1, second, 5s);
  EXPECT_EQ(remaining(5s), 1U);
  EXPECT_EQ(wait_for(2, 5s), 5s);
  refund(1, first, 5s);
  EXPECT_EQ(remaining(5s), 2U);
  EXPECT_EQ(reset_after(5s), 9s);
  refund(1, second, 5s);
  EXPECT_EQ(reset_after(5s), 0s);
}

TEST_F(SlidingWindowLogTest, RefundOfMoreThanTheEntryHasCreditsNoOtherEntry) {
  const Decision first = charge(1, 0s);
  use(2, 4s);
  refund(3, first, 5s);
  refund(3, first, 5s);
  EXPECT_EQ(remaining(5s), 1U);
}

TEST_F(SlidingWindowLogTest, RefundOfAnEntryThatHasLeftCreditsNothing) {
  const Decision first = charge(1, 0s);
  use(2, 4s);
  refund(1, first, 10s);
  EXPECT_EQ(remaining(10s), 1U);
  EXPECT_EQ(remaining(9s), 0U);
}

TEST_F(SlidingWindowLogTest, SettlingUpIsAnEntryOfNow) {
  const Decision charge = this->charge(1, 0s);
  settle(1, 3, charge, 4s);
  EXPECT_EQ(remaining(4s), 0U);
  EXPECT_EQ(wait_for(1, 4s), 6s);
  EXPECT_EQ(wait_for(2, 4s), 10s);
}

TEST_F(SlidingWindowLogTest, DebtIsAtMostOneLimit) {
  const Decision charge = this->charge(1, 0s);
  settle(1, 1'000'000, charge, 4s);
  EXPECT_FALSE(peek(0, 4s).admitted);
  EXPECT_EQ(wait_for(0, 4s), 10s);
  EXPECT_EQ(remaining(14s), 3U);
}

// Memory is bounded by the limit, so a debt on a full log goes to its newest entry. It may leave later than it would by
// itself, never earlier.
TEST_F(SlidingWindowLogTest, DebtOnAFullLogAdmitsNoMoreThanTheExactLogAndKeepsToItsMemory) {
  oracle::SlidingWindowLog exact(log_limit(3, 10s));
  for (const Duration now : {0s, 1s, 2s}) {
    use(1, now);
    exact.charge(1, now / 1us);
  }
  subject_->owe(Cost{2}, at(5s));
  exact.owe(2, 5s / 1us);
  EXPECT_EQ(subject_->state().ring->size(), 3U);
  for (const Duration now : {5s, 10s, 11s, 12s, 14s})
    EXPECT_LE(remaining(now), std::max<oracle::Int>(0, exact.room(now / 1us)));
  EXPECT_FALSE(peek(0, 9s).admitted);
  EXPECT_EQ(remaining(15s), 3U);
}

TEST_F(SlidingWindowLogTest, ClockThatStepsBackWritesAtTheNewestEntry) {
  use(1, 20s);
  EXPECT_EQ(charge(1, 15s).charged_at, at(20s));
  EXPECT_EQ(remaining(15s), 1U);
  EXPECT_EQ(remaining(30s - 1us), 1U);
  EXPECT_EQ(remaining(30s), 3U);
}

TEST_F(SlidingWindowLogTest, ChargeAfterAStepBackIsRefundedToItsEntry) {
  use(1, 20s);
  const Decision charge = this->charge(1, 15s);
  refund(1, charge, 16s);
  EXPECT_EQ(remaining(16s), 2U);
}

TEST_F(SlidingWindowLogTest, EntriesStayUnderANewLimit) {
  use(2, 0s);
  use(1, 1s);
  carry_over_to(log_limit(10, 10s), 2s);
  EXPECT_EQ(remaining(2s), 7U);
  for (int i = 0; i < 7; ++i) use(1, 3s + Duration{i});
  EXPECT_EQ(wait_for(1, 4s), 6s);
  carry_over_to(log_limit(2, 10s), 5s);
  EXPECT_FALSE(peek(0, 5s).admitted);
  EXPECT_EQ(wait_for(1, 5s), 8s + 5us);
  EXPECT_EQ(remaining(13s + 6us), 2U);
}

TEST_F(SlidingWindowLogTest, EntriesOfTheFutureAreCarriedOverAsOfNow) {
  use(1, 0s);
  use(2, 5000s);
  carry_over_to(log_limit(3, 10s), 2s);
  EXPECT_EQ(reset_after(2s), 10s);
  EXPECT_EQ(remaining(12s), 3U);
}

TEST_F(SlidingWindowLogTest, ForgottenWhenTheNewestEntryLeaves) {
  EXPECT_LT(forget_at(), -1'000'000h);
  use(1, 2s);
  const Decision newest = charge(1, 7s);
  EXPECT_EQ(forget_at(), 17s);
  refund(1, newest, 8s);
  EXPECT_EQ(forget_at(), 12s);
}

}  // namespace
}  // namespace weir::core
