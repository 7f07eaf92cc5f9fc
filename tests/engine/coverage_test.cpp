// The limits that cover a request, with their consumer and cost.
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

using CoverageTest = EngineTest;

TEST_F(CoverageTest, ConsumersAreCountedApart) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 2/min}]}");
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 3), 2);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.2"), 3), 2);
}

TEST_F(CoverageTest, FirstKeyPresentIsTheKey) {
  load("{version: 1, limits: [{name: a, consumer_key: [user, ip], algorithm: gcra, rate: 1/min}]}");
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1").by("alice"), 2), 1);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1").by("bob"), 2), 1);
  EXPECT_EQ(passing(Request::to("GET /").from("203.0.113.1"), 2), 1);
}

TEST_F(CoverageTest, UserNamedLikeAnAddressIsNotThatAddress) {
  load("{version: 1, limits: [{name: a, consumer_key: [user, ip], algorithm: gcra, rate: 1/min}]}");
  EXPECT_TRUE(passes(Request::to("GET /").from("203.0.113.1")));
  EXPECT_TRUE(passes(Request::to("GET /").from("203.0.113.9").by("203.0.113.1")));
}

TEST_F(CoverageTest, PartsOfAKeyCannotBeShiftedIntoEachOther) {
  load(R"(
version: 1
limits:
  - { name: a, consumer_key: "header:A+header:B", algorithm: gcra, rate: 1/min }
)");
  EXPECT_TRUE(passes(Request::to("GET /").with("A", "a_b").with("B", "c")));
  EXPECT_TRUE(passes(Request::to("GET /").with("A", "a").with("B", "b_c")));
  EXPECT_FALSE(passes(Request::to("GET /").with("A", "a").with("B", "b_c")));
}

TEST_F(CoverageTest, OneCounterSpansTheRoutesUnlessTheRouteIsInTheKey) {
  load(R"(
version: 1
limits:
  - { name: together, routes: [/a, /b], consumer_key: ip, algorithm: gcra, rate: 1/min }
  - { name: apart, routes: ["/c/{id}", /d], consumer_key: ip+route, algorithm: gcra, rate: 1/min }
)");
  EXPECT_TRUE(passes(Request::to("GET /a")));
  EXPECT_FALSE(passes(Request::to("GET /b")));
  EXPECT_TRUE(passes(Request::to("GET /c/1")));
  EXPECT_FALSE(passes(Request::to("GET /c/2"))) << "the template is the key, not the path";
  EXPECT_TRUE(passes(Request::to("GET /d")));
}

TEST_F(CoverageTest, MissingKeySkipsSharesOrDeniesAsThePolicySays) {
  constexpr auto policy_with = [](std::string_view missing) {
    return "{version: 1, limits: [{name: a, consumer_key: user, missing: " + std::string(missing) +
           ", algorithm: gcra, rate: 1/min}]}";
  };
  load(policy_with("skip"));
  EXPECT_EQ(passing(Request::to("GET /"), 5), 5);
  EXPECT_EQ(total(Event::skipped), 5U);

  load(policy_with("share"));
  EXPECT_TRUE(passes(Request::to("GET /").from("203.0.113.1")));
  EXPECT_FALSE(passes(Request::to("GET /").from("203.0.113.2")));
  EXPECT_EQ(total(Event::shared), 2U);

  load(policy_with("deny"));
  const Verdict denied = send(Request::to("GET /"));
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.reason, Reason::key_missing);
  EXPECT_EQ(denied.retry_after, std::nullopt);
  EXPECT_EQ(limit_of(denied), "a");
  EXPECT_EQ(total(Event::denied), 1U);
  EXPECT_EQ(total(Event::skipped), 0U);
  EXPECT_TRUE(passes(Request::to("GET /").by("alice")));
}

TEST_F(CoverageTest, DenialForAMissingKeyChargesNothingElsewhere) {
  load(R"(
version: 1
limits:
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1/min }
  - { name: known, consumer_key: user, missing: deny, algorithm: gcra, rate: 1/min }
)");
  EXPECT_EQ(passing(Request::to("GET /"), 5), 0);
  EXPECT_TRUE(passes(Request::to("GET /").by("alice")));
}

TEST_F(CoverageTest, HeaderKeysShareACounterWithoutTheHeader) {
  load("{version: 1, limits: [{name: a, consumer_key: 'header:X-Login-Name', algorithm: gcra, rate: 1/min}]}");
  EXPECT_TRUE(passes(Request::to("GET /")));
  EXPECT_FALSE(passes(Request::to("GET /").with("X-Login-Name", "")));
  EXPECT_FALSE(passes(Request::to("GET /").with("X-Login-Name", "a").with("x-login-name", "b")))
      << "a repeated header is no key";
  EXPECT_TRUE(passes(Request::to("GET /").with("x-login-name", "a")));
}

// Every spelling that a server may take for the expensive route costs as much as that route.
TEST_F(CoverageTest, DearestReadingOfAPathIsCharged) {
  load(R"(
version: 1
limits:
  - name: api
    routes: [/api/**]
    consumer_key: ip
    algorithm: token_bucket
    rate: 10/h
    cost: { /api/health: 0, /api/report: 5 }
)");
  const auto cost_of = [&](const std::string& target) {
    const Verdict verdict = send(Request::to("GET " + target).only_looking());
    return verdict.outcomes.empty() ? std::uint64_t{99} : verdict.outcomes[0].cost.units();
  };
  EXPECT_EQ(cost_of("/api/health"), 0U);
  EXPECT_EQ(cost_of("/api/health/"), 0U);
  EXPECT_EQ(cost_of("/api/search"), 1U);
  EXPECT_EQ(cost_of("/api/report"), 5U);

  EXPECT_EQ(cost_of("/api/health%23/../search"), 1U);
  EXPECT_EQ(cost_of("/api/search;%2f..%2fhealth"), 1U);
  EXPECT_EQ(cost_of("/api/health/../search"), 1U);
  EXPECT_EQ(cost_of("/api/health;/../report"), 5U);
  EXPECT_EQ(cost_of("/api/report%00/../health"), 5U);

  std::string unreadable = "/api/search";
  for (int i = 0; i < 66; ++i) unreadable += "/.";
  EXPECT_EQ(cost_of(unreadable), 5U) << "it may be any route";
  load(
      "{version: 1, limits: [{name: a, routes: [/api/**], consumer_key: ip, algorithm: gcra, rate: 9/h, "
      "cost: {/api/health: 0}}]}");
  EXPECT_EQ(cost_of(unreadable), 1U);
}

TEST_F(CoverageTest, SpellingOpensNoOtherCounterOfALimitByRoute) {
  constexpr auto everywhere = R"(
version: 1
limits:
  - { name: by-route, consumer_key: ip+route, algorithm: gcra, rate: 1/h }
  - { name: wide, routes: [/a, /b, /api/search, POST /login], consumer_key: ip, algorithm: gcra, rate: 1000/h }
)";
  constexpr auto own_routes = R"(
version: 1
limits:
  - { name: by-route, routes: [/a, /b, /api/search, POST /login], consumer_key: ip+route, algorithm: gcra, rate: 1/h }
)";
  for (const auto* policy : {everywhere, own_routes}) {
    load(policy);
    EXPECT_TRUE(passes(Request::to("GET /api/search")));
    EXPECT_FALSE(passes(Request::to("GET /a%23/../api/search")));
    EXPECT_FALSE(passes(Request::to("GET /b%23/../api/search")));
    EXPECT_TRUE(passes(Request::to("GET /a"))) << "what was denied charged nothing";

    EXPECT_TRUE(passes(Request::to("POST /login")));
    std::string unreadable = "POST /login";
    for (int i = 0; i < 70; ++i) unreadable += "/.";
    EXPECT_FALSE(passes(Request::to(unreadable)));
  }
}

// A reading without a known route counts as `other`, in addition to those that have one.
TEST_F(CoverageTest, UnknownRouteHasOneCounterWhateverItsOtherReadings) {
  load(R"(
version: 1
limits:
  - { name: by-route, consumer_key: ip+route, algorithm: gcra, rate: 1/h }
  - { name: wide, routes: [/a, /b, /c], consumer_key: ip, algorithm: gcra, rate: 1000/h }
)");
  EXPECT_TRUE(passes(Request::to("GET /unknown")));
  EXPECT_FALSE(passes(Request::to("GET /a%23/../unknown")));
  EXPECT_FALSE(passes(Request::to("GET /b%23/../unknown")));
  EXPECT_TRUE(passes(Request::to("GET /c")));
}

// A request with more counters than can be decided together is denied, at a bounded cost.
TEST_F(CoverageTest, UnreadablePathAmongVeryManyRoutesIsDenied) {
  std::string policy = "{version: 1, limits: [{name: a, consumer_key: ip+route, algorithm: gcra, rate: 1/h, routes: [";
  for (int i = 0; i < 1000; ++i) policy += "/r" + std::to_string(i) + ", ";
  load(policy + "/last]}]}");
  std::string target = "GET /r1";
  for (int i = 0; i < 70; ++i) target += "/.";
  const Verdict verdict = send(Request::to(target));
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.reason, Reason::too_many_limits);
  EXPECT_LE(verdict.outcomes.size(), 65U);
  EXPECT_TRUE(passes(Request::to("GET /r1")));
}

// The cost of the denial does not grow with the number of limits that have counters for each route.
TEST_F(CoverageTest, UnreadablePathUnderManyLimitsByRouteIsDeniedAtABoundedPrice) {
  std::string policy = "{version: 1, limits: [";
  for (int limit = 0; limit < 20; ++limit) {
    policy += "{name: l" + std::to_string(limit) + ", consumer_key: ip+route, algorithm: gcra, rate: 9/h, routes: [";
    for (int i = 0; i < 100; ++i) policy += "/l" + std::to_string(limit) + "/r" + std::to_string(i) + ", ";
    policy += "/l" + std::to_string(limit) + "/last]}, ";
  }
  load(policy + "]}");
  std::string target = "GET /l1/r1";
  for (int i = 0; i < 70; ++i) target += "/.";
  const Verdict verdict = send(Request::to(target));
  EXPECT_EQ(verdict.reason, Reason::too_many_limits);
  EXPECT_EQ(verdict.outcomes.size(), 65U);
}

constexpr auto tiers = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: api
    consumer_key: user
    algorithm: token_bucket
    rate: 1/min
    burst: 2
    tier_overrides:
      pro: { burst: 5 }
      internal: unlimited
)";

TEST_F(CoverageTest, TierHasItsOwnNumbers) {
  load(tiers);
  EXPECT_EQ(passing(Request::to("GET /").by("a"), 9), 2);
  EXPECT_EQ(passing(Request::to("GET /").by("b").in_tier("pro"), 9), 5);
  EXPECT_EQ(passing(Request::to("GET /").by("c").in_tier("internal"), 9), 9);
  EXPECT_EQ(total(Event::unlimited), 9U);
}

TEST_F(CoverageTest, BannedTierIsDeniedOutrightAndChargesNothing) {
  load(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free, names: [free, abuser] }
limits:
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1/min }
  - { name: api, consumer_key: user, algorithm: gcra, rate: 9/min, tier_overrides: { abuser: banned } }
)");
  const Verdict denied = send(Request::to("GET /").by("mallory").in_tier("abuser"));
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.reason, Reason::banned);
  EXPECT_EQ(limit_of(denied), "api");
  EXPECT_EQ(denied.retry_after, std::nullopt);
  EXPECT_EQ(total(Event::denied), 1U);
  EXPECT_TRUE(passes(Request::to("GET /").by("alice"))) << "the other limit was not charged";
}

TEST_F(CoverageTest, RateOfZeroBansWhatItCovers) {
  load(R"(
version: 1
limits:
  - { name: listed, when: { ip_in: [203.0.113.0/24] }, consumer_key: ip, rate: 0 }
)");
  EXPECT_EQ(send(Request::to("GET /").from("203.0.113.9")).reason, Reason::banned);
  EXPECT_TRUE(passes(Request::to("GET /").from("198.51.100.1")));
  load("{version: 1, limits: [{name: closed, routes: [/admin/**], consumer_key: user, rate: 0}]}");
  EXPECT_EQ(send(Request::to("GET /admin/x")).reason, Reason::banned) << "a ban counts nothing, so it needs no key";
}

TEST_F(CoverageTest, UnknownTierIsTheDefaultTierAndCounted) {
  load(tiers);
  EXPECT_EQ(passing(Request::to("GET /").by("a").in_tier("platinum"), 9), 2);
  EXPECT_EQ(engine_->totals().unknown_tiers, 9U);
}

TEST_F(CoverageTest, ChangedTierGivesNoFreshBurst) {
  load(tiers);
  EXPECT_EQ(passing(Request::to("GET /").by("a").in_tier("pro"), 9), 5);
  EXPECT_EQ(passing(Request::to("GET /").by("a"), 9), 0);
  EXPECT_EQ(passing(Request::to("GET /").by("a").in_tier("pro"), 9), 0);
}

TEST_F(CoverageTest, CostByTheMostSpecificRoute) {
  load(R"(
version: 1
limits:
  - name: api
    routes: [/api/**]
    consumer_key: ip
    algorithm: token_bucket
    rate: 1/h
    burst: 20
    cost: { POST /api/v1/search: 5, "/api/v1/{x}": 2, POST /api/free: 0 }
)");
  const auto cost = [&](std::string_view line) { return send(Request::to(line)).outcomes[0].cost.units(); };
  EXPECT_EQ(cost("POST /api/v1/search"), 5U);
  EXPECT_EQ(cost("GET /api/v1/search"), 2U);
  EXPECT_EQ(cost("GET /api/other"), 1U);
  EXPECT_EQ(cost("POST /api/free"), 0U);
  EXPECT_EQ(send(Request::to("GET /api/x")).decision.remaining, 20U - 5 - 2 - 1 - 1);
}

TEST_F(CoverageTest, CostFromAHeaderOfATrustedProxyOnly) {
  load(R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
limits:
  - { name: api, consumer_key: global, algorithm: token_bucket, rate: 1/h, burst: 1000, cost: "header:X-Cost", max_cost: 50 }
)");
  const auto cost = [&](std::string_view from, std::vector<std::string> values) {
    Request request = Request::to("GET /").from(std::string(from));
    for (auto& value : values) request.with("X-Cost", value);
    return send(request).outcomes[0].cost.units();
  };
  EXPECT_EQ(cost("10.0.0.1", {}), 1U);
  EXPECT_EQ(cost("10.0.0.1", {"7"}), 7U);
  EXPECT_EQ(cost("10.0.0.1", {"0"}), 0U);
  EXPECT_EQ(cost("10.0.0.1", {"51"}), 50U);
  EXPECT_EQ(cost("10.0.0.1", {"-1"}), 50U);
  EXPECT_EQ(cost("10.0.0.1", {"1.5"}), 50U);
  EXPECT_EQ(cost("10.0.0.1", {""}), 50U);
  EXPECT_EQ(cost("10.0.0.1", {"1", "1"}), 50U);
  EXPECT_EQ(cost("203.0.113.1", {"0"}), 1U);
}

TEST_F(CoverageTest, ConditionsChooseWhoIsCovered) {
  load(R"(
version: 1
limits:
  - { name: anonymous, when: anonymous, consumer_key: global, algorithm: gcra, rate: 100/min }
  - { name: authenticated, when: authenticated, consumer_key: global, algorithm: gcra, rate: 100/min }
  - { name: inside, when: { ip_in: [10.0.0.0/8] }, consumer_key: global, algorithm: gcra, rate: 100/min }
  - { name: outside, when: { ip_not_in: [10.0.0.0/8] }, consumer_key: global, algorithm: gcra, rate: 100/min }
)");
  const auto covering = [&](const Request& request) {
    std::string names;
    for (const Outcome& outcome : send(request).outcomes) {
      names += bindings().ruleset().limits[outcome.limit].name + " ";
    }
    return names;
  };
  EXPECT_EQ(covering(Request::to("GET /").from("10.1.2.3")), "anonymous inside ");
  EXPECT_EQ(covering(Request::to("GET /").from("11.1.2.3").by("alice")), "authenticated outside ");
  EXPECT_EQ(covering(Request::to("GET /").from("")), "anonymous inside outside ") << "an unknown address may be any";
}

TEST_F(CoverageTest, NoSpellingOfAPathEscapesItsLimit) {
  load(
      "{version: 1, limits: [{name: login, routes: [POST /login], consumer_key: global, algorithm: gcra, rate: 1/h}]}");
  ASSERT_TRUE(passes(Request::to("POST /login")));
  for (const char* spelling :
       {"/login/", "/login/.", "//login", "/%6cogin", "/%256cogin", "/login%2F", "%2Flogin", "/login%00", "\\login",
        "/x/../login", "/login?x", "/LOGIN", "/login;params", "http://host/login", "/./login", "/login%3fx"}) {
    EXPECT_FALSE(passes(Request::to("POST " + std::string(spelling)))) << spelling;
  }
  EXPECT_FALSE(passes(Request::to("post /login")));
}

TEST_F(CoverageTest, HeadCountsAsGet) {
  load("{version: 1, limits: [{name: a, routes: [GET /a], consumer_key: global, algorithm: gcra, rate: 1/h}]}");
  EXPECT_TRUE(passes(Request::to("HEAD /a")));
  EXPECT_FALSE(passes(Request::to("GET /a")));
}

TEST_F(CoverageTest, PathWithTwoReadingsMeetsTheLimitsOfBoth) {
  load(R"(
version: 1
limits:
  - { name: files, routes: ["/files/{name}"], consumer_key: global, algorithm: gcra, rate: 100/h }
  - { name: nested, routes: ["/files/{a}/{b}"], consumer_key: global, algorithm: gcra, rate: 100/h }
)");
  EXPECT_EQ(send(Request::to("GET /files/a%2Fb")).outcomes.size(), 2U);
  EXPECT_EQ(send(Request::to("GET /files/a")).outcomes.size(), 1U);
}

TEST_F(CoverageTest, AmbiguousPathIsChargedToEveryRouteThatItMayMean) {
  load(R"(
version: 1
limits:
  - { name: a, routes: ["/files/{name}", "/files/{a}/{b}"], consumer_key: ip+route, algorithm: gcra, rate: 2/h, burst: 2 }
)");
  EXPECT_TRUE(passes(Request::to("GET /files/a%2Fb")));
  EXPECT_EQ(send(Request::to("GET /files/a")).decision.remaining, 0U);
  EXPECT_EQ(send(Request::to("GET /files/a/b")).decision.remaining, 0U);
  EXPECT_FALSE(passes(Request::to("GET /files/a%2Fb")));
}

}  // namespace
}  // namespace weir::engine
