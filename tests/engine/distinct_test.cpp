#include <gtest/gtest.h>

#include <cmath>

#include "engine/distinct.h"
#include "table/siphash.h"

namespace weir::engine {
namespace {

std::uint64_t hash_of(std::uint64_t number) {
  return table::siphash13(table::HashKey{3, 4},
                          std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

TEST(DistinctEstimate, IsWithinAFewPercentFromOneToMillions) {
  for (const std::uint64_t count : {1U, 2U, 10U, 100U, 1'000U, 5'000U, 10'000U, 100'000U, 3'000'000U}) {
    DistinctEstimate estimate;
    for (std::uint64_t i = 0; i < count; ++i) estimate.add(hash_of(i));
    EXPECT_NEAR(static_cast<double>(estimate.estimate()), static_cast<double>(count),
                std::max(1.0, 0.08 * static_cast<double>(count)));  // 3.5 standard errors
  }
}

TEST(DistinctEstimate, RepetitionsDoNotCount) {
  DistinctEstimate estimate;
  for (int i = 0; i < 100'000; ++i) estimate.add(hash_of(static_cast<std::uint64_t>(i % 50)));
  EXPECT_NEAR(static_cast<double>(estimate.estimate()), 50, 4);
}

TEST(RecentDistinct, ForgetsWhatIsTwoHoursOld) {
  using namespace std::chrono_literals;
  const Instant noon{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  RecentDistinct recent;
  for (std::uint64_t i = 0; i < 1000; ++i) recent.add(hash_of(i), noon);
  for (std::uint64_t i = 0; i < 10; ++i) recent.add(hash_of(i), noon + 1h);
  EXPECT_NEAR(static_cast<double>(recent.estimate(noon + 1h)), 1000, 80);
  for (std::uint64_t i = 0; i < 10; ++i) recent.add(hash_of(i), noon + 2h);
  EXPECT_NEAR(static_cast<double>(recent.estimate(noon + 2h)), 10, 2);
  EXPECT_EQ(recent.estimate(noon + 9h), 0U);
  recent.add(hash_of(1), noon + 9h);
  EXPECT_EQ(recent.estimate(noon + 9h), 1U);
}

}  // namespace
}  // namespace weir::engine
