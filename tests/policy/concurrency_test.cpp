// Tests concurrency limits and `usage`: compiled, formatted, compared and linted.
#include <gtest/gtest.h>

#include "policy/tools/strictness.h"
#include "policy/words.h"
#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

using namespace std::chrono_literals;

const std::string held = "consumer_key: user, missing: deny, algorithm: concurrency, ";

std::string between_held(const std::string& before, const std::string& after) {
  return between(policy_of({"name: a, " + held + before}), policy_of({"name: a, " + held + after}));
}

Limit at_most(std::uint64_t limit, Duration lease = 60s) {
  return Limit::concurrency({limit, lease}).value();
}

TEST(Concurrency, HasALimitAndALease) {
  const auto ruleset = loaded(policy_of({"name: a, " + held + "limit: 5", "name: b, " + held + "limit: 5, lease: 2h",
                                         "name: c, " + held + "limit: 4096, lease: 7day, cost: 2"}));
  ASSERT_NE(ruleset, nullptr);
  EXPECT_EQ(ruleset->limits[0].live.by_tier[0], at_most(5));
  EXPECT_EQ(ruleset->limits[1].live.by_tier[0], at_most(5, 2h));
  EXPECT_EQ(ruleset->limits[2].live.by_tier[0], at_most(4096, 24h * 7));
  EXPECT_EQ(ruleset->limits[2].cost.fixed, Cost{2});
  for (const CompiledLimit& limit : ruleset->limits) EXPECT_TRUE(limit.cost.is_written) << limit.name;
}

TEST(Concurrency, TiersAndCandidatesInheritWhatTheyDoNotSay) {
  const auto ruleset = loaded("version: 1\ntiers: { from: { header: X-Plan } }\nlimits:\n- { name: a, " + held +
                              "limit: 5, lease: 10s, tier_overrides: { pro: { limit: 50 }, slow: { lease: 5min } }, "
                              "candidate: { limit: 3 } }\n");
  ASSERT_NE(ruleset, nullptr);
  const CompiledLimit& limit = ruleset->limits[0];
  const auto tier = [&](const TieredLimit& limits, std::string_view name) {
    return limits.by_tier[*ruleset->tiers.find(name)];
  };
  EXPECT_EQ(tier(limit.live, "pro"), at_most(50, 10s));
  EXPECT_EQ(tier(limit.live, "slow"), at_most(5, 5min));
  EXPECT_EQ(tier(*limit.candidate, "default"), at_most(3, 10s));
  EXPECT_EQ(tier(*limit.candidate, "pro"), at_most(50, 10s));
  EXPECT_EQ(tier(*limit.candidate, "slow"), at_most(3, 5min));
}

TEST(Concurrency, IsToldInWordsOfItsOwn) {
  EXPECT_EQ(numbers_text(at_most(5)), "at most 5 at once, each for at most 60 s");
  EXPECT_EQ(numbers_text(at_most(1, 90s)), "at most 1 at once, each for at most 90 s");
  EXPECT_EQ(numbers_text(at_most(5, 2h)), "at most 5 at once, each for at most 2 h");
  EXPECT_EQ(numbers_text(at_most(5, 500ms)), "at most 5 at once, each for at most 500 ms");
  EXPECT_EQ(rate_text(at_most(5)), "at most 5 at once");
  const auto ruleset = loaded(policy_of({"name: a, routes: [POST /jobs], " + held + "limit: 5"}));
  EXPECT_EQ(ruleset_lines(*ruleset),
            Lines{"a: POST /jobs: concurrency at most 5 at once, each for at most 60 s by user"});
}

TEST(Concurrency, DiffersByLimitAndLeaseAndKeepsItsHolds) {
  EXPECT_EQ(between_held("limit: 5", "limit: 8"), "a: at most 5 at once -> at most 8 at once (looser)\n");
  EXPECT_EQ(between_held("limit: 5", "limit: 5, lease: 2h"),
            "a: each for at most 60 s -> each for at most 2 h (tighter)\n");
  EXPECT_EQ(between_held("limit: 5", "limit: 8, lease: 2h"),
            "a: at most 5 at once, each for at most 60 s -> at most 8 at once, each for at most 2 h (different)\n");
  EXPECT_EQ(between_held("limit: 5", "limit: 5, cost: 2"), "a: cost 1 -> 2 (tighter)\n");
  EXPECT_EQ(between_held("limit: 5", "limit: 5, candidate: { limit: 3 }"),
            "a: candidate concurrency at most 3 at once, each for at most 60 s added\n");
  EXPECT_EQ(between(policy_of({"name: a, " + held + "limit: 5"}),
                    policy_of({"name: a, consumer_key: user, missing: deny, algorithm: fixed_window, rate: 5/min"})),
            "a: concurrency at most 5 at once, each for at most 60 s -> fixed_window 5/min, counters restart "
            "(different)\n");
}

TEST(Concurrency, IsStricterThanAnotherByLimitAndLeaseAndNeverThanARate) {
  EXPECT_TRUE(at_least_as_strict(at_most(5), at_most(5)));
  EXPECT_TRUE(at_least_as_strict(at_most(4), at_most(5)));
  EXPECT_TRUE(at_least_as_strict(at_most(5, 61s), at_most(5)));
  EXPECT_FALSE(at_least_as_strict(at_most(6), at_most(5)));
  EXPECT_FALSE(at_least_as_strict(at_most(4, 59s), at_most(5)));
  const Limit window = Limit::fixed_window({1, 1h}).value();
  EXPECT_FALSE(at_least_as_strict(window, at_most(5)));
  EXPECT_FALSE(at_least_as_strict(at_most(1), window));
}

TEST(Concurrency, NeverDecidesBehindATighterOne) {
  EXPECT_EQ(warnings_of({"name: a, " + held + "limit: 5", "name: b, " + held + "limit: 6"}),
            Lines{"4:11: 'b' never decides: 'a' (at most 5 at once, each for at most 60 s by user on every request) "
                  "always denies first; remove 'b', or make it stricter"});
  EXPECT_EQ(warnings_of({"name: a, " + held + "limit: 5", "name: b, " + held + "limit: 4"}),
            Lines{"3:11: 'a' never decides: 'b' (at most 4 at once, each for at most 60 s by user on every request) "
                  "always denies first; remove 'a', or make it stricter"});
}

const std::string tokens = "consumer_key: user, missing: deny, algorithm: token_bucket, rate: 1000/min, ";

TEST(Usage, LintSaysWhatItMeans) {
  EXPECT_EQ(warnings_of({"name: a, " + tokens + "usage: reported"}),
            Lines{"3:97: 'a' has 'usage: reported': nothing counts before it is reported, so callers can overspend by "
                  "everything in flight; add a concurrency limit on the same routes, or use 'usage: reserved'"});
  EXPECT_EQ(warnings_of({"name: a, " + tokens + "usage: reserved"}), Lines{});
}

TEST(Usage, ThatIsReportedIsBoundedByWhatIsHeld) {
  const std::string reported = "name: a, routes: [POST /chat], " + tokens + "usage: reported";
  EXPECT_EQ(warnings_of({reported, "name: b, " + held + "limit: 5"}), Lines{});
  EXPECT_EQ(warnings_of({reported, "name: b, routes: [POST /chat], " + held + "limit: 5"}), Lines{});
  EXPECT_EQ(warnings_of({reported, "name: b, routes: [POST /other], " + held + "limit: 5"}).size(), 1U);
  EXPECT_EQ(warnings_of({reported, "name: b, mode: shadow, " + held + "limit: 5"}).size(), 1U);
}

TEST(Usage, IsPartOfTheMeaningAndNeitherStricterNorLooser) {
  const std::string plain = policy_of({"name: a, " + tokens});
  const std::string reported = policy_of({"name: a, " + tokens + "usage: reported"});
  EXPECT_EQ(between(plain, reported), "a: usage any -> reported\n");
  EXPECT_EQ(between(reported, policy_of({"name: a, " + tokens + "usage: reserved"})),
            "a: usage reported -> reserved\n");
  EXPECT_NE(loaded(plain)->digest, loaded(reported)->digest);
}

// The maximum number of limits whose receipt fits, each with its own key.
Lines limits_with_own_keys(std::size_t count) {
  Lines limits{"name: a, routes: [POST /jobs], " + held + "limit: 5"};
  for (std::size_t i = 1; i < count; ++i) {
    limits.push_back(
        fmt::format("name: b{0}, routes: [POST /jobs], consumer_key: user+header:X-{0}, missing: deny, "
                    "algorithm: gcra, rate: {0}/s",
                    i));
  }
  return limits;
}

bool warns_of_size(const Lines& limits) {
  const auto is_it = [](const std::string& line) { return line.find("512 characters") != std::string::npos; };
  return std::ranges::any_of(warnings_of(limits), is_it);
}

TEST(Receipts, LintWarnsOfLimitsWhoseReceiptIsTooLarge) {
  EXPECT_FALSE(warns_of_size(limits_with_own_keys(7)));
  EXPECT_TRUE(warns_of_size(limits_with_own_keys(8)));
  Lines without_holds = limits_with_own_keys(12);
  without_holds.erase(without_holds.begin());
  EXPECT_FALSE(warns_of_size(without_holds));

  Lines of_one_key{"name: a, routes: [POST /jobs], " + held + "limit: 5"};
  for (int i = 1; i < 18; ++i) {
    of_one_key.push_back(fmt::format(
        "name: b{0}, routes: [POST /jobs], consumer_key: user, missing: deny, algorithm: fixed_window, rate: {0}/{0}s",
        i));
  }
  const Lines warnings = warnings_of(of_one_key);
  EXPECT_EQ(std::ranges::count(
                warnings,
                "3:11: 'a' is one of 18 limits that cover POST /jobs: the receipt of a reserve on all of them would "
                "exceed 512 characters, so the reserve is rejected; let fewer limits cover it (about ten fit)"),
            1);
}

TEST(Cost, ThatIsWrittenIsAnotherMeaningThanTheCallers) {
  const std::string one = "name: a, consumer_key: ip, algorithm: gcra, rate: 10/s";
  EXPECT_EQ(between(policy_of({one}), policy_of({one + ", cost: 1"})), "a: cost set by the caller -> 1 (different)\n");
  EXPECT_NE(loaded(policy_of({one}))->digest, loaded(policy_of({one + ", cost: 1"}))->digest);
  EXPECT_FALSE(loaded(policy_of({one}))->limits[0].cost.is_written);
}

}  // namespace
}  // namespace weir::policy
