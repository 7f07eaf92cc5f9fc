// Leaky bucket with a queue: an admitted request waits for its turn.
#include "tests/core/rows.h"

namespace weir::core {
namespace {

weir::Limit line_of(std::uint64_t queue, std::uint64_t count, Duration per) {
  return weir::Limit::leaky_bucket(QueueNumbers{.rate = {count, per}, .queue = queue}).value();
}

class LeakyBucketQueueTest : public Story<LeakyBucketQueue> {
 protected:
  LeakyBucketQueueTest() { limited_to(line_of(3, 1, 10s)); }

  Decision charge_within(Duration max_wait, std::uint64_t cost, Duration now) {
    return subject_->decide(Cost{cost}, at(now), max_wait);
  }
};

TEST(LeakyBucketQueue, AtOneInstantOnePassesTheQueueWaitsAndTheNextIsDenied) {
  expect_rows<LeakyBucketQueue>(line_of(3, 1, 10s), {
                                                        {0s, 1, admitted(3, 10s)},
                                                        {0s, 1, admitted(2, 20s, 10s)},
                                                        {0s, 1, admitted(1, 30s, 20s)},
                                                        {0s, 1, admitted(0, 40s, 30s)},
                                                        {0s, 1, denied(0, 10s, 40s)},
                                                        {10s - 1us, 1, denied(0, 1us, 30s + 1us)},
                                                        {10s, 1, admitted(0, 40s, 30s)},
                                                    });
}

TEST(LeakyBucketQueue, WithoutAQueueItIsOneAtATime) {
  expect_rows<LeakyBucketQueue>(line_of(0, 1, 10s), {
                                                        {0s, 1, admitted(0, 10s)},
                                                        {4s, 1, denied(0, 6s, 6s)},
                                                        {10s, 1, admitted(0, 10s)},
                                                        {10s, 2, refused(0, 10s)},
                                                    });
}

TEST(LeakyBucketQueue, HeavyRequestWaitsForItsTurnAndMakesOthersWaitLonger) {
  expect_rows<LeakyBucketQueue>(line_of(4, 1, 10s), {
                                                        {0s, 3, admitted(2, 30s)},
                                                        {0s, 2, admitted(0, 50s, 30s)},
                                                        {5s, 1, denied(0, 5s, 45s)},
                                                        {25s, 2, admitted(0, 45s, 25s)},
                                                    });
}

TEST(LeakyBucketQueue, TurnsAreRoundedUpSoThatNoRequestIsEarly) {
  expect_rows<LeakyBucketQueue>(line_of(7, 7, 3us), {
                                                        {0us, 1, admitted(7, 1us)},       // ends at 3/7
                                                        {0us, 1, admitted(6, 1us, 1us)},  // 3/7
                                                        {0us, 1, admitted(5, 2us, 1us)},  // 6/7
                                                        {0us, 1, admitted(4, 2us, 2us)},  // 9/7
                                                        {0us, 4, admitted(0, 4us, 2us)},  // 12/7
                                                    });
}

TEST(LeakyBucketQueue, LookingHasNoTurnToWaitFor) {
  expect_rows<LeakyBucketQueue>(line_of(3, 1, 10s), {{0s, 2, admitted(2, 20s)}, {0s, 0, admitted(2, 20s)}});
}

TEST_F(LeakyBucketQueueTest, TurnBeyondMaxWaitIsADenialThatChargesNothing) {
  use(2, 0s);  // the next turn is in 20 s
  const Decision impatient = charge_within(15s, 1, 0s);
  EXPECT_FALSE(impatient.admitted);
  EXPECT_EQ(impatient.retry_after, 5s);
  EXPECT_EQ(impatient.remaining, 0U);
  EXPECT_EQ(impatient.delay, 0s);
  EXPECT_EQ(impatient.reset_after, 20s);
  EXPECT_EQ(remaining(0s), 2U);
  EXPECT_FALSE(charge_within(15s, 1, 5s - 1us).admitted);
  const Decision patient = charge_within(15s, 1, 5s);
  EXPECT_TRUE(patient.admitted);
  EXPECT_EQ(patient.delay, 15s);
}

TEST_F(LeakyBucketQueueTest, ACallerThatCannotWaitPassesOnlyAnEmptyQueue) {
  EXPECT_TRUE(charge_within(0s, 1, 0s).admitted);
  EXPECT_EQ(charge_within(0s, 1, 0s).retry_after, 10s);
  EXPECT_FALSE(charge_within(0s, 1, 10s - 1us).admitted);
  const Decision turn = charge_within(0s, 1, 10s);
  EXPECT_TRUE(turn.admitted);
  EXPECT_EQ(turn.delay, 0s);
  EXPECT_EQ(turn.remaining, 0U);  // for a caller that cannot wait
}

TEST_F(LeakyBucketQueueTest, NegativeMaxWaitIsNoWait) {
  EXPECT_TRUE(charge_within(-5s, 1, 0s).admitted);
  EXPECT_EQ(charge_within(-5s, 1, 0s).retry_after, 10s);
}

TEST_F(LeakyBucketQueueTest, FullQueueDeniesThePatientForLonger) {
  use(4, 0s);
  EXPECT_EQ(charge_within(30s, 1, 0s).retry_after, 10s);
  EXPECT_EQ(charge_within(5s, 1, 0s).retry_after, 35s);
  EXPECT_EQ(charge_within(30s, 4, 0s).retry_after, 40s);
  EXPECT_EQ(charge_within(30s, 5, 0s).retry_after, std::nullopt);
}

TEST_F(LeakyBucketQueueTest, LookingIsAdmittedWhateverTheWait) {
  use(4, 0s);
  EXPECT_TRUE(charge_within(0s, 0, 0s).admitted);
  EXPECT_EQ(charge_within(0s, 0, 0s).remaining, 0U);
}

TEST_F(LeakyBucketQueueTest, NewestTurnCanBeGivenBack) {
  use(1, 0s);
  use(1, 0s);
  const Decision newest = charge(2, 0s);
  refund(2, newest, 3s);
  EXPECT_EQ(remaining(3s), 2U);
  EXPECT_EQ(charge(1, 3s).delay, 17s);
}

TEST_F(LeakyBucketQueueTest, TurnThatSomebodyWaitsBehindCannotBeGivenBack) {
  const Decision first = charge(1, 0s);
  const Decision second = charge(1, 0s);
  const Decision third = charge(1, 0s);
  refund(1, first, 0s);
  refund(1, second, 0s);
  EXPECT_EQ(remaining(0s), 1U);
  EXPECT_EQ(charge(1, 0s).delay, 30s);
  refund(1, third, 0s);
  EXPECT_EQ(remaining(0s), 0U);
}

TEST_F(LeakyBucketQueueTest, TurnsAreGivenBackFromTheEndOfTheLine) {
  const Decision first = charge(1, 0s);
  const Decision second = charge(1, 0s);
  const Decision third = charge(1, 0s);
  refund(1, third, 1s);
  refund(1, second, 1s);
  refund(1, first, 1s);
  EXPECT_EQ(remaining(1s), 4U);
  EXPECT_EQ(charge(1, 1s).delay, 0s);
}

TEST_F(LeakyBucketQueueTest, TurnIsGivenBackOnce) {
  use(2, 0s);
  const Decision newest = charge(1, 0s);
  refund(1, newest, 0s);
  refund(1, newest, 0s);
  EXPECT_EQ(remaining(0s), 2U);
}

TEST_F(LeakyBucketQueueTest, TurnThatHasBegunGivesBackOnlyWhatIsLeftOfIt) {
  const Decision only = charge(2, 0s);
  refund(2, only, 15s);
  EXPECT_EQ(reset_after(15s), 0s);
  EXPECT_EQ(forget_at(), 15s);
}

TEST_F(LeakyBucketQueueTest, NewestTurnThatTurnsOutLighterShortensTheLine) {
  use(1, 0s);
  const Decision newest = charge(3, 0s);
  settle(3, 1, newest, 0s);
  EXPECT_EQ(remaining(0s), 2U);
}

TEST_F(LeakyBucketQueueTest, OlderTurnThatTurnsOutLighterLeavesTheLineAsItIs) {
  const Decision older = charge(2, 0s);
  use(1, 0s);
  settle(2, 1, older, 0s);
  EXPECT_EQ(remaining(0s), 1U);
}

TEST_F(LeakyBucketQueueTest, DebtLengthensTheLine) {
  const Decision only = charge(4, 0s);
  settle(4, 6, only, 0s);
  EXPECT_EQ(wait_for(0, 0s), 20s);
  EXPECT_EQ(wait_for(1, 0s), 30s);
  EXPECT_EQ(charge(1, 30s).delay, 30s);
}

}  // namespace
}  // namespace weir::core
