#include "observe/scales.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace weir::observe {
namespace {

TEST(Scales, BoundsRise) {
  const auto rises = [](const auto& bounds) {
    return std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}) == bounds.end();
  };
  EXPECT_TRUE(rises(duration_scale.bounds));
  EXPECT_TRUE(rises(headroom_scale.bounds));
  EXPECT_TRUE(rises(batch_scale.bounds));
}

}  // namespace
}  // namespace weir::observe
