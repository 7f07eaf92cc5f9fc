#include "core/share.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <variant>

#include "tests/core/uneven_calendar.h"

namespace weir::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

Limit bucket(std::uint64_t count, Duration per, std::uint64_t burst) {
  return *Limit::token_bucket({{count, per}, burst});
}

TEST(LocalShare, HalvesRateAndBurstExactly) {
  const Limit half = local_share_of(bucket(100, 60s, 20), 500'000, Cost{1});
  EXPECT_EQ(half, bucket(50, 60s, 10));
}

TEST(LocalShare, KeepsARateThatWholeNumbersCannotHalve) {
  const Limit half = local_share_of(bucket(7, 3s, 7), 500'000, Cost{1});
  EXPECT_EQ(half, bucket(7, 6s, 3));
}

TEST(LocalShare, IsAtLeastOne) {
  const Limit least = local_share_of(*Limit::fixed_window({1, 60s}), 500'000, Cost{1});
  EXPECT_EQ(least.capacity(), 1U);
  EXPECT_EQ(local_share_of(bucket(1, 60s, 1), 1, Cost{1}).capacity(), 1U);
}

TEST(LocalShare, IsAtLeastTheDearestRequest) {
  EXPECT_EQ(local_share_of(bucket(100, 60s, 20), 500'000, Cost{15}).capacity(), 15U);
  EXPECT_EQ(local_share_of(bucket(100, 60s, 20), 500'000, Cost{50}).capacity(), 20U);
}

TEST(LocalShare, OfAWindowOfTheCalendarHasItsDates) {
  const UnevenCalendar calendar(24h, 1);
  const Limit half = local_share_of(*Limit::fixed_window(10, calendar), 500'000, Cost{1});
  EXPECT_EQ(half, *Limit::fixed_window(5, calendar));
}

TEST(LocalShare, OfHoldsIsAShareOfThem) {
  EXPECT_EQ(local_share_of(*Limit::concurrency({10, 60s}), 300'000, Cost{1}), *Limit::concurrency({3, 60s}));
  EXPECT_EQ(local_share_of(*Limit::concurrency({10, 60s}), 300'000, Cost{4}), *Limit::concurrency({4, 60s}));
}

TEST(LocalShare, OfAWindowIsAShareOfItsLimit) {
  const Limit third = local_share_of(*Limit::sliding_window_log({10, 60s}), 333'333, Cost{1});
  EXPECT_EQ(third, *Limit::sliding_window_log({3, 60s}));
}

TEST(LocalShare, OfAQueueIsAShorterQueue) {
  const Limit half = local_share_of(*Limit::leaky_bucket(QueueNumbers{{10, 1s}, 99}), 500'000, Cost{1});
  EXPECT_EQ(half, *Limit::leaky_bucket(QueueNumbers{{5, 1s}, 49}));
}

TEST(LocalShare, NeverGrowsWhereTheExactRateHasTooManyDigits) {
  const Limit quick = *Limit::gcra({{49'999'999, Duration(1s)}, 1'000'000});
  const Limit share = local_share_of(quick, 333'333, Cost{1});
  EXPECT_EQ(share.capacity(), 333'333U);
  // Returns the tokens per day of both.
  const auto in_a_day = [](const Limit& limit) {
    return static_cast<double>(limit.rate().count) / static_cast<double>(limit.rate().per.count());
  };
  EXPECT_LE(in_a_day(share), in_a_day(quick) * 0.333334);
  EXPECT_GT(in_a_day(share), 0.0);
}

// Divided by the number of nodes

TEST(NodeShare, DividesRateAndBurst) {
  EXPECT_EQ(node_share_of(bucket(100, 60s, 20), 4, Cost{1}), bucket(25, 60s, 5));
  EXPECT_EQ(node_share_of(*Limit::fixed_window({100, 60s}), 4, Cost{1}), *Limit::fixed_window({25, 60s}));
  EXPECT_EQ(node_share_of(*Limit::concurrency({10, 60s}), 4, Cost{1}), *Limit::concurrency({2, 60s}));
}

TEST(NodeShare, IsAtMostAHalf) {
  for (const std::uint64_t nodes : {0U, 1U, 2U}) {
    EXPECT_EQ(node_share_of(bucket(100, 60s, 20), nodes, Cost{1}), bucket(50, 60s, 10)) << nodes;
  }
}

TEST(NodeShare, KeepsTheExactRateAtAnyNumberOfNodes) {
  EXPECT_EQ(node_share_of(bucket(7, 3s, 7), 3, Cost{1}), bucket(7, 9s, 2));
  EXPECT_EQ(node_share_of(bucket(10, 60s, 10), 64, Cost{1}), bucket(10, 64 * 60s, 1));
}

TEST(NodeShare, IsAtLeastTheLargestRequest) {
  EXPECT_EQ(node_share_of(*Limit::fixed_window({3, 60s}), 4, Cost{1}).capacity(), 1U);
  EXPECT_EQ(node_share_of(*Limit::fixed_window({100, 60s}), 4, Cost{40}).capacity(), 40U);
  EXPECT_EQ(node_share_of(*Limit::fixed_window({100, 60s}), 4, Cost{200}).capacity(), 100U);
}

TEST(NodeShare, OfARateThatCannotBeSlowerIsTheSlowest) {
  const Limit share = node_share_of(bucket(1, std::chrono::days{3000}, 1), 64, Cost{1});
  EXPECT_EQ(share, bucket(1, Limit::max_duration, 1));
}

TEST(NodeShare, OfAllNodesIsTheLimitAtMost) {
  for (const std::uint64_t nodes : {2U, 3U, 4U, 7U, 64U, 1'000U}) {
    for (std::uint64_t capacity = nodes; capacity < nodes + 200; ++capacity) {
      const Limit whole = bucket(capacity, 60s, capacity);
      const Limit share = node_share_of(whole, nodes, Cost{1});
      ASSERT_LE(share.capacity() * nodes, capacity);
      ASSERT_GT((share.capacity() + 1) * nodes, capacity);
      // count / per, times the number of nodes, is exactly that of the whole limit.
      ASSERT_EQ(share.rate().count * nodes * static_cast<std::uint64_t>(whole.rate().per.count()),
                whole.rate().count * static_cast<std::uint64_t>(share.rate().per.count()));
      ASSERT_LE(node_share_of(*Limit::fixed_window({capacity, 60s}), nodes, Cost{1}).capacity() * nodes, capacity);
    }
  }
}

// Pending charges

TEST(PendingRule, RefillsABucketSlowly) {
  const auto pending = std::get<RuleOf<TokenBucket>>(pending_rule_of(compile(bucket(7, 3s, 20)))).limit;
  const auto slow = std::get<RuleOf<TokenBucket>>(compile(bucket(7, 3s * pending_slowdown, 20))).limit;
  EXPECT_EQ(pending.burst, slow.burst);
  EXPECT_EQ(pending.count, slow.count);
  EXPECT_EQ(pending.token, slow.token);
  EXPECT_EQ(pending.fill, slow.fill);
  for (const std::uint64_t used : {0U, 1U, 13U, 20U}) {
    EXPECT_EQ(pending.tokens_left(pending.worth(used)), 20 - used);
  }
}

TEST(PendingRule, IsTheShareWhereThatCannotBeSlower) {
  const Rule slowest = compile(bucket(1, Limit::max_duration, 1));
  EXPECT_EQ(time_to_fill(pending_rule_of(slowest)), time_to_fill(slowest));
}

TEST(PendingRule, KeepsTheWindow) {
  const Rule window = compile(*Limit::fixed_window({5, 60s}));
  EXPECT_EQ(time_to_fill(pending_rule_of(window)), 60s);
}

}  // namespace
}  // namespace weir::core
