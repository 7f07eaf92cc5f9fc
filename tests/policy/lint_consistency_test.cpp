// Tests warnings about a consistency that is ignored or too inexact.
#include <gtest/gtest.h>

#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

// A policy with the consistency in line 4, linted for a number of nodes.
Lines consistency_warnings(const std::string& numbers, const std::string& consistency,
                           std::uint64_t nodes = default_nodes) {
  const std::string text =
      "version: 1\nlimits:\n- { name: a, consumer_key: ip, " + numbers + ",\n    consistency: " + consistency + " }\n";
  Lines lines;
  for (const Problem& problem : load_text(text, "p", {.nodes = nodes}).problems) {
    lines.push_back(line_of(problem));
  }
  return lines;
}

TEST(Lint, WarnsOfSlicesWhereNothingCanBeHeld) {
  EXPECT_EQ(consistency_warnings("algorithm: sliding_window_log, rate: 10/min", "leased"),
            Lines{"4:18: 'a' has 'consistency: leased', but is decided exactly: a sliding_window_log cannot be divided "
                  "into slices; use 'consistency: exact', or another algorithm"});
  EXPECT_EQ(consistency_warnings("algorithm: leaky_bucket, rate: 10/min, queue: 5", "leased"),
            Lines{"4:18: 'a' has 'consistency: leased', but is decided exactly: a queue cannot be divided into slices; "
                  "use 'consistency: exact', or another algorithm"});
  EXPECT_EQ(consistency_warnings("algorithm: sliding_window_log, rate: 10/min", "approximate"),
            Lines{"4:18: 'a' has 'consistency: approximate', but is decided exactly: a sliding_window_log cannot be "
                  "divided into slices; use 'consistency: exact', or another algorithm"});
}

TEST(Lint, WarnsOfAConsistencyThatShadowModeDoesNotHave) {
  EXPECT_EQ(consistency_warnings("algorithm: gcra, rate: 100/s, mode: shadow", "leased"),
            Lines{"4:18: 'a' has 'consistency: leased', which has no effect in 'mode: shadow': a shadow limit is "
                  "decided exactly; remove it until the limit is enforced"});
}

TEST(Lint, WarnsOfALimitThatIsTooSmallForSlices) {
  EXPECT_EQ(consistency_warnings("algorithm: gcra, rate: 1/s, burst: 7", "leased"),
            Lines{"4:18: 'a' has 'consistency: leased', but is decided exactly: a burst of 7 is too small to be "
                  "divided into slices; use 'consistency: exact', or raise the burst to at least 8"});
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 7/s", "{ leased: { lease: 2s } }"),
            Lines{"4:18: 'a' has 'consistency: leased', but is decided exactly: a limit of 7 is too small to be "
                  "divided into slices; use 'consistency: exact', or raise the limit to at least 8"});
}

TEST(Lint, LooksAtTheConsistencyOfEachTier) {
  EXPECT_EQ(problems_of("version: 1\ntiers: { from: { header: X-Plan }, default: free }\nlimits:\n"
                        "- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, burst: 20,\n"
                        "    consistency: leased, tier_overrides: { trial: { burst: 5 }, pro: { burst: 40 } } }\n"),
            Lines{"5:18: 'a' for trial has 'consistency: leased', but is decided exactly: a burst of 5 is too small to "
                  "be divided into slices; use 'consistency: exact', or raise the burst to at least 8"});
}

TEST(Lint, AcceptsLeasingWhereSlicesCanBeHeld) {
  for (const std::string numbers :
       {"algorithm: token_bucket, rate: 10/min", "algorithm: gcra, rate: 10/min",
        "algorithm: leaky_bucket, rate: 10/min, burst: 8", "algorithm: fixed_window, rate: 10/min",
        "algorithm: sliding_window_counter, rate: 10/min"}) {
    EXPECT_EQ(consistency_warnings(numbers, "leased"), Lines{}) << numbers;
  }
}

TEST(Lint, WarnsWhereNoNodeMaySpendAnythingUnasked) {
  EXPECT_EQ(
      consistency_warnings("algorithm: fixed_window, rate: 255/s", "approximate"),
      Lines{
          "4:18: 'a' has 'consistency: approximate', but is decided exactly: a limit of 255 is less than 4 for each of "
          "64 nodes; use 'consistency: leased', or set store.redis.nodes in weir.yaml to the maximum number of nodes"});
}

TEST(Lint, WarnsWhereOnePercentIsNotPromised) {
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 999/s", "approximate", 4),
            Lines{"4:18: 'a' has a limit of 999: below 1000 (250 for each of 4 nodes), 'consistency: approximate' may "
                  "be off by more than 1 %; use 'consistency: leased' if that matters, or set store.redis.nodes in "
                  "weir.yaml to the maximum number of nodes"});
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 1000/s", "{ approximate: { sync: 200ms } }", 4),
            Lines{"4:18: 'a' has a window of 1 s, less than 10 times the sync of 200 ms: nodes exchange counts every "
                  "100 ms instead; write 'sync: 100ms'"});
  EXPECT_EQ(consistency_warnings("algorithm: gcra, rate: 7000/s, burst: 1000", "approximate", 1).back(),
            "4:18: 'a' fills in 143 ms, but 'consistency: approximate' needs at least 200 ms, 10 times the minimum "
            "sync: it is decided exactly; use 'consistency: exact' or 'leased'");
}

TEST(Lint, AcceptsApproximateWhereOnePercentIsPromised) {
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 1000/s", "approximate", 4), Lines{});
  EXPECT_EQ(consistency_warnings("algorithm: token_bucket, rate: 16000/s", "approximate"), Lines{});
}

}  // namespace
}  // namespace weir::policy
