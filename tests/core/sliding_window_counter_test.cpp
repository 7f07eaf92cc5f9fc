// Sliding window counter: admitted iff ceil(prev x (W - e) / W) + curr + cost <= limit.
#include "tests/core/rows.h"

namespace weir::core {
namespace {

weir::Limit counter_limit(std::uint64_t limit, Duration window) {
  return weir::Limit::sliding_window_counter({.limit = limit, .window = window}).value();
}

class SlidingWindowCounterTest : public Story<SlidingWindowCounter> {
 protected:
  SlidingWindowCounterTest() { limited_to(counter_limit(100, 60s)); }
};

TEST(SlidingWindowCounter, PreviousWindowWeighsAsMuchAsItOverlaps) {
  expect_rows<SlidingWindowCounter>(counter_limit(100, 60s),
                                    {
                                        {30s, 80, admitted(20, 90s)},
                                        {60s, 0, admitted(20, 60s)},         // 80
                                        {75s, 10, admitted(30, 105s)},       // 60 + 10
                                        {75s, 31, denied(30, 750ms, 105s)},  // until 59 + 10 + 31
                                        {75s, 101, refused(30, 105s)},
                                        {75s + 750ms - 1us, 31, denied(30, 1us, 104'250'001us)},
                                        {75s + 750ms, 31, admitted(0, 104'250ms)},
                                    });
}

TEST(SlidingWindowCounter, WeightIsRoundedUp) {
  expect_rows<SlidingWindowCounter>(counter_limit(3, 7us), {
                                                               {0us, 3, admitted(0, 14us)},
                                                               {7us, 0, admitted(0, 7us)},   // 3
                                                               {8us, 0, admitted(0, 6us)},   // 3 x 6/7 = 2.6
                                                               {9us, 0, admitted(0, 5us)},   // 2.1
                                                               {10us, 0, admitted(1, 4us)},  // 1.7
                                                               {11us, 0, admitted(1, 3us)},  // 1.3
                                                               {12us, 0, admitted(2, 2us)},  // 0.9
                                                               {13us, 0, admitted(2, 1us)},  // 0.4
                                                               {14us, 0, admitted(3, 0us)},
                                                           });
}

TEST_F(SlidingWindowCounterTest, WaitWithinTheWindowEndsWhenThePreviousOneIsLightEnough) {
  use(80, 0s);
  use(10, 75s);  // e = 15 s
  // k = limit - curr - cost: e' = 60 s - floor(k x 60 s / 80)
  EXPECT_EQ(wait_for(30, 75s), 0s);
  EXPECT_EQ(wait_for(31, 75s), 60s - 44'250'000us - 15s);  // k = 59
  EXPECT_EQ(wait_for(89, 75s), 60s - 750'000us - 15s);     // k = 1
  EXPECT_EQ(wait_for(90, 75s), 45s);                       // k = 0: the previous window must have left completely
}

TEST_F(SlidingWindowCounterTest, WaitBeyondTheWindowEndsWhenThisOneIsLightEnough) {
  use(80, 0s);
  use(10, 75s);
  // k < 0: 45 s to the end of the window, and then 60 s - floor((limit - cost) x 60 s / 10)
  EXPECT_EQ(wait_for(91, 75s), 45s + 60s - 54s);
  EXPECT_EQ(wait_for(95, 75s), 45s + 60s - 30s);
  EXPECT_EQ(wait_for(100, 75s), 45s + 60s);
}

TEST_F(SlidingWindowCounterTest, WaitThatDoesNotDivideIsRoundedUp) {
  limited_to(counter_limit(10, 1s));
  use(7, 0s);
  // k = 4: 1 s - floor(4 x 1 s / 7) = 1 s - 571,428 us
  EXPECT_EQ(wait_for(6, 1s), 428'572us);
  EXPECT_FALSE(peek(6, 1s + 428'571us).admitted);
  EXPECT_TRUE(peek(6, 1s + 428'572us).admitted);
}

TEST_F(SlidingWindowCounterTest, WindowsAreAlignedBeforeTheEpochToo) {
  use(100, -1us);
  EXPECT_EQ(remaining(0s), 0U);
  EXPECT_EQ(remaining(30s), 50U);
  EXPECT_EQ(remaining(60s), 100U);
}

// 100 in the last microsecond of a window; 99 more as soon as these weigh at most one.
TEST_F(SlidingWindowCounterTest, HundredAndNinetyNineOfHundredCanBeHadWithinOneWindow) {
  const Duration first = 60s - 1us;
  use(100, first);
  const Duration second = 60s + 59'400ms;
  EXPECT_EQ(remaining(second - 1us), 98U);
  use(99, second);
  EXPECT_LT(second - first, 60s);
  EXPECT_EQ(remaining(first + 60s), 0U);
}

TEST_F(SlidingWindowCounterTest, OlderWindowsDoNotCount) {
  use(100, 0s);
  EXPECT_EQ(remaining(120s), 100U);
  use(1, 1000s);
  EXPECT_EQ(remaining(1000s), 99U);
}

TEST_F(SlidingWindowCounterTest, RefundCreditsTheWindowThatWasCharged) {
  const Decision before = charge(80, 0s);
  const Decision now = charge(10, 90s);
  refund(40, before, 90s);
  EXPECT_EQ(remaining(90s), 70U);  // 20 + 10
  refund(10, now, 90s);
  EXPECT_EQ(remaining(90s), 80U);
  refund(1000, before, 90s);
  EXPECT_EQ(remaining(90s), 100U);
  EXPECT_EQ(reset_after(90s), 0s);
}

TEST_F(SlidingWindowCounterTest, RefundAfterTheWindowRolledWithoutAWriteCreditsIt) {
  const Decision before = charge(80, 0s);
  refund(40, before, 90s);
  EXPECT_EQ(remaining(90s), 80U);
}

TEST_F(SlidingWindowCounterTest, RefundOfAWindowThatNoLongerCountsCreditsNothing) {
  const Decision old = charge(80, 0s);
  use(100, 120s);
  refund(80, old, 121s);
  EXPECT_EQ(remaining(121s), 0U);
  EXPECT_EQ(remaining(180s), 0U);
}

TEST_F(SlidingWindowCounterTest, DebtIsAtMostOneLimitOfWhatCountsNow) {
  use(100, 0s);
  const Decision charge = this->charge(25, 90s);  // 50 + 25
  settle(25, 1000, charge, 90s);                  // 50 + 150
  EXPECT_FALSE(peek(0, 90s).admitted);
  // The 150 fit alone once they weigh 100, a third into the next window.
  EXPECT_EQ(wait_for(0, 90s), 30s + 20s);
  EXPECT_EQ(wait_for(100, 90s), 90s);
}

TEST_F(SlidingWindowCounterTest, ClockThatStepsBackIsAtTheBeginningOfTheNewestWindow) {
  use(40, 30s);
  use(10, 90s);
  EXPECT_EQ(remaining(60s), 50U);
  EXPECT_EQ(remaining(30s), 50U);
  use(50, 30s);
  EXPECT_EQ(wait_for(1, 30s), 30s + 1500ms);
  EXPECT_EQ(remaining(90s), 20U);
}

// The charge went to the newest window, not to the one before it.
TEST_F(SlidingWindowCounterTest, ChargeAfterAStepBackIsRefundedToTheWindowThatCountedIt) {
  use(40, 30s);
  use(10, 90s);
  const Decision charge = this->charge(20, 30s);
  refund(20, charge, 30s);
  EXPECT_EQ(remaining(60s), 50U);
  EXPECT_EQ(remaining(119s), 89U);
}

TEST_F(SlidingWindowCounterTest, CountsStayUnderANewLimit) {
  use(80, 0s);
  use(10, 90s);
  carry_over_to(counter_limit(1000, 60s), 90s);
  EXPECT_EQ(remaining(90s), 950U);
  carry_over_to(counter_limit(20, 60s), 90s);
  EXPECT_FALSE(peek(0, 90s).admitted);
  EXPECT_EQ(wait_for(0, 90s), 22'500ms);
}

TEST_F(SlidingWindowCounterTest, WindowThatHasNotBegunIsCarriedOverAsThePresentOne) {
  use(30, 6000s);
  carry_over_to(counter_limit(100, 60s), 90s);
  EXPECT_EQ(remaining(90s), 70U);
  EXPECT_EQ(reset_after(90s), 90s);
}

TEST_F(SlidingWindowCounterTest, ForgottenWhenTheNewestWindowNoLongerOverlaps) {
  EXPECT_LT(forget_at(), -1'000'000h);
  use(1, 30s);
  EXPECT_EQ(forget_at(), 120s);
  const Decision newest = charge(1, 90s);
  EXPECT_EQ(forget_at(), 180s);
  refund(1, newest, 90s);
  EXPECT_EQ(forget_at(), 120s);
}

}  // namespace
}  // namespace weir::core
