// Tests compiled policies: numbers of each tier, defaults and inheritance.
#include "policy/compile/compile.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/load.h"

namespace weir::policy {
namespace {

using Lines = std::vector<std::string>;

// Fields of one limit in flow style, after name and consumer_key.
Loaded load_limit(const std::string& fields, const std::string& tiers = "{ from: { header: X-Plan }, default: free }") {
  return load_text("version: 1\ntiers: " + tiers + "\nlimits:\n  - { name: api, consumer_key: user, " + fields + " }\n",
                   "p");
}

CompiledLimit compiled(const std::string& fields) {
  const Loaded loaded = load_limit(fields);
  for (const Problem& problem : loaded.problems) EXPECT_EQ(problem.severity, Severity::warning) << problem.text();
  return loaded.ruleset == nullptr ? CompiledLimit{} : loaded.ruleset->limits.at(0);
}

// `algorithm capacity rate.count/rate.per in microseconds` for each tier.
Lines numbers_of(const TieredLimit& limits) {
  Lines lines;
  for (std::size_t tier = 0; tier < limits.by_tier.size(); ++tier) {
    const auto& limit = limits.by_tier[tier];
    lines.push_back(limits.bans(tier) ? "banned"
                    : !limit
                        ? "unlimited"
                        : std::string(name_of(limit->algorithm())) + " " + std::to_string(limit->capacity()) + " " +
                              std::to_string(limit->rate().count) + "/" + std::to_string(limit->rate().per.count()));
  }
  return lines;
}

Lines live(const std::string& fields) {
  return numbers_of(compiled(fields).live);
}

Lines candidate(const std::string& fields) {
  const auto limit = compiled(fields);
  return limit.candidate ? numbers_of(*limit.candidate) : Lines{"none"};
}

TEST(Numbers, HaveTwoSpellingsOfOneMeaning) {
  EXPECT_EQ(live("algorithm: token_bucket, rate: 3/min, burst: 4"), Lines{"token_bucket 4 1/20000000"});
  EXPECT_EQ(live("algorithm: token_bucket, refill_rate: 0.05, capacity: 4"), Lines{"token_bucket 4 1/20000000"});
  EXPECT_EQ(live("algorithm: leaky_bucket, rate: 5/2s, burst: 4"), Lines{"leaky_bucket_meter 4 1/400000"});
  EXPECT_EQ(live("algorithm: leaky_bucket, leak_rate: 2.5, capacity: 4"), Lines{"leaky_bucket_meter 4 1/400000"});
  EXPECT_EQ(live("algorithm: leaky_bucket, leak_rate: 2.5, queue: 4"), Lines{"leaky_bucket_queue 5 1/400000"});
  EXPECT_EQ(live("algorithm: sliding_window, rate: 6000/2min"), Lines{"sliding_window_counter 6000 6000/120000000"});
  EXPECT_EQ(live("algorithm: sliding_window, limit: 6000, window_seconds: 120"),
            Lines{"sliding_window_counter 6000 6000/120000000"});
}

TEST(Ban, AdmitsNothingAndNeedsNoAlgorithm) {
  EXPECT_EQ(live("rate: 0"), Lines{"banned"});
  EXPECT_EQ(live("rate: 0, algorithm: leaky_bucket"), Lines{"banned"});
  EXPECT_EQ(compiled("algorithm: gcra, rate: 1/s").live.banned, std::vector<bool>{});
}

TEST(Ban, IsForATierOrSparesOne) {
  EXPECT_EQ(live("algorithm: gcra, rate: 1/s, tier_overrides: { abuser: banned, worse: { rate: 0 }, pro: unlimited }"),
            (Lines{"gcra 1 1/1000000", "banned", "banned", "unlimited"}));
  EXPECT_EQ(live("algorithm: gcra, rate: 0, tier_overrides: { pro: { rate: 1/s, burst: 5 }, max: unlimited }"),
            (Lines{"banned", "gcra 5 1/1000000", "unlimited"}));
}

TEST(Ban, HoldsForTheCandidateToo) {
  EXPECT_EQ(candidate("algorithm: gcra, rate: 1/s, tier_overrides: { abuser: banned }, candidate: { rate: 2/s }"),
            (Lines{"gcra 2 1/500000", "banned"}));
  EXPECT_EQ(candidate("algorithm: gcra, rate: 1/s, tier_overrides: { abuser: banned }, "
                      "candidate: { rate: 2/s, tier_overrides: { pro: { rate: 3/s } } }"),
            (Lines{"gcra 2 1/500000", "banned", "gcra 3 3/1000000"}));
}

TEST(Ban, SparesTiersThatAreAllQueuesOrNone) {
  EXPECT_EQ(live("algorithm: leaky_bucket, rate: 0, tier_overrides: { a: { rate: 1/s, queue: 2 } }"),
            (Lines{"banned", "leaky_bucket_queue 3 1/1000000"}));
  const Loaded mixed = load_limit(
      "algorithm: leaky_bucket, rate: 0, tier_overrides: { a: { rate: 1/s, queue: 2 }, b: { rate: 1/s, burst: 2 } }");
  ASSERT_EQ(mixed.ruleset, nullptr);
  EXPECT_EQ(mixed.problems.at(0).message, "tier 'b': the limit has a queue, so every tier must have one: write queue");
}

TEST(Burst, IsByDefaultTheCountOfTheRateAndOneForAMeter) {
  EXPECT_EQ(live("algorithm: token_bucket, rate: 100/min"), Lines{"token_bucket 100 1/600000"});
  EXPECT_EQ(live("algorithm: gcra, rate: 60/min"), Lines{"gcra 60 1/1000000"});
  EXPECT_EQ(live("algorithm: gcra, rate: 7/3s"), Lines{"gcra 7 7/3000000"});
  EXPECT_EQ(live("algorithm: leaky_bucket, rate: 10/s"), Lines{"leaky_bucket_meter 1 1/100000"});
  EXPECT_EQ(live("algorithm: leaky_bucket, rate: 10/s, queue: 0"), Lines{"leaky_bucket_queue 1 1/100000"});
}

TEST(Tier, InheritsWhatItDoesNotSay) {
  EXPECT_EQ(live("algorithm: gcra, rate: 10/s, burst: 20, tier_overrides: { a: { burst: 30 }, b: { rate: 20/s } }"),
            (Lines{"gcra 20 1/100000", "gcra 30 1/100000", "gcra 20 1/50000"}));
  // Without a burst in the limit, the default follows the rate of the tier.
  EXPECT_EQ(live("algorithm: gcra, rate: 10/s, tier_overrides: { a: { rate: 20/s } }"),
            (Lines{"gcra 10 1/100000", "gcra 20 1/50000"}));
  EXPECT_EQ(
      live("algorithm: fixed_window, rate: 10/min, tier_overrides: { a: { limit: 20 }, b: { window_seconds: 1 } }"),
      (Lines{"fixed_window 10 10/60000000", "fixed_window 20 20/60000000", "fixed_window 10 10/1000000"}));
  EXPECT_EQ(
      live("algorithm: leaky_bucket, rate: 10/s, queue: 4, tier_overrides: { a: { rate: 20/s }, b: { queue: 9 } }"),
      (Lines{"leaky_bucket_queue 5 1/100000", "leaky_bucket_queue 5 1/50000", "leaky_bucket_queue 10 1/100000"}));
  EXPECT_EQ(
      live("algorithm: gcra, rate: 10/s, burst: 9, tier_overrides: { a: { refill_rate: 0.5 }, b: { capacity: 5 } }"),
      (Lines{"gcra 9 1/100000", "gcra 9 1/2000000", "gcra 5 1/100000"}));
}

TEST(Tier, MayBeUnlimitedAlsoTheDefault) {
  EXPECT_EQ(live("algorithm: gcra, rate: 10/s, tier_overrides: { a: unlimited, free: { burst: 1 } }"),
            (Lines{"gcra 1 1/100000", "unlimited"}));
  EXPECT_EQ(live("algorithm: gcra, rate: 10/s, tier_overrides: { free: unlimited }"), Lines{"unlimited"});
}

TEST(Tiers, AreTheDefaultThenAsMentionedOrAsListed) {
  const std::string overrides = "algorithm: gcra, rate: 10/s, tier_overrides: { b: unlimited, a: unlimited }";
  EXPECT_EQ(load_limit(overrides).ruleset->tiers.names, (Lines{"free", "b", "a"}));
  const auto listed = load_limit(overrides, "{ default: free, names: [a, b, free, c] }");
  EXPECT_EQ(listed.ruleset->tiers.names, (Lines{"free", "a", "b", "c"}));
  EXPECT_EQ(listed.ruleset->tiers.find("b"), 2U);
  EXPECT_EQ(listed.ruleset->tiers.find("d"), std::nullopt);
  EXPECT_EQ(load_limit("algorithm: gcra, rate: 10/s", "{}").ruleset->tiers.names, Lines{"default"});
}

TEST(Candidate, InheritsNumbersThatItsAlgorithmHas) {
  EXPECT_EQ(candidate("algorithm: token_bucket, rate: 100/min, burst: 20, candidate: { algorithm: sliding_window }"),
            Lines{"sliding_window_counter 100 100/60000000"});
  EXPECT_EQ(candidate("algorithm: fixed_window, rate: 100/min, candidate: { algorithm: gcra }"),
            Lines{"gcra 100 1/600000"});
  EXPECT_EQ(candidate("algorithm: token_bucket, rate: 100/min, burst: 20, candidate: { burst: 30 }"),
            Lines{"token_bucket 30 1/600000"});
  EXPECT_EQ(
      candidate("algorithm: token_bucket, rate: 10/s, burst: 20, candidate: { algorithm: leaky_bucket, queue: 3 }"),
      Lines{"leaky_bucket_queue 4 1/100000"});
  EXPECT_EQ(candidate("algorithm: leaky_bucket, rate: 10/s, queue: 3, candidate: { algorithm: gcra }"),
            Lines{"gcra 10 1/100000"});
  EXPECT_EQ(candidate("algorithm: leaky_bucket, rate: 10/s, queue: 3, candidate: { rate: 20/s }"),
            Lines{"leaky_bucket_queue 4 1/50000"});
  EXPECT_EQ(
      candidate("algorithm: leaky_bucket, leak_rate: 0.5, capacity: 3, candidate: { algorithm: gcra, capacity: 4 }"),
      Lines{"gcra 4 1/2000000"});
}

TEST(Candidate, InheritsTierOverridesUnlessItHasItsOwn) {
  const std::string bucket =
      "algorithm: token_bucket, rate: 100/min, burst: 20, "
      "tier_overrides: { a: { rate: 200/min, burst: 40 }, b: { burst: 50 }, c: unlimited }, ";
  EXPECT_EQ(candidate(bucket + "candidate: { algorithm: fixed_window }"),
            (Lines{"fixed_window 100 100/60000000", "fixed_window 200 200/60000000", "fixed_window 100 100/60000000",
                   "unlimited"}));
  EXPECT_EQ(candidate(bucket + "candidate: { rate: 50/min }"),
            (Lines{"token_bucket 20 1/1200000", "token_bucket 40 1/300000", "token_bucket 50 1/1200000", "unlimited"}));
  EXPECT_EQ(candidate(bucket + "candidate: { tier_overrides: { a: { burst: 60 } } }"),
            (Lines{"token_bucket 20 1/600000", "token_bucket 60 1/600000", "token_bucket 20 1/600000",
                   "token_bucket 20 1/600000"}));
  // A candidate without a queue inherits the rate of a queue's overrides, not the queue.
  EXPECT_EQ(candidate("algorithm: leaky_bucket, rate: 10/s, queue: 3, tier_overrides: { a: { rate: 20/s, queue: 9 } }, "
                      "candidate: { burst: 2 }"),
            (Lines{"leaky_bucket_meter 2 1/100000", "leaky_bucket_meter 2 1/50000"}));
}

TEST(Missing, IsShareWhereTheLastKeyHasAHeader) {
  const std::vector<std::pair<std::string, Missing>> rows{
      {"user", Missing::skip},
      {"header:X-A", Missing::share},
      {"[user, header:X-A]", Missing::share},
      {"[header:X-A, user]", Missing::skip},
      {"header:X-A+route", Missing::share},
      {"[user, ip]", Missing::skip},
  };
  for (const auto& [key, missing] : rows) {
    const auto loaded =
        load_text("version: 1\nlimits: [{ name: a, consumer_key: " + key + ", algorithm: gcra, rate: 1/s }]\n", "p");
    EXPECT_EQ(loaded.ruleset->limits.at(0).missing, missing) << key;
  }
}

TEST(HeaderCost, IsAtMostTheBurstOfTheTier) {
  const std::string fields =
      "algorithm: gcra, rate: 10/s, tier_overrides: { a: { burst: 30 }, b: unlimited }, cost: header:X-Cost";
  EXPECT_EQ(compiled(fields).cost.header->max_by_tier, (std::vector{Cost{10}, Cost{30}, Cost{1}}));
  EXPECT_EQ(compiled(fields + ", max_cost: 7").cost.header->max_by_tier, (std::vector{Cost{7}, Cost{7}, Cost{7}}));
  EXPECT_EQ(compiled(fields).cost.header->header, "x-cost");
}

TEST(ALimit, KeepsWhatItSays) {
  const auto limit = compiled(
      "algorithm: gcra, rate: 10/s, routes: [post /a/], when: { ip_in: [10.0.0.0/8] }, missing: deny, mode: shadow, "
      "warn_first: { count: 3, per: 1h }, penalty: { after: 5, within: 1min, block: 10min }, local_share: 0.25, "
      "consistency: leased");
  using namespace std::chrono_literals;
  EXPECT_EQ(limit.name, "api");
  EXPECT_EQ(limit.at, (Mark{4, 5}));
  EXPECT_EQ(limit.routes.at(0).text(), "POST /a");
  EXPECT_EQ(text_of(limit.when), "{ ip_in: [10.0.0.0/8] }");
  EXPECT_EQ(limit.missing, Missing::deny);
  EXPECT_EQ(limit.mode, Mode::shadow);
  EXPECT_EQ(limit.warn_first, (WarnFirst{3, 1h}));
  EXPECT_EQ(limit.penalty, (Penalty{5, 1min, 10min}));
  EXPECT_EQ(limit.local_share, 250'000U);
  EXPECT_EQ(limit.consistency.kind, Consistency::leased);
  EXPECT_FALSE(limit.by_descriptor());
}

TEST(Identity, HasDefaults) {
  const auto identity = load_text("version: 1\nlimits: []\n", "p").ruleset->identity;
  EXPECT_EQ(identity, Identity::defaults());
  ASSERT_EQ(identity.trusted_proxies.size(), 2U);
  EXPECT_EQ(identity.trusted_proxies[0].text(), "127.0.0.0/8");
  EXPECT_EQ(identity.trusted_proxies[1].text(), "::1");
}

TEST(TooMuch, IsRefused) {
  std::string names = "a0";
  std::string limits;
  for (int i = 1; i < 1'000; ++i) names += ", a" + std::to_string(i);
  for (int i = 0; i < 1'001; ++i) {
    limits += "  - { name: l" + std::to_string(i) + ", consumer_key: user, algorithm: gcra, rate: 1/s }\n";
  }
  const auto loaded = load_text("version: 1\ntiers: { default: a0, names: [" + names + "] }\nlimits:\n" + limits, "p");
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].text(),
            "p:1:1: too many limits: 1001 for 1000 tiers, at most 100000 limits and 1000000 limits times tiers");
}

}  // namespace
}  // namespace weir::policy
