#include "base/counter.h"

#include <gtest/gtest.h>

namespace weir::base {
namespace {

TEST(Counter, AddsUpWhatItIsRaisedBy) {
  Counter counter;
  EXPECT_EQ(counter.value(), 0U);
  counter.raise();
  counter.raise(5);
  EXPECT_EQ(counter.value(), 6U);
}

TEST(Gauge, HoldsTheLastValue) {
  Gauge gauge;
  EXPECT_EQ(gauge.value(), 0);
  gauge.set(7);
  gauge.set(-3);
  EXPECT_EQ(gauge.value(), -3);
}

}  // namespace
}  // namespace weir::base
