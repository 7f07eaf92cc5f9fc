// Fixed window: one count per window, aligned to the epoch.
#include "tests/core/rows.h"

namespace weir::core {
namespace {

weir::Limit fixed_limit(std::uint64_t limit, Duration window) {
  return weir::Limit::fixed_window({.limit = limit, .window = window}).value();
}

class FixedWindowTest : public Story<FixedWindow> {
 protected:
  FixedWindowTest() { limited_to(fixed_limit(3, 10s)); }
};

TEST(FixedWindow, CountsInWindowsThatAreAlignedToTheEpoch) {
  expect_rows<FixedWindow>(fixed_limit(3, 10s), {
                                                    {12s, 2, admitted(1, 8s)},
                                                    {12s, 2, denied(1, 8s, 8s)},
                                                    {12s, 4, refused(1, 8s)},
                                                    {20s - 1us, 1, admitted(0, 1us)},
                                                    {20s - 1us, 0, admitted(0, 1us)},
                                                    {20s - 1us, 1, denied(0, 1us, 1us)},
                                                    {20s, 0, admitted(3, 0s)},
                                                    {20s, 1, admitted(2, 10s)},
                                                    {1000s, 3, admitted(0, 10s)},
                                                });
}

TEST(FixedWindow, WindowsBeforeTheEpochAreAlignedToItToo) {
  expect_rows<FixedWindow>(fixed_limit(2, 10s), {
                                                    {-10s, 1, admitted(1, 10s)},
                                                    {-1us, 1, admitted(0, 1us)},
                                                    {-1us, 1, denied(0, 1us, 1us)},
                                                    {0s, 2, admitted(0, 10s)},
                                                });
}

TEST(FixedWindow, DayIsADayInUtc) {
  const Duration noon = 20'000 * 24h + 12h;
  expect_rows<FixedWindow>(fixed_limit(5, 24h),
                           {{noon, 5, admitted(0, 12h)}, {noon + 1s, 1, denied(0, 12h - 1s, 12h - 1s)}});
}

// The documentation warns of this.
TEST(FixedWindow, TwiceTheLimitPassesAroundAWindowBoundary) {
  expect_rows<FixedWindow>(fixed_limit(100, 60s), {{60s - 1us, 100, admitted(0, 1us)}, {60s, 100, admitted(0, 60s)}});
}

TEST_F(FixedWindowTest, RefundCreditsTheWindowThatWasCharged) {
  const Decision charge = this->charge(2, 12s);
  refund(1, charge, 19s);
  EXPECT_EQ(remaining(19s), 2U);
  refund(5, charge, 19s);
  EXPECT_EQ(remaining(19s), 3U);
  EXPECT_EQ(reset_after(19s), 0s);
}

TEST_F(FixedWindowTest, RefundOfAWindowThatIsOverCreditsNothing) {
  const Decision charge = this->charge(2, 12s);
  use(3, 20s);
  refund(2, charge, 21s);
  EXPECT_EQ(remaining(21s), 0U);
}

TEST_F(FixedWindowTest, SettlingDownAfterTheWindowCreditsNothingAndUpChargesTheWindowOfNow) {
  const Decision charge = this->charge(2, 12s);
  settle(2, 0, charge, 21s);
  EXPECT_EQ(remaining(21s), 3U);
  settle(2, 4, charge, 21s);
  EXPECT_EQ(remaining(21s), 1U);
  EXPECT_EQ(remaining(30s), 3U);
}

TEST_F(FixedWindowTest, DebtIsAtMostOneLimitAndEndsWithTheWindow) {
  const Decision charge = this->charge(3, 12s);
  settle(3, 1000, charge, 12s);
  EXPECT_FALSE(peek(0, 12s).admitted);
  EXPECT_EQ(wait_for(0, 12s), 8s);
  refund(3, charge, 12s);
  EXPECT_TRUE(peek(0, 12s).admitted);
  EXPECT_EQ(remaining(12s), 0U);
  EXPECT_EQ(remaining(20s), 3U);
}

TEST_F(FixedWindowTest, ClockThatStepsBackIntoAnEarlierWindowGoesOnWithTheNewest) {
  use(2, 20s);
  EXPECT_EQ(remaining(15s), 1U);
  use(1, 15s);
  EXPECT_EQ(wait_for(1, 15s), 15s);
  EXPECT_EQ(remaining(29s), 0U);
  EXPECT_EQ(remaining(30s), 3U);
}

// The charge went to the newest window, and so does its refund.
TEST_F(FixedWindowTest, ChargeAfterAStepBackIsRefundedToTheWindowThatCountedIt) {
  use(1, 20s);
  const Decision charge = this->charge(2, 15s);
  refund(2, charge, 15s);
  EXPECT_EQ(remaining(15s), 2U);
  EXPECT_EQ(remaining(20s), 2U);
}

TEST_F(FixedWindowTest, CountStaysUnderANewLimit) {
  use(2, 12s);
  carry_over_to(fixed_limit(10, 10s), 13s);
  EXPECT_EQ(remaining(13s), 8U);
  carry_over_to(fixed_limit(1, 10s), 13s);
  EXPECT_EQ(remaining(13s), 0U);
  EXPECT_FALSE(peek(0, 13s).admitted);
  EXPECT_EQ(remaining(20s), 1U);
}

TEST_F(FixedWindowTest, WindowThatHasNotBegunIsCarriedOverAsThePresentOne) {
  use(2, 5000s);
  carry_over_to(fixed_limit(3, 10s), 12s);
  EXPECT_EQ(remaining(12s), 1U);
  EXPECT_EQ(reset_after(12s), 8s);
}

TEST_F(FixedWindowTest, ForgottenAtTheEndOfTheWindow) {
  EXPECT_LT(forget_at(), -1'000'000h);
  const Decision charge = this->charge(1, 12s);
  EXPECT_EQ(forget_at(), 20s);
  refund(1, charge, 12s);
  EXPECT_LE(forget_at(), 12s);
}

}  // namespace
}  // namespace weir::core
