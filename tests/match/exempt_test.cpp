// Tests `exempt` and `except`: what they exclude, and that no spelling of a path, header or address gets a request out
// of a limit through them.
#include "match/condition.h"
#include "match/explain.h"
#include "tests/match/request.h"

namespace weir::match::exempt_tests {
namespace {

constexpr auto client = "203.0.113.7";
constexpr auto proxy = "10.0.0.1";

constexpr auto exempting_policy = R"(
version: 1
identity:
  trusted_proxies: [10.0.0.0/8]
  api_key: { header: X-Api-Key, verified: true }
  organization: { header: X-Org-Id }
exempt:
  addresses: [192.0.2.0/24, 10.1.0.0/16, "2001:db8::/32"]
  identities: { organization: [acme], api_key: [k1, k2] }
  routes: [GET /healthz, "/public/**", "/u/{id}/avatar"]
limits:
  - { name: all, consumer_key: ip, algorithm: gcra, rate: 1/min }
  - { name: gone, routes: [/old], consumer_key: global, rate: 0 }
)";

constexpr auto excepting_policy = R"(
version: 1
limits:
  - { name: api, routes: [/api/**], except: [GET /api/health, "/api/{id}/avatar"], consumer_key: ip, algorithm: gcra, rate: 1/min }
  - { name: all, except: [/metrics], consumer_key: ip, algorithm: gcra, rate: 1/min }
)";

Matched matched_by(std::string_view policy, const Request& request) {
  const auto matcher = *Matcher::create(ruleset_of(policy));
  const Asked asked(request);
  MatchScratch scratch(*matcher);
  Matched matched;
  matcher->match(asked.query(), scratch, matched);
  matched.caller = {};  // its views end with this function
  return matched;
}

ExemptBy exempt_by_of(const Request& request) {
  return matched_by(exempting_policy, request).exempt_by;
}

Request from(std::string ip) {
  return Request::to("GET /").from(std::move(ip));
}

Request forwarded(std::string address) {
  return from(proxy).with("X-Forwarded-For", std::move(address));
}

TEST(Exempt, FreesARequestFromEveryLimitAndBan) {
  const Matched matched = matched_by(exempting_policy, Request::to("GET /old").from("192.0.2.1"));
  EXPECT_EQ(matched.exempt_by, ExemptBy::address);
  EXPECT_TRUE(matched.limits.empty());
  EXPECT_EQ(matched.denied_by, no_limit);
}

TEST(Exempt, AddressMustBeKnownAndTheClientsOwn) {
  EXPECT_EQ(exempt_by_of(from("192.0.2.200")), ExemptBy::address);
  EXPECT_EQ(exempt_by_of(from("::ffff:192.0.2.200")), ExemptBy::address) << "the same address";
  EXPECT_EQ(exempt_by_of(from("[2001:db8::9]:443")), ExemptBy::address);
  EXPECT_EQ(exempt_by_of(forwarded("192.0.2.7")), ExemptBy::address);
  EXPECT_EQ(exempt_by_of(forwarded("10.1.0.9")), ExemptBy::address) << "a service inside, named by the proxy";
  for (const Request& request : {
           from(client),
           from("192.0.2"),
           from(""),
           from(client).with("X-Forwarded-For", "192.0.2.7"),  // not a proxy
           forwarded(client),
           forwarded("192.0.2.7, 203.0.113.7"),  // forged by the client
           forwarded("192.0.2.7, unknown"),
           forwarded("192.0.2.007"),
           forwarded("192.0.2.7").with("Forwarded", "for=203.0.113.7"),  // contradicts itself
           from("10.1.0.1"),                                             // a proxy that names nobody
           from("10.1.0.1").with("X-Forwarded-For", ""),
           from("10.1.0.1:51234"),
       }) {
    EXPECT_EQ(exempt_by_of(request), ExemptBy::nothing) << request.ip << " " << request.headers.size();
  }
}

TEST(Exempt, IdentityMustComeFromATrustedProxyOnce) {
  EXPECT_EQ(exempt_by_of(forwarded(client).with("x-org-id", " acme ")), ExemptBy::identity);
  EXPECT_EQ(exempt_by_of(forwarded(client).with("X-Api-Key", "k2")), ExemptBy::identity);
  for (const Request& request : {
           from(client).with("X-Org-Id", "acme"),
           from(client).with("X-Api-Key", "k1"),
           forwarded(client).with("X-Org-Id", "ACME"),
           forwarded(client).with("X-Org-Id", "acme,globex"),
           forwarded(client).with("X-Org-Id", "acme").with("X-ORG-ID", "acme"),
           forwarded(client).with("X-Org-Id", "globex").with("X-Org-Id", "acme"),
           forwarded(client).with("X_Org_Id", "acme"),
           forwarded(client).with("X-Org-Id", ""),
       }) {
    EXPECT_EQ(exempt_by_of(request), ExemptBy::nothing) << request.headers.back().second;
  }
}

TEST(Exempt, RouteMustMatchInEveryReading) {
  for (const std::string_view line : {"GET /healthz", "HEAD /healthz", "GET /healthz?x=/..", "POST /public",
                                      "GET /public/a/b.css", "PUT /u/7/avatar"}) {
    EXPECT_EQ(exempt_by_of(Request::to(line).from(client)), ExemptBy::route) << line;
  }
  for (const std::string_view line : {
           "POST /healthz",
           "get /healthz",
           "GETT /healthz",
           " /healthz",
           "GET /HEALTHZ",
           "GET /Healthz",
           "GET /healthz/",
           "GET //healthz",
           "GET /./healthz",
           "GET /healthz/.",
           "GET /healthz.",
           "GET /healthz;x",
           "GET /healthz%20",
           "GET /health%7A",
           "GET /healthz#",
           "GET /healthz%00",
           "GET /healthz%3F",
           "GET \\healthz",
           "GET http://h/healthz",
           "GET healthz",
           "GET *",
           "GET /public/../login",
           "GET /public/%2e%2e/login",
           "GET /public/..%2flogin",
           "GET /public/..;/login",
           "GET /public/..\\login",
           "GET /public//login",
           "GET /public/.",
           "GET /public/x/",
           "GET /PUBLIC/x",
           "GET /public/\xC0\xAE\xC0\xAE/login",
           "GET /u/../avatar",
           "GET /u/7/8/avatar",
           "GET /u//avatar",
           "GET /u/%2e/avatar",
           "GET /login",
       }) {
    EXPECT_EQ(exempt_by_of(Request::to(line).from(client)), ExemptBy::nothing) << line;
  }
}

TEST(Exempt, IsExplained) {
  const auto matcher = *Matcher::create(ruleset_of(exempting_policy));
  const auto text = [&](const Request& request) { return explain(*matcher, Asked(request).query()).outcome.text; };
  EXPECT_EQ(text(from("192.0.2.1")), "Admitted (200): address 192.0.2.1 is exempt");
  EXPECT_EQ(text(forwarded(client).with("X-Org-Id", "acme")), "Admitted (200): organization 'acme' is exempt");
  EXPECT_EQ(text(Request::to("GET /public/x").from(client)), "Admitted (200): route /public/** is exempt");
  const Explanation explanation = explain(*matcher, Asked(from("192.0.2.1")).query());
  EXPECT_EQ(explanation.limits[0].why_not, "address 192.0.2.1 is exempt");
}

// The names of the limits that cover a request.
std::vector<std::string> covering(std::string_view line) {
  const auto ruleset = ruleset_of(excepting_policy);
  std::vector<std::string> names;
  for (const MatchedLimit& each : matched_by(excepting_policy, Request::to(line).from(client)).limits) {
    names.push_back(ruleset->limits[each.limit].name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Except, TakesARouteOutOfOneLimitOnly) {
  EXPECT_EQ(covering("GET /api/health"), Names{"all"});
  EXPECT_EQ(covering("HEAD /api/health"), Names{"all"});
  EXPECT_EQ(covering("GET /api/7/avatar"), Names{"all"});
  EXPECT_EQ(covering("GET /metrics"), Names{});
  EXPECT_EQ(covering("GET /api/me"), (Names{"api", "all"}));
}

TEST(Except, TakesOutNoOtherSpelling) {
  for (const std::string_view line : {"POST /api/health", "GET /api/HEALTH", "GET /api/health/", "GET /api/%68ealth",
                                      "GET /api/health;v=1", "GET /api/x/../health", "GET /api//health",
                                      "GET /api/../avatar", "GET /api/..;/avatar", "GET /api/a%2Fb/avatar"}) {
    EXPECT_EQ(covering(line).front(), "api") << line;
  }
  for (const std::string_view line :
       {"GET /metrics/", "GET /METRICS", "GET //metrics", "GET /metrics%20", "GET /a/../metrics"}) {
    EXPECT_EQ(covering(line), Names{"all"}) << line;
  }
}

TEST(Except, IsExplained) {
  const Explanation explanation =
      explain(**Matcher::create(ruleset_of(excepting_policy)), Asked(Request::to("GET /api/health")).query());
  EXPECT_EQ(explanation.limits[0].why_not, "its except excludes the route: GET /api/health and /api/{id}/avatar");
}

}  // namespace
}  // namespace weir::match::exempt_tests
