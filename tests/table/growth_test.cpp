#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "table_fixture.h"

namespace weir::table {
namespace {

class TableGrowth : public ForEveryLimit {
 protected:
  static constexpr int many = 200'000;  // through dozens of growths and several splits

  static std::string name_of(int key) { return "consumer-" + std::to_string(key); }
  static std::uint64_t charge_of(int key) { return 1 + static_cast<std::uint64_t>(key % 3); }
};

TEST_P(TableGrowth, KeepsEveryStateThroughGrowthAndSplits) {
  LimitedTable table(limit(), 256 * mebibyte);
  for (int key = 0; key < many; ++key) {
    ASSERT_TRUE(table.decide(name_of(key), noon, charge_of(key)).admitted);
  }
  for (int key = 0; key < many; ++key) {
    ASSERT_EQ(table.left(name_of(key), noon), capacity() - charge_of(key)) << key;
  }
  EXPECT_EQ(table.table().overflowed(), 0U);
}

TEST_P(TableGrowth, KeepsEveryStateOfBatchesThatGrowAndSplitUnderTheirOwnKeys) {
  LimitedTable table(limit(), 256 * mebibyte);
  const auto decide = table.table().decide_functions<bool>(table.rule()).several;
  for (int first = 0; first < many; first += 32) {
    std::array<std::string, 32> names;
    std::array<Request, 32> asks;
    for (int i = 0; i < 32; ++i) {
      names[static_cast<std::size_t>(i)] = name_of(first + i);
      asks[static_cast<std::size_t>(i)] = {names[static_cast<std::size_t>(i)], Cost{charge_of(first + i)}};
    }
    std::array<bool, 32> admitted{};
    decide(table.table(), table.rule(), asks, noon, admitted.data());
    ASSERT_EQ(std::count(admitted.begin(), admitted.end(), true), 32);
  }
  for (int key = 0; key < many; ++key) {
    ASSERT_EQ(table.left(name_of(key), noon), capacity() - charge_of(key)) << key;
  }
}

TEST_P(TableGrowth, ReusesTheRoomOfStatesThatAreAsGoodAsNeverSeen) {
  LimitedTable table(limit(), 256 * mebibyte);
  Instant now = noon;
  std::size_t after_first_wave = 0;
  for (int wave = 0; wave < 6; ++wave) {
    for (int key = 0; key < many / 4; ++key) {
      ASSERT_TRUE(table.decide(std::to_string(wave) + "/" + std::to_string(key), now).admitted);
    }
    if (wave == 0) after_first_wave = table.table().bytes_used();
    now += 1h;  // all states of this wave have expired
  }
  EXPECT_LE(table.table().bytes_used(), after_first_wave + after_first_wave / 4);
}

TEST_P(TableGrowth, AStreamOfKeysThatComeAndGoTakesNoMoreRoomInTheLongRun) {
  LimitedTable table(limit(), 256 * mebibyte);
  std::size_t early = 0;
  for (int key = 0; key < many; ++key) {
    const Instant now = noon + key * 2ms;  // a few thousand live at a time
    ASSERT_TRUE(table.decide(name_of(key), now).admitted);
    ASSERT_EQ(table.left(name_of(key), now), capacity() - 1);
    if (key == many / 4) early = table.table().bytes_used();
  }
  EXPECT_LE(table.table().bytes_used(), early + early / 8);
  EXPECT_EQ(table.table().overflowed(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, TableGrowth, testing::ValuesIn(all_limits()), limit_name);

TEST(TableSize, ANarrowStateTakesAtMostTwentyFourBytesAtScale) {
  LimitedTable table(*Limit::gcra({.rate = {100, 1min}, .burst = 20}), 64 * mebibyte);
  const int keys = 1'000'000;
  for (int key = 0; key < keys; ++key) std::ignore = table.decide(std::to_string(key), noon);
  EXPECT_EQ(table.table().overflowed(), 0U);
  EXPECT_LE(table.table().bytes_used() / keys, 24U);
}

TEST(TableSize, WhereTheBudgetAllowsNoMoreStatesAreKeptCloserTogether) {
  constexpr std::size_t budget = 4 * mebibyte;
  LimitedTable table(*Limit::gcra({.rate = {1, 1h}, .burst = 20}), budget);
  std::size_t keys = 0;
  for (; table.table().overflowed() == 0; ++keys) std::ignore = table.decide(std::to_string(keys), noon);
  EXPECT_GT(keys * 20, budget);
  EXPECT_LE(table.table().bytes_used(), budget);
}

TEST(TableSize, AnEmptyTableIsSmallWhateverItsBudget) {
  LimitedTable table(*Limit::gcra({.rate = {100, 1min}, .burst = 20}), 1024 * mebibyte);
  EXPECT_LT(table.table().bytes_used(), mebibyte);
}

TEST(TableSize, ABudgetThatIsTooSmallIsRejectedWithTheMinimum) {
  const core::Rule rule = core::compile(*Limit::gcra({.rate = {100, 1min}, .burst = 20}));
  for (const std::size_t budget : {std::size_t{0}, std::size_t{1}, std::size_t{4096}}) {
    const auto table = Table::create(rule, budget, HashKey{1, 2});
    ASSERT_FALSE(table.has_value());
    EXPECT_EQ(table.error().where, "memory_budget");
    EXPECT_NE(table.error().what.find("must be at least "), std::string::npos) << table.error().what;
  }
}

TEST(TableSize, TheLeastBudgetThatIsNamedWillDo) {
  const core::Rule rule = core::compile(*Limit::gcra({.rate = {100, 1min}, .burst = 20}));
  const std::string what = Table::create(rule, 1, HashKey{1, 2}).error().what;
  const auto least = std::stoul(what.substr(what.find("at least ") + 9));
  EXPECT_TRUE(Table::create(rule, least, HashKey{1, 2}).has_value());
  EXPECT_FALSE(Table::create(rule, least - 1, HashKey{1, 2}).has_value());
}

TEST(TableLayout, HoldsOnlyRulesWhoseStatesFit) {
  const auto gcra = [](std::uint64_t n) { return core::compile(*Limit::gcra({.rate = {n, 1s}, .burst = 10})); };
  const auto narrow = *Table::create(gcra(7), mebibyte, HashKey{1, 2});
  EXPECT_TRUE(narrow->holds(gcra(8'191)));
  EXPECT_FALSE(narrow->holds(gcra(8'209)));
  const auto wide = *Table::create(gcra(8'209), mebibyte, HashKey{1, 2});
  EXPECT_TRUE(wide->holds(gcra(7)));
  EXPECT_FALSE(wide->holds(core::compile(*Limit::sliding_window_log({.limit = 5, .window = 1s}))));
}

}  // namespace
}  // namespace weir::table
