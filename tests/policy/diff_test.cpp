// Tests the output of diff(): each test compares two policies.
#include <gtest/gtest.h>

#include "policy/tools/diff.h"
#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

// One limit with a replaceable part.
std::string between_limits(const std::string& before, const std::string& after) {
  return between(policy_of({"name: a, " + before}), policy_of({"name: a, " + after}));
}

std::string between_fields(const std::string& before, const std::string& after) {
  const std::string rest = "consumer_key: ip, algorithm: gcra, rate: 10/s";
  return between_limits(rest + before, rest + after);
}

std::string between_tiers(const std::string& before, const std::string& after) {
  const std::string head = "version: 1\ntiers: { from: { header: X-Plan }, default: free }\nlimits:\n";
  const std::string limit =
      "- { name: api-by-user, consumer_key: user, algorithm: token_bucket, rate: 100/min, burst: 20, "
      "tier_overrides: ";
  return between(head + limit + before + " }\n", head + limit + after + " }\n");
}

TEST(Diff, SaysThatNothingChanges) {
  EXPECT_EQ(between_fields("", ""), "no changes\n");
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: gcra, rate: 60/min, burst: 5",
                           "consumer_key: ip, algorithm: gcra, capacity: 5, refill_rate: 1"),
            "no changes\n");
}

TEST(Diff, ComparesTheNumbersOfEachTier) {
  EXPECT_EQ(between_tiers("{ pro: { rate: 1000/min, burst: 100 } }", "{ pro: { rate: 500/min, burst: 100 } }"),
            "api-by-user: pro 1000/min -> 500/min (tighter)\n");
  EXPECT_EQ(between_tiers("{ pro: { burst: 100 } }", "{ pro: { burst: 200 } }"),
            "api-by-user: pro burst 100 -> burst 200 (looser)\n");
  EXPECT_EQ(between_tiers("{ pro: { rate: 1000/min, burst: 100 } }", "{ pro: { rate: 500/min, burst: 200 } }"),
            "api-by-user: pro 1000/min, burst 100 -> 500/min, burst 200 (different)\n");
  EXPECT_EQ(between_tiers("{ pro: { rate: 1000/min } }", "{ pro: unlimited }"),
            "api-by-user: pro 1000/min, burst 20 -> unlimited (looser)\n");
}

TEST(Diff, ABanIsTighterThanAnyNumbers) {
  EXPECT_EQ(between_tiers("{ pro: { rate: 1000/min, burst: 100 } }", "{ pro: banned }"),
            "api-by-user: pro 1000/min, burst 100 -> banned (tighter)\n");
  EXPECT_EQ(between_tiers("{ pro: banned }", "{ pro: unlimited }"), "api-by-user: pro banned -> unlimited (looser)\n");
  EXPECT_EQ(between_tiers("{ pro: banned }", "{ pro: { rate: 0 } }"), "no changes\n");
  EXPECT_EQ(between("version: 1\nlimits: []\n", policy_of({"name: a, routes: [/x], consumer_key: ip, rate: 0"})),
            "a: added, banned by ip on /x (tighter)\n");
}

TEST(Diff, ShowsNumbersAsTheyWereWritten) {
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: gcra, rate: 300/min, burst: 5",
                           "consumer_key: ip, algorithm: gcra, rate: 600/min, burst: 5"),
            "a: 300/min -> 600/min (looser)\n");
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: gcra, rate: 300/min, burst: 5",
                           "consumer_key: ip, algorithm: gcra, capacity: 5, refill_rate: 0.25"),
            "a: 300/min -> 0.25/s (tighter)\n");
}

TEST(Diff, FindsALimitAgainWhoseNameAndSpellingHaveChanged) {
  EXPECT_EQ(between(policy_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 60/min, burst: 5"}),
                    policy_of({"name: b, consumer_key: ip, algorithm: gcra, rate: 1/s, burst: 5"})),
            "b: renamed from 'a', counters restart\n");
}

TEST(Diff, ATierThatIsNewHadTheNumbersOfTheDefault) {
  EXPECT_EQ(between_tiers("{ pro: { burst: 100 } }", "{ pro: { burst: 100 }, max: { rate: 1000/min } }"),
            "tiers: max added\n"
            "api-by-user: max 100/min -> 1000/min (looser)\n");
}

TEST(Diff, NamesNoTierWhereAllChangeAlike) {
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: gcra, rate: 60/min, burst: 5",
                           "consumer_key: ip, algorithm: gcra, rate: 61/min, burst: 5"),
            "a: 60/min -> 61/min (looser)\n");
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: gcra, rate: 100/min, burst: 5",
                           "consumer_key: ip, algorithm: gcra, rate: 2/s, burst: 5"),
            "a: 100/min -> 2/s (looser)\n");
}

TEST(Diff, SaysWhatAnotherAlgorithmMeans) {
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: fixed_window, rate: 10/min",
                           "consumer_key: ip, algorithm: sliding_window_counter, rate: 10/min"),
            "a: fixed_window 10/min -> sliding_window_counter 10/min, counters restart (tighter)\n");
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: token_bucket, rate: 10/min",
                           "consumer_key: ip, algorithm: gcra, rate: 10/min"),
            "a: token_bucket 10/min, burst 10 -> gcra 10/min, burst 10, counters restart\n");
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: leaky_bucket, rate: 10/min, burst: 6",
                           "consumer_key: ip, algorithm: leaky_bucket, rate: 10/min, queue: 5"),
            "a: leaky_bucket 10/min, burst 6 -> leaky_bucket 10/min, queue 5, counters restart (tighter)\n");
  EXPECT_EQ(between_limits("consumer_key: ip, algorithm: fixed_window, rate: 10/min",
                           "consumer_key: ip, algorithm: fixed_window, rate: 10/h"),
            "a: 10/min -> 10/h, counters restart (tighter)\n");
}

TEST(Diff, TellsLimitsThatCameAndWent) {
  const std::string by_ip =
      "name: by-ip, routes: [POST /login], when: anonymous, consumer_key: ip, algorithm: gcra, rate: 10/s";
  const std::string all = "name: all, consumer_key: global, algorithm: fixed_window, rate: 1000/s";
  EXPECT_EQ(between(policy_of({by_ip}), policy_of({by_ip, all})),
            "all: added, fixed_window 1000/s by global on every request (tighter)\n");
  EXPECT_EQ(between(policy_of({by_ip, all}), policy_of({all})),
            "by-ip: removed, gcra 10/s, burst 10 by ip on POST /login when anonymous (looser)\n");
  EXPECT_EQ(between(policy_of({by_ip}), policy_of({by_ip, all + ", mode: shadow"})),
            "all: added, fixed_window 1000/s by global on every request, mode: shadow\n");
}

TEST(Diff, KnowsALimitUnderANewName) {
  EXPECT_EQ(between(policy_of({"name: old, consumer_key: ip, algorithm: gcra, rate: 10/s"}),
                    policy_of({"name: new, consumer_key: ip, algorithm: gcra, rate: 10/s"})),
            "new: renamed from 'old', counters restart\n");
  EXPECT_EQ(between(policy_of({"name: old, consumer_key: ip, algorithm: gcra, rate: 10/s"}),
                    policy_of({"name: new, consumer_key: ip, algorithm: gcra, rate: 10/s, cost: 2"})),
            "old: removed, gcra 10/s, burst 10 by ip on every request (looser)\n"
            "new: added, gcra 10/s, burst 10 by ip on every request (tighter)\n");
}

TEST(Diff, ComparesRoutes) {
  EXPECT_EQ(between_fields(", routes: [GET /a]", ", routes: [GET /a, GET /b]"), "a: GET /b now covered (tighter)\n");
  EXPECT_EQ(between_fields(", routes: [GET /a, GET /b]", ", routes: [GET /a]"),
            "a: GET /b no longer covered (looser)\n");
  EXPECT_EQ(between_fields(", routes: [GET /a]", ""), "a: GET /a -> every request (tighter)\n");
  EXPECT_EQ(between_fields("", ", routes: [GET /a]"), "a: every request -> GET /a (looser)\n");
  EXPECT_EQ(between_fields(", routes: [GET /a]", ", routes: [/a]"),
            "a: /a now covered (tighter)\na: GET /a no longer listed, still covered\n");
  EXPECT_EQ(between_fields(", routes: [/api/**]", ", routes: [/api/**, /api/x]"),
            "a: /api/x now listed, covered before\n");
}

TEST(Diff, ARouteThatIsPartOfTheKeySplitsCounters) {
  EXPECT_EQ(between_limits("consumer_key: ip+route, algorithm: gcra, rate: 10/s, routes: [/api/**]",
                           "consumer_key: ip+route, algorithm: gcra, rate: 10/s, routes: [/api/**, /api/x]"),
            "a: /api/x now listed, covered before (different)\n");
}

TEST(Diff, ComparesWhen) {
  EXPECT_EQ(between_fields("", ", when: anonymous"), "a: when always -> anonymous (looser)\n");
  EXPECT_EQ(between_fields(", when: anonymous", ""), "a: when anonymous -> always (tighter)\n");
  EXPECT_EQ(between_fields(", when: anonymous", ", when: authenticated"),
            "a: when anonymous -> authenticated (different)\n");
  EXPECT_EQ(between_fields(", when: { ip_in: [10.1.0.0/16] }", ", when: { ip_in: [10.0.0.0/8] }"),
            "a: when { ip_in: [10.1.0.0/16] } -> { ip_in: [10.0.0.0/8] } (tighter)\n");
  EXPECT_EQ(between_fields(", when: { ip_not_in: [10.1.0.0/16] }", ", when: { ip_not_in: [10.0.0.0/8] }"),
            "a: when { ip_not_in: [10.1.0.0/16] } -> { ip_not_in: [10.0.0.0/8] } (looser)\n");
}

TEST(Diff, ComparesKeys) {
  const std::string rest = ", algorithm: gcra, rate: 10/s";
  const auto keys = [&](const std::string& before, const std::string& after) {
    return between_limits("consumer_key: " + before + rest, "consumer_key: " + after + rest);
  };
  EXPECT_EQ(keys("ip", "global"), "a: consumer_key ip -> global, counters restart (tighter)\n");
  EXPECT_EQ(keys("ip", "ip+route"), "a: consumer_key ip -> ip+route, counters restart (looser)\n");
  EXPECT_EQ(keys("user", "ip"), "a: consumer_key user -> ip, counters restart (different)\n");
  EXPECT_EQ(keys("'header:x-a'", "global"), "a: consumer_key header:x-a -> global, counters restart (tighter)\n");
  EXPECT_EQ(keys("user, missing: deny", "global, missing: deny"),
            "a: consumer_key user -> global, counters restart (different)\n");
}

TEST(Diff, ComparesWhatHappensWithoutAKey) {
  const std::string rest = "consumer_key: user, algorithm: gcra, rate: 10/s, missing: ";
  EXPECT_EQ(between_limits(rest + "skip", rest + "share"), "a: missing skip -> share (tighter)\n");
  EXPECT_EQ(between_limits(rest + "deny", rest + "share"), "a: missing deny -> share (looser)\n");
  EXPECT_EQ(between_fields(", missing: skip", ", missing: deny"), "a: missing skip -> deny\n");
}

TEST(Diff, ComparesCosts) {
  EXPECT_EQ(between_fields(", cost: 1", ", cost: 2"), "a: cost 1 -> 2 (tighter)\n");
  EXPECT_EQ(between_fields("", ", cost: 2"), "a: cost set by the caller -> 2 (different)\n");
  EXPECT_EQ(between_fields(", cost: 1", ""), "a: cost 1 -> set by the caller (different)\n");
  EXPECT_EQ(between_fields(", cost: { POST /x: 5 }", ", cost: { POST /x: 3 }"), "a: cost of POST /x 5 -> 3 (looser)\n");
  EXPECT_EQ(between_fields("", ", cost: { POST /x: 5 }"),
            "a: cost set by the caller -> 1 (different)\na: cost of POST /x 1 -> 5 (tighter)\n");
  EXPECT_EQ(between_fields(", cost: { /x/**: 5 }", ", cost: { /x/**: 5, /x/y: 2 }"),
            "a: cost of /x/y 5 -> 2 (looser)\n");
  EXPECT_EQ(between_fields("", ", cost: 'header:X-Cost'"), "a: cost from no header -> header:x-cost (different)\n");
  EXPECT_EQ(between_fields(", cost: 'header:X-Cost', max_cost: 5", ", cost: 'header:X-Cost', max_cost: 6"),
            "a: max_cost 5 -> 6 (tighter)\n");
}

TEST(Diff, AMaxCostThatFollowsTheBurstIsNotToldTwice) {
  EXPECT_EQ(between_fields(", burst: 10, cost: 'header:X-Cost'", ", burst: 20, cost: 'header:X-Cost'"),
            "a: burst 10 -> burst 20 (looser)\n");
}

TEST(Diff, ComparesModes) {
  EXPECT_EQ(between_fields("", ", mode: shadow"), "a: no longer enforced, mode: shadow (looser)\n");
  EXPECT_EQ(between_fields(", mode: shadow, burst: 10", ", burst: 20"),
            "a: now enforced (tighter)\na: burst 10 -> burst 20\n");
  EXPECT_EQ(between_fields(", mode: shadow, burst: 20", ", mode: shadow, burst: 10"), "a: burst 20 -> burst 10\n");
}

TEST(Diff, ComparesResponses) {
  const std::string penalty = ", penalty: { after: 5, within: 1min, block: 10min }";
  EXPECT_EQ(between_fields("", penalty), "a: penalty none -> after 5 in 1 min for 10 min (tighter)\n");
  EXPECT_EQ(between_fields(penalty, ", penalty: { after: 6, within: 1min, block: 5min }"),
            "a: penalty after 5 in 1 min for 10 min -> after 6 in 1 min for 5 min (looser)\n");
  EXPECT_EQ(between_fields(penalty, ", penalty: { after: 6, within: 1min, block: 1h }"),
            "a: penalty after 5 in 1 min for 10 min -> after 6 in 1 min for 1 h (different)\n");
  EXPECT_EQ(between_fields("", ", warn_first: { count: 3, per: 1h }"), "a: warn_first none -> 3 per 1 h (looser)\n");
}

TEST(Diff, ComparesOutages) {
  EXPECT_EQ(between_fields("", ", on_store_failure: closed"),
            "a: on_store_failure local -> closed, every request is denied while the store is unavailable (tighter)\n");
  EXPECT_EQ(between_fields(", local_share: 0.5", ", local_share: 0.25"), "a: local_share 0.5 -> 0.25 (tighter)\n");
  EXPECT_EQ(between_fields("", ", local_share: 0.25"), "a: local_share 1/nodes -> 0.25 (different)\n");
  EXPECT_EQ(between_fields("", ", local_share: 0.5"), "a: local_share 1/nodes -> 0.5 (looser)\n");
  EXPECT_EQ(between_fields(", local_share: 0.5", ""), "a: local_share 0.5 -> 1/nodes (tighter)\n");
}

TEST(Diff, SaysWhatAConsistencyMeans) {
  const std::string leased = ", consistency: leased";
  const std::string approximate = ", consistency: approximate";
  EXPECT_EQ(between_fields("", leased),
            "a: consistency exact -> leased for 1 s, never over the limit, and slightly under it while other nodes "
            "hold slices (tighter)\n");
  EXPECT_EQ(between_fields(leased, ""), "a: consistency leased for 1 s -> exact, never over the limit (looser)\n");
  EXPECT_EQ(between_fields("", approximate),
            "a: consistency exact -> approximate every 100 ms, up to a quarter over the limit, and slightly under it "
            "while other nodes hold slices (different)\n");
  EXPECT_EQ(between_fields(leased, ", consistency: { leased: { lease: 5s } }"),
            "a: consistency leased for 1 s -> leased for 5 s, nodes hold unused slices longer (tighter)\n");
  EXPECT_EQ(between_fields(leased, ", consistency: { leased: { lease: 500ms } }"),
            "a: consistency leased for 1 s -> leased for 500 ms, nodes return unused slices sooner (looser)\n");
  EXPECT_EQ(between_fields(approximate, ", consistency: { approximate: { sync: 1s } }"),
            "a: consistency approximate every 100 ms -> approximate every 1 s, nodes exchange counts less often "
            "(different)\n");
  EXPECT_EQ(between_fields(leased, ", consistency: { leased: { lease: 1s } }"), "no changes\n");
}

TEST(Diff, CandidatesChangeNothing) {
  EXPECT_EQ(between_fields("", ", candidate: { rate: 5/s, burst: 5 }"), "a: candidate gcra 5/s, burst 5 added\n");
  EXPECT_EQ(between_fields(", candidate: { rate: 5/s, burst: 5 }", ", candidate: { rate: 4/s, burst: 5 }"),
            "a: candidate 5/s -> 4/s\n");
  EXPECT_EQ(between_fields(", candidate: { rate: 5/s, burst: 5 }", ""), "a: candidate gcra 5/s, burst 5 removed\n");
}

}  // namespace
}  // namespace weir::policy
