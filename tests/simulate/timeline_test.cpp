#include "simulate/rates.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::simulate {
namespace {

using std::chrono::seconds;
using Bin = Timeline::Bin;

TEST(Timeline, StartsWithTheFirstSecondAndHasNoGaps) {
  Timeline timeline;
  timeline.add(1000, true);
  timeline.add(1000, false);
  timeline.add(1003, true);
  EXPECT_EQ(timeline.start(), Instant{seconds{1000}});
  EXPECT_EQ(timeline.width(), seconds{1});
  EXPECT_EQ(timeline.bins(), (std::vector<Bin>{{1, 1}, {0, 0}, {0, 0}, {1, 0}}));
}

TEST(Timeline, WidthDoublesWhenTheLogOutgrowsTheBins) {
  Timeline timeline;
  for (std::int64_t second = 0; second < 400; ++second) timeline.add(second, true);
  EXPECT_EQ(timeline.width(), seconds{1});
  timeline.add(400, false);
  EXPECT_EQ(timeline.width(), seconds{2});
  ASSERT_EQ(timeline.bins().size(), 201U);
  EXPECT_EQ(timeline.bins().front(), (Bin{2, 0}));
  EXPECT_EQ(timeline.bins().back(), (Bin{0, 1}));
}

TEST(Timeline, JumpOfYearsStaysWithinTheBoundAndLosesNothing) {
  Timeline timeline;
  for (std::int64_t second = 0; second < 1000; ++second) timeline.add(second, second % 3 != 0);
  timeline.add(std::int64_t{50} * 365 * 86'400, true);
  EXPECT_LE(timeline.bins().size(), Timeline::max_bins);
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  for (const Bin& bin : timeline.bins()) {
    admitted += bin.admitted;
    denied += bin.denied;
  }
  EXPECT_EQ(admitted, 667U);
  EXPECT_EQ(denied, 334U);
}

}  // namespace
}  // namespace weir::simulate
