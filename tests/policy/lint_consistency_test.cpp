// Warnings about a consistency that is not what happens, or that promises less than it seems to.
#include <gtest/gtest.h>

#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

// With the consistency in line 4, and what the store's number of nodes is.
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
            Lines{"4:18: 'a' is a sliding_window_log, where each request counts from its own instant, so that nodes "
                  "cannot hold slices of it: 'consistency: leased' is decided exactly; use 'consistency: exact', or "
                  "another algorithm"});
  EXPECT_EQ(consistency_warnings("algorithm: leaky_bucket, rate: 10/min, queue: 5", "leased"),
            Lines{"4:18: 'a' is a queue, where each request has a turn of its own, so that nodes cannot hold slices "
                  "of it: 'consistency: leased' is decided exactly; use 'consistency: exact', or another algorithm"});
  EXPECT_EQ(consistency_warnings("algorithm: sliding_window_log, rate: 10/min", "approximate"),
            Lines{"4:18: 'a' is a sliding_window_log, where each request counts from its own instant, so that nodes "
                  "cannot hold slices of it: 'consistency: approximate' is decided exactly; use 'consistency: "
                  "exact', or another algorithm"});
}

TEST(Lint, WarnsOfAConsistencyThatShadowModeDoesNotHave) {
  EXPECT_EQ(consistency_warnings("algorithm: gcra, rate: 100/s, mode: shadow", "leased"),
            Lines{"4:18: 'a' has 'consistency: leased', which does nothing in 'mode: shadow': what is only watched is "
                  "decided exactly; leave it out until the limit is enforced"});
}

TEST(Lint, WarnsOfALimitThatIsTooSmallForSlices) {
  EXPECT_EQ(consistency_warnings("algorithm: gcra, rate: 1/s, burst: 7", "leased"),
            Lines{"4:18: 'a' has a burst of 7: below 8 there is too little to hold slices of, and 'consistency: "
                  "leased' is decided exactly; use 'consistency: exact', or raise the burst"});
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 7/s", "{ leased: { lease: 2s } }"),
            Lines{"4:18: 'a' has a limit of 7: below 8 there is too little to hold slices of, and 'consistency: "
                  "leased' is decided exactly; use 'consistency: exact', or raise the limit"});
}

TEST(Lint, LooksAtTheConsistencyOfEachTier) {
  EXPECT_EQ(problems_of("version: 1\ntiers: { from: { header: X-Plan }, default: free }\nlimits:\n"
                        "- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, burst: 20,\n"
                        "    consistency: leased, tier_overrides: { trial: { burst: 5 }, pro: { burst: 40 } } }\n"),
            Lines{"5:18: 'a' for trial has a burst of 5: below 8 there is too little to hold slices of, and "
                  "'consistency: leased' is decided exactly; use 'consistency: exact', or raise the burst"});
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
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 255/s", "approximate"),
            Lines{"4:18: 'a' has a limit of 255, less than 4 for each of 64 nodes: no node may spend anything unasked, "
                  "and 'consistency: approximate' is decided exactly; use 'consistency: leased', or set "
                  "store.redis.nodes in weir.yaml to as many nodes as there are at most"});
}

TEST(Lint, WarnsWhereOnePercentIsNotPromised) {
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 999/s", "approximate", 4),
            Lines{"4:18: 'a' has a limit of 999: that approximate is within 1 % of it is promised from 1000 on, 250 "
                  "for each of 4 nodes; use 'consistency: leased' if that matters, or set store.redis.nodes in "
                  "weir.yaml to as many nodes as there are at most"});
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 1000/s", "{ approximate: { sync: 200ms } }", 4),
            Lines{"4:18: 'a' has a window of 1 s: that approximate is within 1 % of it is promised from 2 s on, 10 "
                  "times the sync of 200 ms; use a shorter sync, or 'consistency: leased'"});
  EXPECT_EQ(consistency_warnings("algorithm: gcra, rate: 7000/s, burst: 1000", "approximate", 1).back(),
            "4:18: 'a' fills in 143 ms: that approximate is within 1 % of it is promised from 1 s on, 10 times the "
            "sync of 100 ms; use a shorter sync, or 'consistency: leased'");
}

TEST(Lint, AcceptsApproximateWhereOnePercentIsPromised) {
  EXPECT_EQ(consistency_warnings("algorithm: fixed_window, rate: 1000/s", "approximate", 4), Lines{});
  EXPECT_EQ(consistency_warnings("algorithm: token_bucket, rate: 16000/s", "approximate"), Lines{});
}

}  // namespace
}  // namespace weir::policy
