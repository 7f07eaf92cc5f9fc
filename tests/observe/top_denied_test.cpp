#include "observe/top_denied.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::observe {
namespace {

using namespace std::chrono_literals;

class TopDeniedTest : public testing::Test {
 protected:
  void deny(TopDenied& where, const std::string& limit, std::uint64_t consumer, int times = 1) {
    for (int i = 0; i < times; ++i) {
      where.count(limit, consumer, now_, [&](std::string& name) { name = "user:" + std::to_string(consumer); });
    }
  }
  std::vector<DeniedConsumer> top(std::size_t most = 10) const {
    const std::array<const TopDenied*, 2> all{&one_, &other_};
    return TopDenied::top(all, most, now_);
  }

  const std::string login_ = "login";
  const std::string search_ = "search";
  Instant now_{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  TopDenied one_{3};
  TopDenied other_{3};
};

using Top = std::vector<DeniedConsumer>;

TEST_F(TopDeniedTest, MostDeniedComesFirstOverAllLoops) {
  deny(one_, login_, 1, 2);
  deny(one_, login_, 2, 3);
  deny(other_, login_, 1, 4);
  EXPECT_EQ(top(), (Top{{"login", "user:1", 6, 0}, {"login", "user:2", 3, 0}}));
  EXPECT_EQ(top(1), (Top{{"login", "user:1", 6, 0}}));
}

TEST_F(TopDeniedTest, OneConsumerOfTwoLimitsHasTwoEntries) {
  deny(one_, login_, 1, 2);
  deny(one_, search_, 1);
  EXPECT_EQ(top(), (Top{{"login", "user:1", 2, 0}, {"search", "user:1", 1, 0}}));
}

TEST_F(TopDeniedTest, NewcomerTakesOverTheLowestWithItsCountAsError) {
  deny(one_, login_, 1, 5);
  deny(one_, login_, 2, 4);
  deny(one_, login_, 3, 2);
  deny(one_, login_, 4);
  EXPECT_EQ(top(), (Top{{"login", "user:1", 5, 0}, {"login", "user:2", 4, 0}, {"login", "user:4", 3, 2}}));
}

TEST_F(TopDeniedTest, LoopThatIsFullMayHaveMissedSome) {
  deny(one_, login_, 1, 5);
  deny(one_, login_, 2, 4);
  deny(one_, login_, 3, 2);
  deny(other_, login_, 7, 9);
  EXPECT_EQ(top(1), (Top{{"login", "user:7", 11, 2}}));
}

TEST_F(TopDeniedTest, ForgetsAfterHalfAnHourToAnHour) {
  deny(one_, login_, 1, 5);
  now_ += 31min;
  deny(one_, login_, 2, 4);
  EXPECT_EQ(top().size(), 2U);
  now_ += 28min;
  EXPECT_EQ(top().size(), 2U);
  now_ += 1min;
  EXPECT_EQ(top(), (Top{{"login", "user:2", 4, 0}}));
  now_ += 30min;
  EXPECT_EQ(top(), Top{});
  deny(one_, login_, 3);
  EXPECT_EQ(top(), (Top{{"login", "user:3", 1, 0}}));
}

TEST_F(TopDeniedTest, ClockThatStepsBackCountsOn) {
  deny(one_, login_, 1, 5);
  now_ -= 2h;
  deny(one_, login_, 1, 2);
  EXPECT_EQ(top(), (Top{{"login", "user:1", 7, 0}}));
}

}  // namespace
}  // namespace weir::observe
