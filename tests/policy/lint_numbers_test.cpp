// Tests warnings about numbers, each next to a similar policy without the warning.
#include <gtest/gtest.h>

#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

Lines warnings_for(const std::string& numbers) {
  return warnings_of({"name: a, consumer_key: ip, " + numbers});
}

TEST(Lint, WarnsOfAFixedWindowOnARouteThatIsWrittenTo) {
  EXPECT_EQ(warnings_for("routes: [GET /me, PUT /me], algorithm: fixed_window, rate: 10/min"),
            Lines{"3:71: 'a' uses fixed_window on a write route (PUT /me): up to twice the limit can pass around a "
                  "window boundary; use sliding_window_counter or token_bucket"});
}

TEST(Lint, KnowsFromElsewhereThatARouteIsWrittenTo) {
  const Lines warning{
      "3:62: 'a' uses fixed_window on a write route (POST /api/orders): up to twice the limit can pass around a window "
      "boundary; use sliding_window_counter or token_bucket"};
  const std::string fixed = "name: a, routes: [/api/**], consumer_key: ip, algorithm: fixed_window, rate: 10/min";
  EXPECT_EQ(warnings_of({fixed, "name: b, routes: [POST /api/orders], consumer_key: ip, algorithm: gcra, rate: 1/s"}),
            warning);
  EXPECT_EQ(warnings_of({fixed + ", cost: { POST /api/orders: 2 }"}), warning);
  EXPECT_EQ(warnings_of({fixed, "name: b, routes: [POST /orders], consumer_key: ip, algorithm: gcra, rate: 1/s"}),
            Lines{});
}

TEST(Lint, AcceptsAFixedWindowOnReadsAndAsABackstop) {
  EXPECT_EQ(warnings_for("routes: [GET /me, /search], algorithm: fixed_window, rate: 10/min"), Lines{});
  EXPECT_EQ(warnings_for("algorithm: fixed_window, rate: 10/min"), Lines{});
  EXPECT_EQ(warnings_for("routes: [PUT /me], algorithm: sliding_window_counter, rate: 10/min"), Lines{});
}

TEST(Lint, AcceptsAWindowOfTheCalendarOnWrites) {
  EXPECT_EQ(warnings_for("routes: [POST /x], algorithm: fixed_window, rate: 1000/month"), Lines{});
  EXPECT_EQ(warnings_for("routes: [POST /x], algorithm: fixed_window, limit: 10, window: { calendar: day }"), Lines{});
  EXPECT_EQ(warnings_for("routes: [POST /x], algorithm: fixed_window, rate: 1000/30day").size(), 1U);
}

TEST(Lint, DoesNotAskByWhatABanCounts) {
  EXPECT_EQ(warnings_of({"name: a, routes: [POST /x], consumer_key: 'header:X-Tenant', rate: 0"}), Lines{});
  EXPECT_EQ(warnings_of({"name: a, routes: [POST /x], consumer_key: ip, algorithm: fixed_window, rate: 0"}), Lines{});
}

TEST(Lint, SaysThatABanLeavesNothingToDecide) {
  EXPECT_EQ(warnings_of({"name: closed, routes: [/x/**], consumer_key: global, rate: 0",
                         "name: b, routes: [/x/y], consumer_key: ip, algorithm: gcra, rate: 1/s"}),
            Lines{"4:11: 'b' never decides: 'closed' (banned by global on /x/**) always denies first; remove 'b', or "
                  "make it stricter"});
  EXPECT_EQ(warnings_of({"name: b, routes: [/x/**], consumer_key: global, algorithm: gcra, rate: 1/s",
                         "name: closed, routes: [/x/y], consumer_key: ip, rate: 0"}),
            Lines{});
}

TEST(Lint, WarnsOfTiersThatNobodyCanHave) {
  const std::string limit =
      "- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, tier_overrides: { pro: { rate: "
      "2/s }, internal: unlimited } }\n";
  EXPECT_EQ(problems_of("version: 1\nlimits:\n" + limit),
            (Lines{"3:78: 'a' has numbers for tier 'pro', but no header names a request's tier: set tiers.from",
                   "3:98: 'a' has numbers for tier 'internal', but no header names a request's tier: set tiers.from"}));
  EXPECT_EQ(problems_of("version: 1\ntiers: { from: { header: X-Plan }, default: free }\nlimits:\n" + limit), Lines{});
}

TEST(Lint, AcceptsNumbersForTheDefaultTier) {
  EXPECT_EQ(
      problems_of("version: 1\ntiers: { default: free }\nlimits:\n"
                  "- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, tier_overrides: { free: { rate: 2/s } } "
                  "}\n"),
      Lines{});
}

TEST(Lint, WarnsOfABurstFarAboveTheRate) {
  EXPECT_EQ(warnings_for("algorithm: token_bucket, rate: 100/min, burst: 6001"),
            Lines{"3:79: 'a' has a burst of 6001, which is more than 10 times its rate of 100/min and takes more than "
                  "1 h to refill: lower the burst, or raise the rate"});
  EXPECT_EQ(warnings_for("algorithm: token_bucket, capacity: 11, refill_rate: 0.002"),
            Lines{"3:67: 'a' has a burst of 11, which is more than 10 times its rate of 0.002/s and takes more than "
                  "1 h to refill: lower the burst, or raise the rate"});
}

TEST(Lint, AcceptsAnHourOfTheRateADaysQuotaAndAFewOfASlowRate) {
  EXPECT_EQ(warnings_for("algorithm: token_bucket, rate: 100/min, burst: 6000"), Lines{});
  EXPECT_EQ(warnings_for("algorithm: token_bucket, rate: 1000/day"), Lines{});
  EXPECT_EQ(warnings_for("algorithm: token_bucket, rate: 100/h, burst: 1000"), Lines{});
  EXPECT_EQ(warnings_for("algorithm: token_bucket, capacity: 10, refill_rate: 0.002"), Lines{});
}

TEST(Lint, WarnsOfABurstBelowTheRatesOwnSecond) {
  EXPECT_EQ(warnings_for("algorithm: gcra, rate: 6000/min, burst: 99"),
            Lines{"3:72: 'a' has a burst of 99, less than one second of 6000/min: a client that sends once per second "
                  "cannot reach the rate; raise the burst to at least 100"});
  EXPECT_EQ(warnings_for("algorithm: gcra, rate: 6000/min, burst: 100"), Lines{});
  EXPECT_EQ(warnings_for("algorithm: gcra, rate: 100/s"), Lines{});
  EXPECT_EQ(warnings_for("algorithm: leaky_bucket, rate: 100/s"), Lines{});
}

TEST(Lint, LooksAtTheBurstOfEachTier) {
  EXPECT_EQ(problems_of("version: 1\ntiers: { from: { header: X-Plan }, default: free }\nlimits:\n"
                        "- { name: a, consumer_key: ip, algorithm: gcra, rate: 60/min, burst: 20,\n"
                        "    tier_overrides: { pro: { rate: 3000/min }, max: { burst: 100000 } } }\n"),
            (Lines{"5:36: 'a' for pro has a burst of 20, less than one second of 3000/min: a client that sends once "
                   "per second cannot reach the rate; raise the burst to at least 50",
                   "5:62: 'a' for max has a burst of 100000, which is more than 10 times its rate of 60/min and takes "
                   "more than 1 h to refill: lower the burst, or raise the rate"}));
}

TEST(Lint, WarnsOfResponsesThatShadowModeNeverGives) {
  const std::string responses =
      "algorithm: gcra, rate: 1/s, warn_first: { count: 3, per: 1h }, penalty: { after: 5, within: 1min, block: 10min "
      "}";
  EXPECT_EQ(
      warnings_for("mode: shadow, " + responses),
      (Lines{"3:86: 'a' has warn_first, which has no effect in 'mode: shadow': no request is denied; remove it until "
             "the limit is enforced",
             "3:118: 'a' has a penalty, which has no effect in 'mode: shadow': no request is denied; remove it until "
             "the limit is enforced"}));
  EXPECT_EQ(warnings_for(responses), Lines{});
}

}  // namespace
}  // namespace weir::policy
