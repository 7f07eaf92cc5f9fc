#include "store/redis/gathering.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/rule.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;

constexpr Moment start{};

class GatheringTest : public testing::Test {
 protected:
  SharedAsk& ask(const std::string& key) {
    SharedAsk& fresh = asks_.emplace_back();
    fresh.checks = {{.key = key, .rule = &rule_}};
    return fresh;
  }
  // The keys of each flight, in the order in which they leave.
  std::vector<std::vector<std::string>> taken() {
    std::vector<std::unique_ptr<Flight>> flights;
    gathering_.take(flights);
    std::vector<std::vector<std::string>> keys;
    for (auto& flight : flights) {
      keys.emplace_back();
      for (const SharedAsk* const member : flight->batch.members()) keys.back().push_back(member->checks[0].key);
      gathering_.put_down(std::move(flight));
    }
    return keys;
  }

  using Keys = std::vector<std::vector<std::string>>;

  Gathering gathering_;
  core::Rule rule_ = slow_rule(10);
  std::deque<SharedAsk> asks_;
};

TEST_F(GatheringTest, AsksWithoutSlotsShareAFlight) {
  for (const char* const key : {"a", "b", "a"}) gathering_.add(ask(key), start + 1ms, 0);
  EXPECT_EQ(gathering_.asks(), 3U);
  EXPECT_EQ(taken(), (Keys{{"a", "b", "a"}}));
  EXPECT_TRUE(gathering_.empty());
  EXPECT_EQ(gathering_.asks(), 0U);
}

TEST_F(GatheringTest, EachSlotHasAFlightOfItsOwn) {
  gathering_.add(ask("a"), start, 7);
  gathering_.add(ask("b"), start, 16'383);
  gathering_.add(ask("c"), start, 7);
  EXPECT_EQ(taken(), (Keys{{"a", "c"}, {"b"}}));
  gathering_.add(ask("d"), start, 7);
  EXPECT_EQ(taken(), (Keys{{"d"}})) << "a flight that has left takes no more";
}

TEST_F(GatheringTest, WhatIsToBeAloneIsAlone) {
  gathering_.add(ask("a"), start, 7);
  gathering_.add_alone(ask("b"), start, 7, true);
  gathering_.add_alone(ask("c"), start, 7, true);
  gathering_.add(ask("d"), start, 7);
  EXPECT_EQ(taken(), (Keys{{"a", "d"}, {"b"}, {"c"}}));
}

TEST_F(GatheringTest, AFullFlightIsFollowedByAnother) {
  for (std::size_t i = 0; i <= ScriptBatch::most_asks; ++i) gathering_.add(ask("a"), start, 0);
  const Keys keys = taken();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].size(), ScriptBatch::most_asks);
  EXPECT_EQ(keys[1].size(), 1U);
}

TEST_F(GatheringTest, ThoseWhoseTimeIsOverAreDroppedAndTheOthersStay) {
  gathering_.add(ask("late"), start + 1ms, 0);
  gathering_.add(ask("exactly"), start + 2ms, 0);
  gathering_.add(ask("early"), start + 3ms, 0);
  EXPECT_EQ(gathering_.oldest(), start + 1ms);
  std::vector<SharedAsk*> expired;
  gathering_.drop_expired(start + 2ms, expired);
  ASSERT_EQ(expired.size(), 2U);
  EXPECT_EQ(expired[0]->checks[0].key, "late");
  EXPECT_EQ(expired[1]->checks[0].key, "exactly");
  EXPECT_EQ(gathering_.asks(), 1U);
  EXPECT_EQ(gathering_.oldest(), start + 3ms);
  EXPECT_EQ(taken(), (Keys{{"early"}}));
  EXPECT_EQ(gathering_.oldest(), Moment::max());
}

}  // namespace
}  // namespace weir::store::redis
