// What a client may send, promise by promise. Times are seconds from zero.
#include "client/learned_quota.h"

#include <gtest/gtest.h>

namespace weir::client {
namespace {

Instant at(int seconds) {
  return Instant{std::chrono::seconds{seconds}};
}

TEST(LearnedQuota, NothingLearnedAdmitsEverythingNow) {
  const LearnedQuota quota;
  EXPECT_EQ(quota.admits_at(Cost{1}, at(5)), at(5));
  EXPECT_EQ(quota.admits_at(Cost{1'000'000}, at(5)), at(5));
}

TEST(LearnedQuota, PromiseOfNothingClosesUntilItsEnd) {
  LearnedQuota quota;
  quota.promise(0, at(10), at(0));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(0)), at(10));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(9)), at(10));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(10)), at(10));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(11)), at(11));
}

TEST(LearnedQuota, RequestThatCostsNothingDoesNotPassAClosedGate) {
  LearnedQuota quota;
  quota.promise(0, at(10), at(0));
  EXPECT_EQ(quota.admits_at(Cost{0}, at(0)), at(10));
}

TEST(LearnedQuota, NoMoreIsSentThanWasLeft) {
  LearnedQuota quota;
  quota.promise(3, at(10), at(0));
  EXPECT_EQ(quota.admits_at(Cost{4}, at(1)), at(10));
  EXPECT_EQ(quota.admits_at(Cost{3}, at(1)), at(1));
  quota.take(Cost{2}, at(1));
  EXPECT_EQ(quota.admits_at(Cost{2}, at(1)), at(10));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(1)), at(1));
  quota.take(Cost{1}, at(1));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(1)), at(10));
}

TEST(LearnedQuota, LaterAnswerWithMoreLeftTakesNothingBack) {
  LearnedQuota quota;
  quota.promise(2, at(10), at(0));
  quota.promise(9, at(10), at(1));
  EXPECT_EQ(quota.admits_at(Cost{3}, at(1)), at(10));
}

TEST(LearnedQuota, ShorterPromiseOfNothingDoesNotReopenALongerOne) {
  LearnedQuota quota;
  quota.promise(0, at(10), at(0));
  quota.promise(0, at(5), at(1));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(1)), at(10));
}

TEST(LearnedQuota, EachPromiseHoldsForItsOwnTime) {
  LearnedQuota quota;  // five now, and ten in the hour
  quota.promise(10, at(3600), at(0));
  quota.promise(5, at(60), at(0));
  quota.take(Cost{5}, at(0));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(0)), at(60));
  EXPECT_EQ(quota.admits_at(Cost{5}, at(60)), at(60));
  EXPECT_EQ(quota.admits_at(Cost{6}, at(60)), at(3600));
}

TEST(LearnedQuota, PromiseThatIsOverIsForgotten) {
  LearnedQuota quota;
  quota.promise(1, at(10), at(0));
  quota.take(Cost{1}, at(0));
  quota.take(Cost{50}, at(10));
  quota.promise(7, at(20), at(11));
  EXPECT_EQ(quota.admits_at(Cost{7}, at(11)), at(11));
  EXPECT_EQ(quota.admits_at(Cost{8}, at(11)), at(20));
}

TEST(LearnedQuota, PromisesThatAreOverDoNotWeighOnThoseThatHold) {
  LearnedQuota quota;
  for (int step = 1; step <= static_cast<int>(LearnedQuota::max_steps); ++step) {
    quota.promise(static_cast<std::uint64_t>(step), at(100 * step), at(0));
  }
  quota.promise(50, at(1602), at(1601));
  EXPECT_EQ(quota.admits_at(Cost{50}, at(1601)), at(1601));
}

TEST(LearnedQuota, PromiseThatEndsAtOnceSaysNothing) {
  LearnedQuota quota;
  quota.promise(0, at(5), at(5));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(5)), at(5));
  EXPECT_EQ(quota.admits_at(Cost{1}, at(4)), at(4));
}

// One step too many: the two nearest ends, 100 and 101, become the stricter of both.
TEST(LearnedQuota, TooManyPromisesMergeTheNearestIntoTheStricter) {
  LearnedQuota quota;
  for (int step = 0; step < static_cast<int>(LearnedQuota::max_steps); ++step) {
    quota.promise(static_cast<std::uint64_t>(step + 1) * 10, at(100 + step * 10), at(0));
  }
  quota.promise(15, at(101), at(0));
  EXPECT_EQ(quota.admits_at(Cost{10}, at(0)), at(0));
  EXPECT_EQ(quota.admits_at(Cost{11}, at(0)), at(101));
  EXPECT_EQ(quota.admits_at(Cost{20}, at(0)), at(101));
  EXPECT_EQ(quota.admits_at(Cost{21}, at(0)), at(110));
}

}  // namespace
}  // namespace weir::client
