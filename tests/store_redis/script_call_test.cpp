#include "store/redis/script_call.h"

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

constexpr SteadyTime start{};

class PendingCallsTest : public testing::Test {
 protected:
  Group& group(const std::string& key) {
    Group& fresh = groups_.emplace_back();
    fresh.checks = {check_of(key, rule_)};
    return fresh;
  }
  // The keys of each call, in the order in which they are sent.
  std::vector<std::vector<std::string>> taken() {
    std::vector<std::unique_ptr<ScriptCall>> calls;
    pending_.take(calls);
    std::vector<std::vector<std::string>> keys;
    for (auto& call : calls) {
      keys.emplace_back();
      for (const Group* const member : call->batch.members()) keys.back().push_back(member->checks[0].key);
      pending_.recycle(std::move(call));
    }
    return keys;
  }

  using Keys = std::vector<std::vector<std::string>>;

  PendingCalls pending_;
  core::Rule rule_ = slow_rule(10);
  std::deque<Group> groups_;
};

TEST_F(PendingCallsTest, GroupsWithoutSlotsShareACall) {
  for (const char* const key : {"a", "b", "a"}) pending_.add(group(key), start + 1ms, 0);
  EXPECT_EQ(pending_.groups(), 3U);
  EXPECT_EQ(taken(), (Keys{{"a", "b", "a"}}));
  EXPECT_TRUE(pending_.empty());
  EXPECT_EQ(pending_.groups(), 0U);
}

TEST_F(PendingCallsTest, EachSlotHasACallOfItsOwn) {
  pending_.add(group("a"), start, 7);
  pending_.add(group("b"), start, 16'383);
  pending_.add(group("c"), start, 7);
  EXPECT_EQ(taken(), (Keys{{"a", "c"}, {"b"}}));
  pending_.add(group("d"), start, 7);
  EXPECT_EQ(taken(), (Keys{{"d"}})) << "a call that has left takes no more";
}

TEST_F(PendingCallsTest, WhatIsToBeAloneIsAlone) {
  pending_.add(group("a"), start, 7);
  pending_.add_alone(group("b"), start, 7, true);
  pending_.add_alone(group("c"), start, 7, true);
  pending_.add(group("d"), start, 7);
  EXPECT_EQ(taken(), (Keys{{"a", "d"}, {"b"}, {"c"}}));
}

TEST_F(PendingCallsTest, AFullCallIsFollowedByAnother) {
  for (std::size_t i = 0; i <= ScriptBatch::max_members; ++i) pending_.add(group("a"), start, 0);
  const Keys keys = taken();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].size(), ScriptBatch::max_members);
  EXPECT_EQ(keys[1].size(), 1U);
}

TEST_F(PendingCallsTest, ExpiredGroupsAreDroppedAndTheOthersStay) {
  pending_.add(group("late"), start + 1ms, 0);
  pending_.add(group("exactly"), start + 2ms, 0);
  pending_.add(group("early"), start + 3ms, 0);
  EXPECT_EQ(pending_.oldest(), start + 1ms);
  std::vector<Group*> expired;
  pending_.drop_expired(start + 2ms, expired);
  ASSERT_EQ(expired.size(), 2U);
  EXPECT_EQ(expired[0]->checks[0].key, "late");
  EXPECT_EQ(expired[1]->checks[0].key, "exactly");
  EXPECT_EQ(pending_.groups(), 1U);
  EXPECT_EQ(pending_.oldest(), start + 3ms);
  EXPECT_EQ(taken(), (Keys{{"early"}}));
  EXPECT_EQ(pending_.oldest(), SteadyTime::max());
}

}  // namespace
}  // namespace weir::store::redis
