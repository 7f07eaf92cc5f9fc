#include "frontend/rls/quota_assigner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::frontend::quota_assigner_tests {
namespace {

using namespace std::chrono_literals;
using Numbers = QuotaAssigner::Numbers;
using Share = QuotaAssigner::Share;

constexpr Instant noon{12h};

// 200 per second, which is the fill interval, with a burst of 80.
constexpr Numbers two_hundred{80, {200, 1s}};

struct Assigner : QuotaAssigner {
  explicit Assigner(const Numbers& numbers = two_hundred) : QuotaAssigner(numbers, noon) {}

  Holder join_with(std::uint64_t requests_a_second) {
    const Holder holder = join();
    set_demand(holder, requests_a_second, Cost{1}, 1s);
    return holder;
  }
  Share assign_offer(Holder holder, Instant now = noon, Duration time = 3s) {
    const Share share = offer(holder, now);
    assign(holder, share, now, now + time);
    return share;
  }
};

TEST(QuotaAssigner, AFillIntervalIsWholeSecondsAndHasAHundredUnits) {
  struct Row {
    Rate rate;
    std::chrono::seconds fill;
    std::uint64_t per_fill;
  };
  const std::vector<Row> rows{
      {{1'000, 1s}, 1s, 1'000},
      {{100, 1s}, 1s, 100},
      {{99, 1s}, 2s, 198},
      {{1, 1s}, 100s, 100},
      {{3, 7s}, 234s, 100},
      {{1, 1min}, 6'000s, 100},
      {{1, std::chrono::days{30}}, std::chrono::days{365}, 12},  // Envoy refills at least once per year
      {{1, std::chrono::days{3'650}}, std::chrono::days{365}, 0},
      {{0, 1s}, 100s, 0},
  };
  for (const Row& row : rows) {
    const Assigner assigner(Numbers{10, row.rate});
    EXPECT_EQ(assigner.fill_interval(), row.fill) << row.rate.count << " per " << row.rate.per.count();
    EXPECT_EQ(assigner.per_fill(), row.per_fill) << row.rate.count << " per " << row.rate.per.count();
  }
}

// 190 of 200 are divided. Demand is raised by an eighth plus one.
TEST(QuotaAssigner, SmallDemandsAreMetAndLargeOnesShareTheRest) {
  struct Row {
    std::vector<std::uint64_t> demands;
    std::vector<std::uint64_t> shares;
  };
  const std::vector<Row> rows{
      {{1'000}, {190}},
      {{1'000, 1'000}, {95, 95}},
      {{8, 1'000, 1'000}, {10, 90, 90}},
      {{8, 40, 1'000}, {10, 46, 134}},
      {{0, 0, 1'000}, {1, 1, 188}},
      {{8, 16}, {50, 59}},  // half of the surplus of 161
      {{0}, {95}},
  };
  for (const Row& row : rows) {
    Assigner assigner;
    std::vector<QuotaAssigner::Holder> holders;
    for (const std::uint64_t demand : row.demands) holders.push_back(assigner.join_with(demand));
    std::vector<std::uint64_t> shares;
    for (const auto holder : holders) shares.push_back(assigner.fair(holder).per_fill);
    EXPECT_EQ(shares, row.shares);
  }
}

TEST(QuotaAssigner, HalfOfTheBurstIsWithTheHolders) {
  Assigner assigner;
  const auto small = assigner.join_with(8);
  const auto large = assigner.join_with(1'000);
  EXPECT_EQ(assigner.fair(small).burst, 2U);   // 10 of 200, of 40
  EXPECT_EQ(assigner.fair(large).burst, 36U);  // 180 of 200
}

TEST(QuotaAssigner, WhoseDemandIsNotKnownIsOfferedHalfOfWhatIsLeft) {
  Assigner assigner;
  const auto first = assigner.join();
  EXPECT_EQ(assigner.assign_offer(first).per_fill, 100U);
  const auto second = assigner.join();
  EXPECT_EQ(assigner.assign_offer(second).per_fill, 50U);
  const auto third = assigner.join();
  EXPECT_EQ(assigner.assign_offer(third).per_fill, 25U);
}

TEST(QuotaAssigner, AnAssignmentIsTakenOutOfThePoolAndDoesNotComeBack) {
  Assigner assigner;
  const auto holder = assigner.join_with(1'000);
  EXPECT_EQ(assigner.assign_offer(holder), (Share{38, 190}));
  EXPECT_EQ(assigner.pool(noon), 42U);
  EXPECT_EQ(assigner.assigned_burst(), 38U);
  EXPECT_EQ(assigner.pool(noon + 2s), 42U) << "what is held and what is in the pool are the burst together";
  EXPECT_EQ(assigner.pool(noon + 3s), 42U) << "it ended, and was not given back";
  EXPECT_EQ(assigner.assigned_burst(), 0U);
  EXPECT_EQ(assigner.pool(noon + 3s + 100ms), 62U) << "but the rate is free";
}

TEST(QuotaAssigner, WhatAHolderHadCountsUntilItsTimeIsOver) {
  Assigner assigner;
  const auto gone = assigner.join_with(1'000);
  assigner.assign_offer(gone);
  assigner.leave(gone);
  const auto other = assigner.join_with(1'000);
  EXPECT_EQ(assigner.fair(other).per_fill, 190U);
  EXPECT_EQ(assigner.offer(other, noon + 2999ms).per_fill, 10U);
  EXPECT_EQ(assigner.offer(other, noon + 3s).per_fill, 190U);
}

TEST(QuotaAssigner, WhatIsLoweredIsFreeWhenTheOldOneIsOver) {
  Assigner assigner;
  const auto first = assigner.join_with(1'000);
  assigner.assign_offer(first);
  const auto second = assigner.join_with(1'000);
  EXPECT_EQ(assigner.assign_offer(first, noon + 1s).per_fill, 95U);
  EXPECT_EQ(assigner.offer(second, noon + 2s).per_fill, 10U);
  EXPECT_EQ(assigner.offer(second, noon + 3s).per_fill, 95U);
}

TEST(QuotaAssigner, AnExtendedOneCountsLonger) {
  Assigner assigner;
  const auto holder = assigner.join_with(1'000);
  assigner.assign_offer(holder);
  assigner.extend(holder, noon + 5s);
  EXPECT_EQ(assigner.pool(noon + 4s), 42U);
  EXPECT_EQ(assigner.assigned_per_fill(), 190U);
  EXPECT_EQ(assigner.pool(noon + 5s + 100ms), 62U);
}

// Otherwise the whole burst could be assigned, and no rate could be lowered.
TEST(QuotaAssigner, SomeOfThePoolIsForLoweringOnly) {
  Assigner assigner;
  const auto first = assigner.join_with(1'000);
  assigner.assign_offer(first);
  assigner.assign(first, {32, 190}, noon, noon + 3s);
  EXPECT_EQ(assigner.pool(noon), 10U);
  EXPECT_EQ(assigner.offer(first, noon).burst, 0U);
  static_cast<void>(assigner.join_with(1'000));
  EXPECT_EQ(assigner.offer(first, noon), (Share{10, 95}));
}

TEST(QuotaAssigner, AHolderHasABoundedNumberOfHolds) {
  Assigner assigner(Numbers{1'000, {200, 1s}});
  const auto holder = assigner.join_with(1'000);
  for (std::size_t i = 0; i < QuotaAssigner::max_assignments; ++i) assigner.assign(holder, {1, 1}, noon, noon + 3s);
  EXPECT_TRUE(assigner.offer(holder, noon + 2s).is_empty());
  EXPECT_FALSE(assigner.offer(holder, noon + 3s).is_empty());
}

TEST(QuotaAssigner, ChangedNumbersDoNotGrantANewBurst) {
  Assigner assigner;
  const auto holder = assigner.join_with(1'000);
  assigner.assign_offer(holder);
  assigner.change({800, {50, 1s}}, noon);
  EXPECT_EQ(assigner.pool(noon), 42U);
  EXPECT_EQ(assigner.fill_interval(), 2s);
  EXPECT_EQ(assigner.assigned_per_fill(), 380U) << "190 a second, as before";
  EXPECT_EQ(assigner.pool(noon + 2s), 42U);
  assigner.change({10, {50, 1s}}, noon + 2s);
  EXPECT_EQ(assigner.pool(noon + 2s), 0U);
  EXPECT_TRUE(assigner.offer(holder, noon + 2s).is_empty());
}

TEST(QuotaAssigner, TimeThatGoesBackStandsStill) {
  Assigner assigner;
  const auto holder = assigner.join_with(1'000);
  assigner.assign_offer(holder, noon, 1s);
  EXPECT_EQ(assigner.pool(noon + 1100ms), 62U);
  EXPECT_EQ(assigner.pool(noon), 62U);
  EXPECT_EQ(assigner.pool(noon + 1100ms), 62U);
}

TEST(QuotaAssigner, IsAsNewWhenNothingIsOutAndThePoolIsFull) {
  Assigner assigner;
  EXPECT_TRUE(assigner.is_pristine(noon));
  const auto holder = assigner.join_with(1'000);
  assigner.assign_offer(holder);
  assigner.leave(holder);
  EXPECT_FALSE(assigner.is_pristine(noon + 3s));
  EXPECT_FALSE(assigner.is_pristine(noon + 3s + 189ms));
  EXPECT_TRUE(assigner.is_pristine(noon + 3s + 190ms));
}

TEST(QuotaAssigner, ABurstOfNothingAndARateOfNothingOfferNothing) {
  for (const Numbers& numbers : {Numbers{0, {200, 1s}}, Numbers{80, {0, 1s}}}) {
    Assigner assigner(numbers);
    const auto holder = assigner.join_with(1'000);
    EXPECT_TRUE(assigner.offer(holder, noon).is_empty());
  }
}

}  // namespace
}  // namespace weir::frontend::quota_assigner_tests
