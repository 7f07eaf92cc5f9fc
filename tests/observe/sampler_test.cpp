#include "observe/sampler.h"

#include <gtest/gtest.h>

namespace weir::observe {
namespace {

int taken(Sampler& sampler, int of) {
  int count = 0;
  for (int i = 0; i < of; ++i) count += sampler.takes() ? 1 : 0;
  return count;
}

TEST(Sampler, TakesItsShare) {
  struct Row {
    Sampling sampling;
    int least;
    int most;
  };
  for (const Row& row : {Row{{1, 1}, 10'000, 10'000}, Row{{3, 2}, 10'000, 10'000}, Row{{0, 10}, 0, 0},
                         Row{{1, 10}, 900, 1100}, Row{{3, 4}, 7300, 7700}}) {
    Sampler sampler(row.sampling, 1);
    const int count = taken(sampler, 10'000);
    EXPECT_GE(count, row.least);
    EXPECT_LE(count, row.most);
  }
}

TEST(Sampler, TrafficWithARhythmIsSampledToo) {
  Sampler sampler({1, 10}, 1);
  int every_tenth = 0;
  for (int i = 0; i < 10'000; ++i) {
    const bool takes = sampler.takes();
    if (i % 10 == 0) every_tenth += takes ? 1 : 0;
  }
  EXPECT_GE(every_tenth, 60);
  EXPECT_LE(every_tenth, 140);
}

TEST(Sampler, SameSeedTakesTheSame) {
  Sampler one({1, 3}, 42);
  Sampler other({1, 3}, 42);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.takes(), other.takes());
}

}  // namespace
}  // namespace weir::observe
