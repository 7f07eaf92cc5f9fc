#include "store/local/throttle_table.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "tests/store/throttle_oracle.h"
#include "tests/temporary_folder.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

constexpr std::size_t budget = std::size_t{4} << 20;
const Instant noon{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};

class ThrottleTableTest : public testing::Test {
 protected:
  Decision take(const BucketNumbers& numbers, std::uint64_t quantity, Instant now, std::string_view key = "alice") {
    const core::Gcra::Limit limit(Limit::gcra(numbers).value());
    return table_->decide(limit, table_->seek(key), Cost{quantity}, now);
  }

  std::unique_ptr<ThrottleTable> table_ = *ThrottleTable::create(budget, {1, 2});
  const BucketNumbers five_at_one_a_second_{{1, 1s}, 5};
};

TEST_F(ThrottleTableTest, AnswersAsItsSpecificationSays) {
  struct Row {
    std::uint64_t quantity;
    bool limited;
    std::uint64_t remaining;
    Duration reset_after;
    std::optional<Duration> retry_after;
  };
  for (const Row& row : std::vector<Row>{{6, true, 5, 0s, {}},
                                         {0, false, 5, 0s, {}},
                                         {1, false, 4, 1s, {}},
                                         {1, false, 3, 2s, {}},
                                         {1, false, 2, 3s, {}},
                                         {1, false, 1, 4s, {}},
                                         {1, false, 0, 5s, {}},
                                         {1, true, 0, 5s, 1s},
                                         {3, true, 0, 5s, 3s},
                                         {0, false, 0, 5s, {}}}) {
    const ThrottleOracle::Answer expected{row.limited, row.remaining, row.retry_after, row.reset_after};
    EXPECT_EQ(answer_of(take(five_at_one_a_second_, row.quantity, noon)), expected);
  }
}

TEST_F(ThrottleTableTest, ArrivalTimeIsNotClampedUnderNewNumbers) {
  EXPECT_TRUE(take({{1, 60s}, 10}, 10, noon));
  const Decision now_faster = take(five_at_one_a_second_, 1, noon + 1s);
  EXPECT_FALSE(now_faster.admitted);
  EXPECT_EQ(now_faster.reset_after, 599s);
  EXPECT_EQ(now_faster.retry_after, 595s);
  EXPECT_FALSE(take(five_at_one_a_second_, 0, noon + 1s).admitted) << "even to look: it is in debt";
  EXPECT_TRUE(take(five_at_one_a_second_, 1, noon + 1s + 595s).admitted);
}

TEST_F(ThrottleTableTest, RemainderUnderAnotherRateRoundsUpToWhatThatRateCanSay) {
  EXPECT_EQ(take({{3, 10us}, 9}, 1, noon).reset_after, 4us) << "3 1/3 us";
  EXPECT_EQ(take({{3, 10us}, 9}, 1, noon).reset_after, 7us) << "6 2/3 us";
  EXPECT_EQ(take({{7, 70'001us}, 9}, 0, noon).reset_after, 7us) << "6 5/7 us";
  EXPECT_EQ(take({{7, 70'001us}, 9}, 1, noon).reset_after, 10'007us) << "6 5/7 us and 10,000 1/7 us";
  EXPECT_EQ(take(five_at_one_a_second_, 1, noon).reset_after, 1'010'007us) << "10,006 6/7 us and a second";
}

TEST_F(ThrottleTableTest, RatesTooFineForNarrowCellsTakeStatesOver) {
  const BucketNumbers fine{{10'007, 60s}, 100'000};
  EXPECT_TRUE(take(five_at_one_a_second_, 3, noon, "alice"));
  EXPECT_TRUE(take(five_at_one_a_second_, 4, noon, "bob"));
  EXPECT_EQ(take(fine, 1, noon, "alice").reset_after, 3'005'996us) << "3 s and 5,995.80 us";
  EXPECT_EQ(take(five_at_one_a_second_, 0, noon, "bob").reset_after, 4s);
  EXPECT_EQ(take(five_at_one_a_second_, 1, noon, "bob").reset_after, 5s);
  EXPECT_FALSE(take(five_at_one_a_second_, 1, noon, "bob").admitted);
  EXPECT_EQ(take(fine, 1, noon, "alice").reset_after, 3'011'992us) << "3 s and 11,991.61 us: nothing was rounded";
  table_->reset(table_->seek("alice"));
  EXPECT_EQ(take(five_at_one_a_second_, 0, noon, "alice").remaining, 5U);
}

// Two threads use the same key, one at a rate that moves it: together they get what one of them would. The fine rate is
// slightly faster, so that what it leaves rounds up to whole tokens of the other.
TEST_F(ThrottleTableTest, KeysAreAdmittedWhatTheyWouldBeWhileTheyMove) {
  constexpr std::uint64_t burst = 20;
  constexpr int tables = 40;
  constexpr int keys = 50;
  const core::Gcra::Limit coarse(Limit::gcra({{1, 1h}, burst}).value());
  const core::Gcra::Limit fine(Limit::gcra({{10'007, 10'007h - 1us}, burst}).value());
  ASSERT_GT(fine.count, 8'192);
  for (int i = 0; i < tables; ++i) {
    table_ = *ThrottleTable::create(budget, {1, 2});
    std::array<std::atomic<std::uint64_t>, keys> admitted{};
    std::barrier together(2);
    const auto ask = [&](const core::Gcra::Limit& limit) {
      for (std::size_t key = 0; key < keys; ++key) {
        const table::KeyHash hash = table_->seek(std::to_string(key));
        together.arrive_and_wait();
        for (std::uint64_t n = 0; n < burst; ++n) {
          if (table_->decide(limit, hash, Cost{1}, noon).admitted) ++admitted[key];
        }
      }
    };
    {
      const std::jthread one([&] { ask(coarse); });
      const std::jthread other([&] { ask(fine); });
    }
    for (const auto& each : admitted) EXPECT_EQ(each.load(), burst);
  }
}

TEST_F(ThrottleTableTest, ResetForgetsTheKeyAlone) {
  EXPECT_TRUE(take(five_at_one_a_second_, 5, noon, "alice"));
  EXPECT_TRUE(take(five_at_one_a_second_, 5, noon, "bob"));
  table_->reset(table_->seek("alice"));
  EXPECT_TRUE(take(five_at_one_a_second_, 5, noon, "alice"));
  EXPECT_FALSE(take(five_at_one_a_second_, 1, noon, "bob"));
}

TEST_F(ThrottleTableTest, MemoryStaysWithinTheBudgetAndNewcomersShare) {
  constexpr std::size_t small = std::size_t{1} << 20;
  table_ = *ThrottleTable::create(small, {1, 2});
  for (int key = 0; key < 60'000; ++key) std::ignore = take(five_at_one_a_second_, 1, noon, std::to_string(key));
  EXPECT_LE(table_->bytes_used(), small);
  EXPECT_GT(table_->overflowed(), 0U);
  EXPECT_EQ(take(five_at_one_a_second_, 0, noon, "0").remaining, 4U)
      << "the one that was there first has a state of its own";
}

TEST_F(ThrottleTableTest, WithoutRoomAFineRateEvictsNoState) {
  table_ = *ThrottleTable::create(std::size_t{1} << 20, {1, 2});
  for (int key = 0; key < 60'000; ++key) std::ignore = take(five_at_one_a_second_, 3, noon, std::to_string(key));
  const std::uint64_t shared_before = table_->overflowed();
  ASSERT_GT(shared_before, 0U);
  const BucketNumbers fine{{10'007, 60s}, 100'000};
  for (int key = 0; key < 100; ++key) {
    EXPECT_EQ(take(fine, 1, noon, std::to_string(key)).reset_after, 3'005'996us) << "3 s and 5,995.80 us";
  }
  EXPECT_EQ(table_->overflowed(), shared_before);
  for (int key = 100; key < 200; ++key) {
    EXPECT_EQ(take(five_at_one_a_second_, 0, noon, std::to_string(key)).remaining, 2U) << "as if nothing had happened";
  }
}

TEST_F(ThrottleTableTest, LooksAtAFineRateMoveNothing) {
  const BucketNumbers fine{{10'007, 60s}, 10};
  EXPECT_TRUE(take(five_at_one_a_second_, 1, noon));
  const std::size_t before = table_->bytes_used();
  for (int key = 0; key < 10'000; ++key) {
    std::ignore = take(fine, 0, noon, std::to_string(key));
    std::ignore = take(fine, 11, noon, std::to_string(key));
  }
  EXPECT_EQ(table_->bytes_used(), before);
  EXPECT_EQ(take(fine, 0, noon).reset_after, 1s);
}

TEST_F(ThrottleTableTest, StatesSurviveARestart) {
  const TemporaryFolder folder;
  EXPECT_TRUE(take({{1, std::chrono::days{3000}}, 1}, 1, noon, "slow"));
  EXPECT_TRUE(take({{3, 10us}, 9}, 2, noon, "fast"));
  ASSERT_TRUE(table_->save(folder.path() / "throttle", noon));
  auto restored = ThrottleTable::restore(folder.path() / "throttle", budget, noon);
  ASSERT_TRUE(restored) << restored.error().message();
  table_ = std::move(*restored);
  EXPECT_EQ(take({{1, std::chrono::days{3000}}, 1}, 0, noon, "slow").reset_after, std::chrono::days{3000});
  EXPECT_EQ(take({{3, 10us}, 9}, 0, noon, "fast").reset_after, 7us) << "6 2/3 us, rounded up";
}

TEST_F(ThrottleTableTest, StatesOfBothKindsSurviveARestart) {
  const TemporaryFolder folder;
  EXPECT_TRUE(take(five_at_one_a_second_, 2, noon, "coarse"));
  EXPECT_EQ(take({{10'007, 60s}, 9}, 1, noon, "fine").reset_after, 5'996us);
  EXPECT_TRUE(take(five_at_one_a_second_, 3, noon, "moved"));
  EXPECT_EQ(take({{10'007, 60s}, 1'000}, 1, noon, "moved").reset_after, 3'005'996us);
  ASSERT_TRUE(table_->save(folder.path() / "throttle", noon));
  EXPECT_EQ(take(five_at_one_a_second_, 0, noon, "coarse").remaining, 3U);
  auto restored = ThrottleTable::restore(folder.path() / "throttle", budget, noon);
  ASSERT_TRUE(restored) << restored.error().message();
  table_ = std::move(*restored);
  EXPECT_EQ(take(five_at_one_a_second_, 0, noon, "coarse").remaining, 3U);
  EXPECT_EQ(take(five_at_one_a_second_, 0, noon, "moved").reset_after, 3'005'996us);
  EXPECT_EQ(take({{10'007, 60s}, 9}, 0, noon, "fine").reset_after, 5'996us) << "5,995.80 us, rounded up";
}

TEST_F(ThrottleTableTest, KeyTakesAtMostTwentyFourBytes) {
  const std::size_t before = table_->bytes_used();
  for (int key = 0; key < 50'000; ++key) std::ignore = take(five_at_one_a_second_, 1, noon, std::to_string(key));
  EXPECT_LT(table_->bytes_used() - before, 50'000U * 24);
}

TEST(ThrottleTable, BudgetThatIsTooSmallIsRejectedWithTheMinimum) {
  std::size_t enough = 150'000;  // for one kind of cells
  const auto made = ThrottleTable::create(enough, {1, 2});
  ASSERT_FALSE(made);
  const std::string what = made.error().what;
  enough = std::stoul(what.substr(what.find("must be at least ") + 17));
  EXPECT_TRUE(ThrottleTable::create(enough, {1, 2}));
  EXPECT_FALSE(ThrottleTable::create(enough - 1, {1, 2}));
}

}  // namespace
}  // namespace weir::store
