// Parsing of estimates, and what they learn.
#include "simulate/estimate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::simulate {
namespace {

TEST(Estimate, TextRoundTrips) {
  for (const char* text : {"max", "1", "4096", "4294967295", "p95 of 100", "p1 of 1", "p99 of 10000"}) {
    const auto estimate = Estimate::read(text);
    ASSERT_TRUE(estimate.has_value()) << text;
    EXPECT_EQ(estimate->text(), text);
  }
  EXPECT_EQ(Estimate{}.text(), "report");
}

TEST(Estimate, InvalidTextIsAnErrorWithAHint) {
  for (const char* text : {"", "0", "-1", "4294967296", "1.5", "min", "p95", "p95 of", "p95 of 0", "p95 of 10001",
                           "p0 of 10", "p100 of 10", "p95 of ten", " max", "report"}) {
    const auto estimate = Estimate::read(text);
    ASSERT_FALSE(estimate.has_value()) << text;
    EXPECT_EQ(estimate.error().message(),
              (*text == '\0' ? std::string("''") : std::string(text)) +
                  ": not an estimate; use max, a cost such as 4096, or 'p95 of 100' (at most 10000)");
  }
}

// The estimate after each of these costs.
TEST(Estimator, LearnsFromEndedRequestsOfTheSameRoute) {
  struct Row {
    std::string estimate;
    std::vector<std::uint64_t> costs;
    std::vector<std::uint64_t> estimates;  // the first before any
  };
  const std::vector<Row> rows{
      {"7", {3, 9}, {7, 7, 7}},
      {"max", {3, 9, 0}, {1, 3, 9, 9}},
      {"max", {0}, {1, 0}},
      {"p50 of 4", {4, 1, 3, 2}, {1, 4, 1, 3, 2}},        // of 1, 4: the first; of 1, 3, 4: the second
      {"p95 of 3", {9, 1, 2, 3, 4}, {1, 9, 9, 9, 3, 4}},  // the fourth cost evicts the 9
      {"p50 of 3", {5, 5, 1, 1, 1}, {1, 5, 5, 5, 1, 1}},
      {"p99 of 1", {5, 2}, {1, 5, 2}},
  };
  for (const Row& row : rows) {
    Estimator estimator(*Estimate::read(row.estimate), 2);
    EXPECT_EQ(estimator.of(0), Cost{row.estimates[0]}) << row.estimate;
    for (std::size_t i = 0; i < row.costs.size(); ++i) {
      estimator.learn(0, Cost{row.costs[i]});
      EXPECT_EQ(estimator.of(0), Cost{row.estimates[i + 1]}) << row.estimate << " after " << i + 1;
    }
    EXPECT_EQ(estimator.of(1), Cost{row.estimates[0]}) << row.estimate << " on another route";
  }
}

}  // namespace
}  // namespace weir::simulate
