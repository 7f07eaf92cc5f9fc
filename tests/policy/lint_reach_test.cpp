// Tests warnings about requests that no limit covers, and limits that never decide.
#include <gtest/gtest.h>

#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

// The example of the documentation. Its warning is intended: the keys are not verified. The header, which names the
// account under attack, has a limit by ip next to it.
constexpr std::string_view page_example = R"(version: 1
identity:
  trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]
  user:    { header: X-User-Id }
  api_key: { header: X-Api-Key }
  ip:      { ipv6_prefix: 64 }
tiers:
  from: { header: X-Plan }
  default: free
limits:
  - name: login-by-ip
    routes: [POST /login]
    when: anonymous
    consumer_key: ip
    algorithm: sliding_window_log
    rate: 10/min
  - name: login-by-account
    routes: [POST /login]
    consumer_key: header:X-Login-Name
    missing: share
    algorithm: sliding_window_counter
    rate: 20/h
    on_store_failure: closed
  - name: api-by-user
    routes: [/api/**]
    consumer_key: [user, api_key]
    algorithm: token_bucket
    rate: 100/min
    burst: 20
    cost: { POST /api/v1/search: 5 }
    tier_overrides:
      pro:        { rate: 1000/min, burst: 100 }
      enterprise: { rate: 10000/min, burst: 500 }
      internal:   unlimited
    candidate:
      algorithm: sliding_window_counter
      rate: 100/min
  - name: everyone
    consumer_key: global
    algorithm: gcra
    rate: 10000/min
    burst: 500
    consistency: leased
  - name: sms-gateway
    routes: [POST /sms]
    consumer_key: global
    algorithm: leaky_bucket
    rate: 10/s
    queue: 100
)";

TEST(Lint, SaysOneThingAboutTheExample) {
  EXPECT_EQ(problems_of(page_example),
            Lines{"26:19: 'api-by-user' is keyed by an unverified api_key: a client that sends a new key with each "
                  "request bypasses it; set 'verified: true' in identity.api_key if the proxy verifies keys, or add a "
                  "limit by ip on the same routes"});
}

const std::string star_message =
    "3:23: 'a' covers one segment with /api/*, and deeper paths bypass it: write /api/** to cover them, or {id} "
    "instead of * if one segment is meant";

std::string starred(const std::string& route) {
  return "name: a, routes: ['" + route + "'], consumer_key: ip, algorithm: gcra, rate: 1/s";
}

TEST(Lint, WarnsOfAStarThatCoversOneSegmentOnly) {
  EXPECT_EQ(warnings_of({starred("/api/*")}), Lines{star_message});
  EXPECT_EQ(warnings_of({starred("/*")}).size(), 1U);
  EXPECT_EQ(warnings_of({starred("POST /a/*/b/*")}).size(), 1U);
  // A catch-all limit does not count.
  for (const std::string other : {"", "routes: [/**], ", "routes: [/api], ", "routes: [/other/**], "}) {
    EXPECT_EQ(warnings_of({starred("/api/*"), "name: b, " + other + "consumer_key: ip, algorithm: gcra, rate: 10/h"}),
              Lines{star_message})
        << other;
  }
}

TEST(Lint, AcceptsAStarWhereDeeperPathsHaveALimitOrAParameterIsNamed) {
  for (const std::string route : {"/api/{id}", "/api/**", "/api/*/items", "/*/items"}) {
    EXPECT_EQ(warnings_of({starred(route)}), Lines{}) << route;
  }
  for (const std::string other : {"/api/**", "/api/*/items", "/api/things/{id}", "GET /api/**"}) {
    EXPECT_EQ(warnings_of({starred("/api/*"),
                           "name: b, routes: ['" + other + "'], consumer_key: ip, algorithm: gcra, rate: 10/h"}),
              Lines{})
        << other;
  }
}

const std::string me_by_user =
    "name: by-user, routes: [/api/**, GET /me], consumer_key: user, algorithm: gcra, rate: 10/s";

TEST(Lint, WarnsOfRoutesThatAMissingKeyLeavesUncovered) {
  EXPECT_EQ(warnings_of({me_by_user}),
            Lines{"3:62: 'by-user' does not cover requests without user, and no other limit covers them on /api/** and "
                  "GET /me: set 'missing: share' or 'missing: deny', or add a limit by ip"});
  EXPECT_EQ(
      warnings_of({"name: a, consumer_key: user+ip, missing: skip, algorithm: gcra, rate: 10/s"}),
      Lines{"3:46: 'a' does not cover requests without user, and no other limit covers them on every request: set "
            "'missing: share' or 'missing: deny', or add a limit by ip"});
}

TEST(Lint, NamesOnlyTheRoutesThatAreLeftUncovered) {
  EXPECT_EQ(
      warnings_of(
          {me_by_user, "name: b, routes: [/me], when: anonymous, consumer_key: ip, algorithm: gcra, rate: 1/s"}),
      Lines{"3:62: 'by-user' does not cover requests without user, and no other limit covers them on /api/**: set "
            "'missing: share' or 'missing: deny', or add a limit by ip"});
}

TEST(Lint, AcceptsAMissingKeyThatAnotherLimitAnswersFor) {
  for (const std::string other : {
           "when: anonymous, consumer_key: ip, algorithm: gcra, rate: 1/s",
           "consumer_key: global, algorithm: gcra, rate: 1000/s",
           "routes: [/**], consumer_key: [user, ip], algorithm: gcra, rate: 1/s",
       }) {
    EXPECT_EQ(warnings_of({me_by_user, "name: b, " + other}), Lines{}) << other;
  }
  EXPECT_EQ(warnings_of({me_by_user + ", missing: share"}), Lines{});
  EXPECT_EQ(warnings_of({me_by_user + ", when: authenticated"}), Lines{});
}

TEST(Lint, WarnsWhenTheOtherLimitDoesNotAnswerForAllOfThem) {
  for (const std::string other : {
           "mode: shadow, consumer_key: global, algorithm: gcra, rate: 1000/s",
           "when: authenticated, consumer_key: user, algorithm: gcra, rate: 1/s",
           "when: { ip_in: [10.0.0.0/8] }, consumer_key: global, algorithm: gcra, rate: 1000/s",
           "routes: [GET /api/**], consumer_key: global, algorithm: gcra, rate: 1000/s",
       }) {
    EXPECT_EQ(warnings_of({me_by_user, "name: b, " + other}).size(), 1U) << other;
  }
}

Lines never(const std::string& place, const std::string& name, const std::string& first) {
  return {place + ": '" + name + "' never decides: " + first + " always denies first; remove '" + name +
          "', or make it stricter"};
}

TEST(Lint, WarnsOfALimitThatAnotherMakesUnreachable) {
  const std::string tight = "name: tight, consumer_key: global, algorithm: gcra, rate: 10/s, burst: 10";
  const std::string first = "'tight' (10/s, burst 10 by global on every request)";
  EXPECT_EQ(warnings_of({tight, "name: a, routes: [/x], consumer_key: ip, algorithm: token_bucket, rate: 11/s"}),
            never("4:11", "a", first));
  // 10 at once and 599 more within a minute.
  EXPECT_EQ(warnings_of({tight, "name: a, consumer_key: ip, algorithm: fixed_window, rate: 609/min"}),
            never("4:11", "a", first));
  EXPECT_EQ(warnings_of({"name: a, consumer_key: ip+route, algorithm: gcra, rate: 20/s",
                         "name: tight, consumer_key: ip, algorithm: gcra, rate: 10/s"}),
            never("3:11", "a", "'tight' (10/s, burst 10 by ip on every request)"));
}

TEST(Lint, AcceptsALimitThatMayDenyFirst) {
  const std::string tight = "name: tight, consumer_key: global, algorithm: gcra, rate: 10/s, burst: 10";
  for (const std::string other : {
           "consumer_key: ip, algorithm: gcra, rate: 9/s, burst: 11",
           "consumer_key: ip, algorithm: gcra, rate: 11/s, burst: 9",
           "consumer_key: ip, algorithm: fixed_window, rate: 608/min",
           "consumer_key: ip, algorithm: gcra, rate: 20/s, cost: 2",
           "consumer_key: ip, algorithm: gcra, rate: 20/s, on_store_failure: closed",
           "consumer_key: 'header:x-a', missing: deny, algorithm: gcra, rate: 20/s",
           "consumer_key: global, algorithm: leaky_bucket, rate: 20/s, queue: 100",
       }) {
    const Lines warnings = warnings_of({tight, "name: a, " + other});
    EXPECT_TRUE(warnings.empty() || warnings.front().find("never decides") == std::string::npos) << other;
  }
  EXPECT_EQ(warnings_of({tight + ", routes: [/x]", "name: a, consumer_key: global, algorithm: gcra, rate: 20/s"}),
            Lines{});
  EXPECT_EQ(warnings_of({tight + ", mode: shadow", "name: a, consumer_key: global, algorithm: gcra, rate: 20/s"}),
            Lines{});
  EXPECT_EQ(warnings_of({tight + ", warn_first: { count: 1, per: 1h }",
                         "name: a, consumer_key: global, algorithm: gcra, rate: 20/s"}),
            Lines{});
}

TEST(Lint, KeepsTheFirstOfTwoThatAreAlike) {
  EXPECT_EQ(warnings_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 10/s",
                         "name: b, consumer_key: ip, algorithm: token_bucket, rate: 600/min, burst: 10"}),
            never("4:11", "b", "'a' (10/s, burst 10 by ip on every request)"));
}

TEST(Lint, WarnsOfALimitThatCoversNobody) {
  EXPECT_EQ(
      warnings_of({"name: a, when: anonymous, consumer_key: user, algorithm: gcra, rate: 10/s"}),
      Lines{"3:45: 'a' never matches: with 'when: anonymous' a request has no user; change 'when' or consumer_key"});
  EXPECT_EQ(warnings_of({"name: a, when: anonymous, consumer_key: [user, ip], algorithm: gcra, rate: 10/s"}), Lines{});
}

TEST(Lint, IsQuickOnManyLimits) {
  Lines limits;
  for (int i = 0; i < 5000; ++i) {
    const std::string n = std::to_string(i);
    limits.push_back("name: a" + n + ", routes: ['GET /v1/{tenant}/r" + n +
                     "'], consumer_key: user, missing: deny, algorithm: gcra, rate: 10/s");
  }
  EXPECT_EQ(warnings_of(limits), Lines{});
}

}  // namespace
}  // namespace weir::policy
