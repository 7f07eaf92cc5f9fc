// Tests how limits are decided between nodes, and the bounds that are stated.
#include "policy/consistency.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "policy/load.h"
#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

using namespace std::chrono_literals;

CompiledLimit limit_with(const std::string& fields) {
  const auto ruleset = loaded(policy_of({"name: a, consumer_key: ip, " + fields}));
  return ruleset == nullptr ? CompiledLimit{} : ruleset->limits.at(0);
}

struct EffectiveRow {
  std::string fields;
  std::uint64_t nodes;
  EffectiveConsistency expected;
};

// For the default tier.
void expect_each(const std::vector<EffectiveRow>& rows) {
  for (const EffectiveRow& row : rows) {
    const CompiledLimit limit = limit_with(row.fields);
    ASSERT_FALSE(limit.live.by_tier.empty());
    const auto found = effective_consistency(limit, limit.live.by_tier.at(0).value(), row.nodes);
    EXPECT_EQ(found, row.expected) << row.fields << ": " << name_of(found.kind);
  }
}

constexpr EffectiveConsistency kept_leased{Consistency::leased, WhyExact::not_exact};
constexpr EffectiveConsistency kept_approximate{Consistency::approximate, WhyExact::not_exact};

constexpr EffectiveConsistency exact_since(WhyExact why) {
  return {Consistency::exact, why};
}

TEST(Consistency, HasTimesOfItsOwn) {
  const std::string limit = "algorithm: gcra, rate: 1/s, burst: 99";
  const auto chosen = [&](const std::string& written) { return limit_with(limit + ", " + written).consistency; };
  EXPECT_EQ(chosen("cost: 1"), (ConsistencyChoice{Consistency::exact, 1s, 100ms}));
  EXPECT_EQ(chosen("consistency: exact"), (ConsistencyChoice{Consistency::exact, 1s, 100ms}));
  EXPECT_EQ(chosen("consistency: leased"), (ConsistencyChoice{Consistency::leased, 1s, 100ms}));
  EXPECT_EQ(chosen("consistency: { leased: {} }"), (ConsistencyChoice{Consistency::leased, 1s, 100ms}));
  EXPECT_EQ(chosen("consistency: { leased: { lease: 100ms } }"),
            (ConsistencyChoice{Consistency::leased, 100ms, 100ms}));
  EXPECT_EQ(chosen("consistency: { leased: { lease: 60s } }"), (ConsistencyChoice{Consistency::leased, 60s, 100ms}));
  EXPECT_EQ(chosen("consistency: approximate"), (ConsistencyChoice{Consistency::approximate, 1s, 100ms}));
  EXPECT_EQ(chosen("consistency: { approximate: { sync: 20ms } }"),
            (ConsistencyChoice{Consistency::approximate, 1s, 20ms}));
  EXPECT_EQ(chosen("consistency: { approximate: { sync: 10s } }"),
            (ConsistencyChoice{Consistency::approximate, 1s, 10s}));
}

TEST(Consistency, IsWrittenInOpenApiToo) {
  const auto ruleset = loaded(R"(openapi: 3.1.0
paths:
  /ping:
    get:
      operationId: ping
      x-rate-limit:
        algorithm: gcra
        rate: 100/s
        consumer_key: ip
        consistency: { leased: { lease: 5s } }
)");
  ASSERT_NE(ruleset, nullptr);
  EXPECT_EQ(ruleset->limits.at(0).consistency, (ConsistencyChoice{Consistency::leased, 5s, 100ms}));
}

TEST(EffectiveConsistency, OfLeasedIsExactWhereNothingCanBeHeld) {
  expect_each({
      {"algorithm: token_bucket, rate: 1/s, burst: 8, consistency: leased", 64, kept_leased},
      {"algorithm: gcra, rate: 1/s, burst: 8, consistency: leased", 64, kept_leased},
      {"algorithm: leaky_bucket, rate: 1/s, burst: 8, consistency: leased", 64, kept_leased},
      {"algorithm: fixed_window, rate: 8/s, consistency: leased", 64, kept_leased},
      {"algorithm: sliding_window_counter, rate: 8/s, consistency: leased", 64, kept_leased},
      {"algorithm: gcra, rate: 1/s, burst: 7, consistency: leased", 64, exact_since(WhyExact::small)},
      {"algorithm: fixed_window, rate: 7/s, consistency: leased", 64, exact_since(WhyExact::small)},
      {"algorithm: leaky_bucket, rate: 1/s, queue: 99, consistency: leased", 64, exact_since(WhyExact::queue)},
      {"algorithm: sliding_window_log, rate: 99/s, consistency: leased", 64, exact_since(WhyExact::log)},
      {"algorithm: gcra, rate: 99/s, mode: shadow, consistency: leased", 64, exact_since(WhyExact::shadow)},
      {"algorithm: gcra, rate: 99/s", 64, exact_since(WhyExact::written)},
  });
}

TEST(EffectiveConsistency, OfApproximateTakesFourUnitsForEachNode) {
  expect_each({
      {"algorithm: fixed_window, rate: 256/s, consistency: approximate", 64, kept_approximate},
      {"algorithm: fixed_window, rate: 255/s, consistency: approximate", 64, exact_since(WhyExact::no_allowance)},
      {"algorithm: gcra, rate: 1/s, burst: 8, consistency: approximate", 2, kept_approximate},
      {"algorithm: gcra, rate: 1/s, burst: 7, consistency: approximate", 1, exact_since(WhyExact::small)},
      {"algorithm: leaky_bucket, rate: 1/s, queue: 9999, consistency: approximate", 1, exact_since(WhyExact::queue)},
      {"algorithm: sliding_window_log, rate: 9999/s, consistency: approximate", 1, exact_since(WhyExact::log)},
      {"algorithm: gcra, rate: 9999/s, mode: shadow, consistency: approximate", 1, exact_since(WhyExact::shadow)},
  });
}

TEST(EffectiveConsistency, IsThatOfATiersOwnNumbers) {
  const auto limit =
      limit_with("algorithm: gcra, rate: 1/s, burst: 5, tier_overrides: { pro: { burst: 50 } }, consistency: leased");
  ASSERT_EQ(limit.live.by_tier.size(), 2U);
  EXPECT_EQ(effective_consistency(limit, *limit.live.by_tier[0], 64), exact_since(WhyExact::small));
  EXPECT_EQ(effective_consistency(limit, *limit.live.by_tier[1], 64), kept_leased);
}

TEST(ApproximateBound, IsTheLimitAndWhatEachNodeMaySpendUnasked) {
  const Limit limit = *Limit::fixed_window({.limit = 1'000, .window = 1min});
  const ApproximateBound bound = approximate_bound(limit, 4);
  EXPECT_EQ(bound.allowance, 62U);
  EXPECT_EQ(bound.unasked, 248U);
  EXPECT_EQ(bound.max_admitted, 1'248U);
  EXPECT_EQ(bound.per, 1min);
}

TEST(ApproximateBound, OfABucketHoldsAtOnceAndAgainInEachTimeToFill) {
  const Limit limit = *Limit::token_bucket({.rate = {100, 1s}, .burst = 1'000});
  const ApproximateBound bound = approximate_bound(limit, 4);
  EXPECT_EQ(bound.max_admitted, 1'248U);
  EXPECT_EQ(bound.per, 10s);
}

TEST(ApproximateBound, OfACounterIsThatOfItsEstimate) {
  const Limit limit = *Limit::sliding_window_counter({.limit = 1'000, .window = 1min});
  EXPECT_EQ(approximate_bound(limit, 4).max_admitted, 1'250U);
}

TEST(ApproximateBound, IsNeverMoreThanAQuarterOver) {
  for (const std::uint64_t units : {8U, 9U, 255U, 256U, 257U, 1'000U, 4'294'967'295U}) {
    for (const std::uint64_t nodes : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{64}, max_nodes}) {
      for (const Limit& limit : {*Limit::fixed_window({.limit = units, .window = 1s}),
                                 *Limit::sliding_window_counter({.limit = units, .window = 1s})}) {
        const ApproximateBound bound = approximate_bound(limit, nodes);
        EXPECT_LE(bound.max_admitted, units + units / 4) << units << " " << nodes;
        EXPECT_GE(bound.max_admitted, units + bound.unasked) << units << " " << nodes;
        EXPECT_EQ(bound.unasked, nodes * bound.allowance);
      }
    }
  }
}

TEST(SteadyError, IsPromisedFrom250UnitsPerNode) {
  const auto of = [](std::uint64_t units) {
    return steady_error(*Limit::fixed_window({.limit = units, .window = 1s}), 4);
  };
  EXPECT_TRUE(of(1'000).is_large_enough);
  EXPECT_FALSE(of(999).is_large_enough);
  EXPECT_EQ(of(999).min_limit, 1'000U);
}

TEST(EffectiveSync, IsAtMostATenthOfTheWindowOrOfTheTimeToFill) {
  CompiledLimit limit;
  limit.consistency = {.kind = Consistency::approximate, .sync = 100ms};
  const auto of_window = [&](Duration window) {
    return effective_sync(limit, *Limit::fixed_window({.limit = 1'000, .window = window}));
  };
  EXPECT_EQ(of_window(1min), 100ms);
  EXPECT_EQ(of_window(1s), 100ms);
  EXPECT_EQ(of_window(500ms), 50ms);
  EXPECT_EQ(of_window(200ms), 20ms);
  const auto of_burst = [&](std::uint64_t burst) {
    return effective_sync(limit, *Limit::gcra({.rate = {1'000, 1s}, .burst = burst}));
  };
  EXPECT_EQ(of_burst(1'000), 100ms);
  EXPECT_EQ(of_burst(300), 30ms);
}

TEST(EffectiveConsistencyTest, ALimitThatIsTooBriefToExchangeTenTimesIsDecidedExactly) {
  CompiledLimit limit;
  limit.consistency = {.kind = Consistency::approximate, .sync = 100ms};
  const auto of = [&](std::uint64_t burst) {
    return effective_consistency(limit, *Limit::gcra({.rate = {1'000, 1s}, .burst = burst}), 1);
  };
  EXPECT_EQ(of(200), (EffectiveConsistency{Consistency::approximate, WhyExact::not_exact}));
  EXPECT_EQ(of(199), (EffectiveConsistency{Consistency::exact, WhyExact::brief}));
}

TEST(LargestSlice, IsHalfOfTheLimit) {
  EXPECT_EQ(largest_slice(*Limit::fixed_window({.limit = 99, .window = 1s})), 49U);
  EXPECT_EQ(largest_slice(*Limit::gcra({.rate = {1, 1s}, .burst = 8})), 4U);
}

}  // namespace
}  // namespace weir::policy
