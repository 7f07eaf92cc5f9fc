// A ranking in bounded memory compared with exact counts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "simulate/ranking.h"

namespace weir::simulate {
namespace {

TEST(Ranking, IsExactWhileTheConsumersFit) {
  Ranking ranking;
  for (std::uint64_t consumer = 1; consumer <= Ranking::max_entries; ++consumer) {
    for (std::uint64_t i = 0; i < consumer % 7 + 1; ++i) ranking.add(consumer);
  }
  EXPECT_TRUE(ranking.is_exact());
  EXPECT_EQ(ranking.consumers(), Ranking::max_entries);
  const auto top = ranking.top(20);
  ASSERT_EQ(top.size(), 20U);
  EXPECT_EQ(top.front().count, 7U);
  EXPECT_EQ(top.front().consumer, 6U);  // ties are ordered by hash
  EXPECT_EQ(top.front().error, 0U);
}

TEST(Ranking, AfterAnEvictionOnlyRecurringConsumersGetNames) {
  Ranking ranking;
  EXPECT_TRUE(Ranking::needs_name(ranking.add(1)));
  for (std::uint64_t consumer = 2; consumer <= Ranking::max_entries + 1; ++consumer) ranking.add(consumer);
  EXPECT_FALSE(Ranking::needs_name(ranking.add(1'000'000)));
  EXPECT_TRUE(Ranking::needs_name(ranking.add(1'000'000)));
}

// Scatters consumers like a keyed hash.
std::uint64_t scattered(std::uint64_t number) {
  return (number + 1) * 0x9e37'79b9'7f4a'7c15 ^ (number + 1) * 0xbf58'476d'1ce4'e5b9 << 31;
}

RC_GTEST_PROP(RankingProperty, CountsAreWithinTheirErrorAndNoLargeConsumerIsMissing, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const auto rare = *rc::gen::inRange<std::uint64_t>(1'000, 15'000);
  std::mt19937_64 random(seed);
  std::map<std::uint64_t, std::uint64_t> exact;
  Ranking ranking;
  for (int i = 0; i < 20'000; ++i) {
    // A few heavy consumers among many rare ones.
    const std::uint64_t consumer = scattered(random() % 4 == 0 ? random() % 30 : 1'000 + random() % rare);
    ++exact[consumer];
    ranking.add(consumer);
  }
  RC_ASSERT(ranking.total() == 20'000U);
  const auto all = ranking.top(Ranking::max_entries);
  RC_ASSERT(all.size() <= Ranking::max_entries);
  std::map<std::uint64_t, bool> listed;
  for (const auto& ranked : all) {
    const std::uint64_t truth = exact.at(ranked.consumer);
    RC_ASSERT(ranked.count <= truth);
    RC_ASSERT(truth <= ranked.count + ranked.error);
    listed[ranked.consumer] = true;
  }
  for (const auto& [consumer, count] : exact) {
    if (count > ranking.forgotten()) RC_ASSERT(listed.contains(consumer));
  }
  const double estimate = static_cast<double>(ranking.consumers());
  const double truth = static_cast<double>(exact.size());
  RC_ASSERT(estimate > 0.85 * truth && estimate < 1.15 * truth);
}

}  // namespace
}  // namespace weir::simulate
