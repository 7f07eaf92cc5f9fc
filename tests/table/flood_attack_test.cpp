// A flood of new keys against a table at its budget: it neither bypasses the limits nor causes a denial of service.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "table_fixture.h"

namespace weir::table {
namespace {

class Flood : public ForEveryLimit {
 protected:
  static constexpr std::size_t budget = mebibyte;
  static constexpr int known = 2'000;
  static constexpr int fresh = 120'000;

  static std::string known_key(int i) { return "known-" + std::to_string(i); }
  static std::string fresh_key(int i) { return "fresh-" + std::to_string(i); }
};

TEST_P(Flood, KnownConsumersDecideExactlyAsWithoutIt) {
  LimitedTable flooded(limit(), budget);
  LimitedTable calm(limit(), budget);
  for (int i = 0; i < known; ++i) {
    ASSERT_EQ(flooded.decide(known_key(i), noon), calm.decide(known_key(i), noon));
  }
  ASSERT_EQ(flooded.table().overflowed(), 0U);

  std::mt19937_64 random{7};
  Instant now = noon;
  for (int i = 0; i < fresh; ++i) {
    if (i % 100 == 0) now += 1us;  // too little for a known state to expire
    std::ignore = flooded.decide(fresh_key(i), now);
    const std::string key = known_key(std::uniform_int_distribution(0, known - 1)(random));
    ASSERT_EQ(flooded.decide(key, now), calm.decide(key, now)) << i;
  }
  EXPECT_GT(flooded.table().overflowed(), 0U);
}

TEST_P(Flood, NewcomersTogetherGetSomethingButNoMoreThanTheBound) {
  LimitedTable table(limit(), budget);
  std::uint64_t own = 0;
  std::uint64_t shared = 0;
  for (int i = 0; i < fresh; ++i) {
    const std::uint64_t before = table.table().overflowed();
    const bool admitted = table.decide(fresh_key(i), noon).admitted;
    (table.table().overflowed() == before ? own : shared) += admitted ? 1 : 0;
  }
  EXPECT_GT(own, 0U);
  EXPECT_GT(shared, 0U);
  EXPECT_LE(shared, Table::overflow_states * capacity());
}

TEST_P(Flood, MemoryStaysWithinTheBudget) {
  LimitedTable table(limit(), budget);
  for (int i = 0; i < fresh; ++i) {
    std::ignore = table.decide(fresh_key(i), noon + Duration{i});
    ASSERT_LE(table.table().bytes_used(), budget);
  }
}

TEST_P(Flood, OnceItHasPassedNewcomersHaveStatesOfTheirOwnAgain) {
  LimitedTable table(limit(), budget);
  for (int i = 0; i < fresh; ++i) std::ignore = table.decide(fresh_key(i), noon);
  ASSERT_GT(table.table().overflowed(), 0U);
  const std::uint64_t before = table.table().overflowed();
  for (int i = 0; i < known; ++i) ASSERT_TRUE(table.decide(known_key(i), noon + 1h).admitted);
  EXPECT_EQ(table.table().overflowed(), before);
}

TEST_P(Flood, APeekSaysWhatACheckWouldSayToANewcomerWithoutRoom) {
  LimitedTable table(limit(), budget);
  for (int i = 0; i < fresh; ++i) {
    const Decision expected = table.peek(fresh_key(i), noon);
    ASSERT_EQ(table.decide(fresh_key(i), noon), expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Flood, testing::ValuesIn(all_limits()), limit_name);

}  // namespace
}  // namespace weir::table
