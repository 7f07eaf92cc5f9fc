// New numbers under the states of a table: no consumer gains anything, and none waits longer than they imply.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "table/table.h"
#include "tests/set_clock.h"
#include "tests/table/table_fixture.h"

namespace weir::table {
namespace {

core::Rule gcra(std::uint64_t count, Duration per, std::uint64_t burst) {
  return core::compile(*Limit::gcra({.rate = {count, per}, .burst = burst}));
}

std::unique_ptr<Table> table_for(const core::Rule& widest, std::size_t budget = 4 * mebibyte) {
  return std::move(*Table::create(widest, budget, {1, 2}));
}

HashedRequest once(const Table& table, const std::string& key) {
  return {table.hash(key)};
}

TEST(CarryOver, AnExhaustedConsumerWaitsForOneTokenOfTheNewRate) {
  const core::Rule after = gcra(1, 1s, 3);
  for (const core::Rule& before : {gcra(1, 1h, 3), gcra(10'007, 8'760h, 3)}) {
    const auto table = table_for(before);
    const HashedRequest request = once(*table, "alice");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(table->decide(before, request, noon).admitted);
    table->carry_over(after, SetClock(noon + 10s));
    const Decision denied = table->decide(after, request, noon + 10s);
    EXPECT_FALSE(denied.admitted);
    EXPECT_EQ(denied.retry_after, Duration{1s});
    EXPECT_EQ(denied.reset_after, Duration{3s});
    EXPECT_FALSE(table->decide(after, request, noon + 11s - 1us).admitted);
    EXPECT_TRUE(table->decide(after, request, noon + 11s).admitted);
    EXPECT_FALSE(table->decide(after, request, noon + 11s).admitted);
  }
}

TEST(CarryOver, WhatLiesWithinTheNewTimeToFillStaysAsItIs) {
  const core::Rule before = gcra(7, 3s, 20);
  const core::Rule after = gcra(5, 1s, 20);
  const auto table = table_for(before);
  const auto untouched = table_for(before);
  for (std::uint64_t used = 0; used <= 9; ++used) {  // nine tokens of the old rate are less than four seconds
    const HashedRequest request{table->hash(std::to_string(used)), Cost{used}};
    EXPECT_EQ(table->decide(before, request, noon), untouched->decide(before, request, noon));
  }
  table->carry_over(after, SetClock(noon));
  for (std::uint64_t used = 0; used <= 9; ++used) {
    const HashedRequest request{table->hash(std::to_string(used)), Cost{0}};
    EXPECT_EQ(table->peek(after, request, noon), untouched->peek(after, request, noon)) << used;
  }
}

// All keys, in their own cells and in shared ones.
TEST(CarryOver, ReachesEveryState) {
  const core::Rule before = gcra(1, 1h, 3);
  const core::Rule after = gcra(1, 1s, 3);
  const auto table = table_for(before, 512 * 1024);
  constexpr int keys = 100'000;
  for (int i = 0; i < keys; ++i) (void)table->decide(before, {table->hash(std::to_string(i)), Cost{3}}, noon);
  ASSERT_GT(table->overflowed(), 0U);
  table->carry_over(after, SetClock(noon));
  for (int i = 0; i < keys; ++i) {
    const Decision seen = table->peek(after, once(*table, std::to_string(i)), noon);
    ASSERT_LE(seen.reset_after, Duration{3s}) << i;
  }
}

// Advances each time it is read, as if others decided in between.
class GoingClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return now_ += 1ms; }
  void wait_until(Instant /*until*/, std::stop_token /*stop*/) const override {}

 private:
  mutable Instant now_ = noon;
};

// With the time at which carry_over started, states that others have just filled would be too far ahead.
TEST(CarryOver, GivesNothingToAConsumerThatExhaustsTheNewNumbersConcurrently) {
  const core::Rule before = gcra(1, 1h, 3);
  const core::Rule after = gcra(1, 1s, 3);
  const auto table = table_for(before);
  const HashedRequest request = once(*table, "alice");
  const Instant later = noon + 2ms;  // one reading of the clock later
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table->decide(after, request, later).admitted);
  table->carry_over(after, GoingClock());
  EXPECT_EQ(table->decide(after, request, later).retry_after, Duration{1s});
}

TEST(CarryOver, LeavesWindowsAlone) {
  for (const NamedLimit& named : all_limits()) {
    const core::Rule rule = core::compile(named.limit);
    if (named.limit.algorithm() < Algorithm::fixed_window) continue;
    const auto table = table_for(rule);
    const HashedRequest request = once(*table, "alice");
    (void)table->decide(rule, request, noon);
    const Decision before = table->peek(rule, request, noon);
    table->carry_over(rule, SetClock(noon));
    EXPECT_EQ(table->peek(rule, request, noon), before) << named.name;
  }
}

}  // namespace
}  // namespace weir::table
