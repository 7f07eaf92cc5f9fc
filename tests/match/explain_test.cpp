#include "match/explain.h"

#include "tests/match/request.h"

namespace weir::match {
namespace {

constexpr auto explained_policy = R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: login, routes: [POST /login], when: anonymous, consumer_key: ip, algorithm: sliding_window_log, rate: 10/min }
  - name: api
    routes: [/api/**]
    consumer_key: [user, api_key]
    algorithm: token_bucket
    rate: 100/min
    burst: 20
    cost: { POST /api/v1/search: 5 }
    tier_overrides: { pro: { burst: 50 }, internal: unlimited }
  - { name: inside, when: { ip_in: [192.0.2.0/24] }, consumer_key: global, algorithm: gcra, rate: 1/s }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 100/s }
)";

Explanation explained(const Request& request) {
  return explain(**Matcher::create(ruleset_of(explained_policy)), Asked(request).query());
}

TEST(Explain, CoveringLimitsComeWithKeyNumbersAndCost) {
  const Explanation explanation =
      explained(Request::to("POST /api/v1/search").from("10.0.0.1").with("X-User-Id", "alice").with("X-Plan", "pro"));
  EXPECT_EQ(explanation.route, "POST /api/v1/search");
  EXPECT_EQ(explanation.tier, "pro");
  EXPECT_TRUE(explanation.caller.trusted);
  const LimitExplanation& api = explanation.limits[1];
  EXPECT_TRUE(api.covers);
  EXPECT_EQ(api.route, "/api/**");
  EXPECT_EQ(api.consumer, "user=alice");
  EXPECT_EQ(api.numbers->capacity(), 50U);
  EXPECT_EQ(api.cost, Cost{5});
  EXPECT_EQ(explanation.limits[3].consumer, "global");
}

TEST(Explain, OtherLimitsSayWhyNot) {
  const Explanation one = explained(Request::to("GET /x").from("203.0.113.1"));
  EXPECT_EQ(one.route, "other");
  EXPECT_EQ(one.limits[0].why_not, "none of its routes matches");
  EXPECT_EQ(one.limits[2].why_not, "its condition excludes address 203.0.113.1: { ip_in: [192.0.2.0/24] }");
  const Explanation two = explained(Request::to("GET /api/x").from("203.0.113.1"));
  EXPECT_EQ(two.limits[1].why_not, "the request has no [user, api_key], and the limit skips requests without it");
  const Explanation three = explained(Request::to("GET /api/x").from("203.0.113.1").by("alice").in_tier("internal"));
  EXPECT_EQ(three.limits[1].why_not, "tier 'internal' is unlimited");
  const Explanation four = explained(Request::to("POST /login").by("alice"));
  EXPECT_EQ(four.limits[0].why_not, "it covers anonymous callers only, and this one is authenticated");
}

TEST(Explain, HeadersThatOnlyATrustedProxyMaySendAreNamed) {
  const auto request = [](const char* sender) {
    return Request::to("GET /api/x").from(sender).with("x-user-id", "eve").with("Accept", "*/*").with("X-Plan", "pro");
  };
  EXPECT_EQ(explained(request("203.0.113.1")).ignored_headers, (std::vector<std::string>{"x-user-id", "X-Plan"}));
  EXPECT_TRUE(explained(request("10.0.0.1")).ignored_headers.empty());
}

TEST(Explain, AddressesAreShownAsTheyAreCounted) {
  EXPECT_EQ(explained(Request::to("POST /login").from("2001:db8::1:2")).limits[0].consumer, "ip=2001:db8::/64");
  EXPECT_EQ(explained(Request::to("POST /login").from("203.0.113.1")).limits[0].consumer, "ip=203.0.113.1");
}

}  // namespace
}  // namespace weir::match
