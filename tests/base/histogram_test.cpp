#include "base/histogram.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace weir::base {
namespace {

constexpr Scale<3> tens{0, {10, 20, 30}};
using Tens = Histogram<tens>;

using Counts = std::array<std::uint64_t, 4>;

TEST(Histogram, ValueOnABoundBelongsToIt) {
  struct Row {
    std::uint64_t value;
    Counts counts;
  };
  for (const Row& row : {Row{0, {1, 0, 0, 0}}, Row{10, {1, 0, 0, 0}}, Row{11, {0, 1, 0, 0}}, Row{20, {0, 1, 0, 0}},
                         Row{30, {0, 0, 1, 0}}, Row{31, {0, 0, 0, 1}}, Row{UINT64_MAX, {0, 0, 0, 1}}}) {
    Tens histogram;
    histogram.add(row.value);
    Tens::Totals totals;
    histogram.add_to(totals);
    EXPECT_EQ(totals.counts, row.counts) << row.value;
    EXPECT_EQ(totals.sum, row.value);
  }
}

TEST(Histogram, SharedSumIsKeptToTheUnitAndPartsAreEqual) {
  Tens histogram;
  histogram.add_shared(47, 4);
  Tens::Totals totals;
  histogram.add_to(totals);
  EXPECT_EQ(totals.counts, (Counts{0, 4, 0, 0}));
  EXPECT_EQ(totals.sum, 47U);
  EXPECT_EQ(totals.count(), 4U);
}

TEST(Histogram, TotalsOfSeveralAddUp) {
  std::array<Tens, 2> histograms;
  histograms[0].add(5);
  histograms[1].add(15);
  histograms[1].add(5);
  Tens::Totals totals;
  for (const Tens& histogram : histograms) histogram.add_to(totals);
  EXPECT_EQ(totals.counts, (Counts{2, 1, 0, 0}));
  EXPECT_EQ(totals.sum, 25U);
}

}  // namespace
}  // namespace weir::base
