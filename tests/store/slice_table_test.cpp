#include "store/leased/slice_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/rule.h"
#include "weir/limit.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;

constexpr table::KeyHash alice{1};

SliceTable::Options slice_options(const std::shared_ptr<SliceHolder>& holder) {
  const Limit limit = *Limit::token_bucket({{1, Duration(1s)}, 100});
  return {.rule = core::compile(limit),
          .capacity = limit.capacity(),
          .lease = 1s,
          .min_requests = 1,
          .max_keys = 4,
          .holder = holder};
}

class SliceTableTest : public testing::Test {
 protected:
  // Requests a slice of alice's units, and grants it.
  void grant(std::uint64_t units) {
    EXPECT_EQ(table_.take(alice, Cost{4}, 0).answer, SliceTable::Answer::ask);
    const auto message = table_.ask(alice, "alice", 0);
    ASSERT_TRUE(message);
    table_.answered(alice, message->number, {.taken = true, .units = units, .lasts = 1s, .left = 100 - units}, {}, 0,
                    0);
  }

  std::shared_ptr<SliceHolder> holder_ = std::make_shared<SliceHolder>(std::uint64_t{7});
  SliceTable table_{slice_options(holder_)};
};

TEST_F(SliceTableTest, ASliceIsSpentUntilNothingIsLeft) {
  grant(10);
  const SliceTable::Taken taken = table_.take(alice, Cost{6}, 1);
  EXPECT_EQ(taken.answer, SliceTable::Answer::spent);
  EXPECT_TRUE(taken.decision.admitted);
  EXPECT_EQ(taken.decision.remaining, 94U);
  EXPECT_EQ(table_.rest(alice, 1), 4U);
  EXPECT_EQ(table_.take(alice, Cost{5}, 1).answer, SliceTable::Answer::ask);
  EXPECT_EQ(table_.take(alice, Cost{4}, 1).answer, SliceTable::Answer::spent);
}

TEST_F(SliceTableTest, ALookSpendsNothing) {
  grant(10);
  EXPECT_EQ(table_.look(alice, Cost{6}, 1).answer, SliceTable::Answer::spent);
  EXPECT_EQ(table_.rest(alice, 1), 10U);
}

TEST_F(SliceTableTest, WhatIsPutBackMayBeSpentAgain) {
  grant(10);
  const SliceTable::Taken taken = table_.take(alice, Cost{6}, 1);
  EXPECT_TRUE(table_.put_back(alice, taken.on, taken.number, 0, {}, Cost{6}));
  EXPECT_EQ(table_.rest(alice, 1), 10U);
}

TEST_F(SliceTableTest, WhatWasReportedAsUsedCannotBePutBack) {
  grant(10);
  const SliceTable::Taken taken = table_.take(alice, Cost{9}, 1);
  ASSERT_TRUE(table_.ask(alice, "alice", 1)) << "reports what was spent";
  EXPECT_FALSE(table_.put_back(alice, taken.on, taken.number, 0, {}, Cost{9}));
}

TEST_F(SliceTableTest, OneMessageAboutAKeyIsInFlightAtATime) {
  EXPECT_EQ(table_.take(alice, Cost{8}, 0).answer, SliceTable::Answer::ask);
  ASSERT_TRUE(table_.ask(alice, "alice", 0));
  EXPECT_FALSE(table_.ask(alice, "alice", 0));
  EXPECT_FALSE(table_.renew(alice, "alice", 0));
}

TEST_F(SliceTableTest, ASliceEndsAfterThreeQuartersOfItsTime) {
  grant(10);
  EXPECT_EQ(table_.take(alice, Cost{1}, 749'999).answer, SliceTable::Answer::spent);
  EXPECT_EQ(table_.take(alice, Cost{1}, 750'000).answer, SliceTable::Answer::ask);
}

TEST_F(SliceTableTest, WhatTheStoreForgotIsNotSpent) {
  grant(10);
  table_.forget(alice);
  EXPECT_EQ(table_.take(alice, Cost{1}, 1).answer, SliceTable::Answer::ask);
}

TEST_F(SliceTableTest, MoreKeysThanThereIsRoomForAreDecidedByTheStore) {
  for (std::uint64_t key = 0; key < 8; ++key) {
    EXPECT_EQ(table_.take({key << 40}, Cost{4}, 0).answer, SliceTable::Answer::ask);
    EXPECT_EQ(table_.ask({key << 40}, "k", 0).has_value(), key < 4) << key;
  }
}

TEST_F(SliceTableTest, ARetiredTableGivesBackWhatItHas) {
  grant(10);
  table_.retire();
  std::vector<SliceTable::Due> due;
  table_.give_back_all(1, due);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].shared_key, "alice");
  EXPECT_EQ(due[0].message.used + due[0].message.keep, 0U) << "everything is returned";
  EXPECT_EQ(due[0].message.want, 0U);
  EXPECT_EQ(table_.take(alice, Cost{1}, 1).answer, SliceTable::Answer::ask);
}

TEST(SliceHolder, ItsTablesAreItsOwnAndHaveOneText) {
  const auto holder = SliceHolder::random();
  EXPECT_FALSE(holder->owns(holder->id));
  const SliceTable first(slice_options(holder));
  const SliceTable second(slice_options(holder));
  EXPECT_TRUE(holder->owns(first.holder()));
  EXPECT_TRUE(holder->owns(second.holder()));
  EXPECT_FALSE(holder->owns(second.holder() + 1));
  EXPECT_FALSE(holder->owns(holder->id - 1));
  EXPECT_EQ(SliceHolder::text_of(first.holder()), holder->text());
  EXPECT_EQ(SliceHolder::text_of(second.holder()), holder->text());
  EXPECT_EQ(SliceHolder::text_of(0x0123'4567'89ab'ffffU), "0123456789ab");
}

}  // namespace
}  // namespace weir::store
