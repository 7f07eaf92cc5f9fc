// Whom the engine believes. No header that a client can send lifts or dodges a limit.
#include "engine/caller.h"

#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

constexpr auto policy = R"(
version: 1
identity:
  trusted_proxies: [127.0.0.0/8, "::1", 10.0.0.0/8, "2001:db8:ffff::/48"]
  user: { header: X-User-Id }
  api_key: { header: X-Api-Key }
tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
limits:
  - { name: a, consumer_key: ip, algorithm: gcra, rate: 1/min }
)";

Caller caller_of(const Request& request, std::string_view text = policy) {
  static std::vector<std::unique_ptr<Asked>> kept;  // the caller's views point into it
  kept.push_back(std::make_unique<Asked>(request));
  return identify(*ruleset_of(text), kept.back()->query());
}

std::string address_of(const Request& request, std::string_view text = policy) {
  const Caller caller = caller_of(request, text);
  return caller.address ? caller.address->text() : "none";
}

Request from(std::string ip) {
  return Request::to("GET /").from(std::move(ip));
}

constexpr auto client = "203.0.113.7";  // trusted by nobody
constexpr auto proxy = "10.0.0.1";

TEST(Caller, UserOfATrustedProxyIsBelieved) {
  const Caller caller = caller_of(from(proxy).with("X-User-Id", "alice"));
  EXPECT_EQ(caller.user, "alice");
  EXPECT_TRUE(caller.authenticated);
  EXPECT_FALSE(caller.ignored_headers);
}

TEST(Caller, UserThatAClientClaimsIsIgnoredAndNoted) {
  const Caller caller = caller_of(from(client).with("X-User-Id", "alice"));
  EXPECT_EQ(caller.user, "");
  EXPECT_FALSE(caller.authenticated);
  EXPECT_TRUE(caller.ignored_headers);
}

TEST(Caller, TierThatAClientClaimsIsIgnoredAndNoted) {
  EXPECT_EQ(caller_of(from(proxy).with("X-Plan", "pro")).tier, 1U);
  const Caller caller = caller_of(from(client).with("X-Plan", "pro"));
  EXPECT_EQ(caller.tier, 0U);
  EXPECT_TRUE(caller.ignored_headers);
}

TEST(Caller, EmptyOrRepeatedIdentityHeaderCountsAsAbsent) {
  EXPECT_EQ(caller_of(from(proxy).with("X-User-Id", "")).user, "");
  EXPECT_EQ(caller_of(from(proxy).with("X-User-Id", "  ")).user, "");
  EXPECT_EQ(caller_of(from(proxy).with("X-User-Id", "alice").with("x-user-id", "bob")).user, "");
  EXPECT_EQ(caller_of(from(proxy).with("X-Plan", "pro").with("X-Plan", "pro")).tier, 0U);
}

TEST(Caller, UnverifiedApiKeyIsAKeyButNoAuthentication) {
  const Caller caller = caller_of(from(client).with("X-Api-Key", "k"));
  EXPECT_EQ(caller.api_key, "k");
  EXPECT_FALSE(caller.authenticated) << "else any made-up key would dodge the limits for anonymous callers";
}

TEST(Caller, VerifiedApiKeyIsBelievedFromTheProxyOnly) {
  constexpr auto verified = R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8], api_key: { header: X-Api-Key, verified: true } }
limits: [{ name: a, consumer_key: ip, algorithm: gcra, rate: 1/min }]
)";
  EXPECT_TRUE(caller_of(from(proxy).with("X-Api-Key", "k"), verified).authenticated);
  const Caller caller = caller_of(from(client).with("X-Api-Key", "k"), verified);
  EXPECT_EQ(caller.api_key, "");
  EXPECT_FALSE(caller.authenticated);
  EXPECT_TRUE(caller.ignored_headers);
}

TEST(Caller, WhatTheAskingProgramKnowsIsBelieved) {
  const Caller caller = caller_of(from(client).by("alice").in_tier("pro").with("X-User-Id", "mallory"));
  EXPECT_EQ(caller.user, "alice");
  EXPECT_EQ(caller.tier, 1U);
  EXPECT_TRUE(caller.authenticated);
}

struct ForwardedRow {
  const char* why;
  const char* peer;
  std::vector<std::pair<std::string, std::string>> headers;
  const char* address;
};

TEST(Caller, AddressIsReadFromTheRightPastTrustedProxiesOnly) {
  const std::vector<ForwardedRow> rows = {
      {"no header", client, {}, client},
      {"a client's own claim", client, {{"X-Forwarded-For", "1.1.1.1"}}, client},
      {"the proxy's word", proxy, {{"X-Forwarded-For", client}}, client},
      {"what the client wrote before the proxy", proxy, {{"X-Forwarded-For", "1.1.1.1, 203.0.113.7"}}, client},
      {"a forged trusted address in front", proxy, {{"X-Forwarded-For", "10.9.9.9, 203.0.113.7"}}, client},
      {"a chain of proxies", proxy, {{"X-Forwarded-For", "1.1.1.1, 203.0.113.7, 10.0.0.2"}}, client},
      {"several headers are one list", proxy, {{"X-Forwarded-For", "1.1.1.1"}, {"x-forwarded-for", client}}, client},
      {"all trusted: the leftmost", proxy, {{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}}, "10.0.0.3"},
      {"nonsense ends the walk", proxy, {{"X-Forwarded-For", "1.1.1.1, nonsense"}}, proxy},
      {"nonsense before a proxy", proxy, {{"X-Forwarded-For", "unknown, 10.0.0.2"}}, "10.0.0.2"},
      {"an empty entry ends the walk", proxy, {{"X-Forwarded-For", "1.1.1.1, "}}, proxy},
      {"a port", proxy, {{"X-Forwarded-For", "203.0.113.7:4711"}}, client},
      {"IPv6 in brackets", proxy, {{"X-Forwarded-For", "[2001:db8::1]:443"}}, "2001:db8::1"},
      {"IPv6 bare", proxy, {{"X-Forwarded-For", "2001:db8::1"}}, "2001:db8::1"},
      {"IPv4 in IPv6's clothes", proxy, {{"X-Forwarded-For", "::ffff:203.0.113.7"}}, client},
      {"a proxy in IPv6's clothes", "::ffff:10.0.0.1", {{"X-Forwarded-For", client}}, client},
      {"an IPv6 proxy", "2001:db8:ffff::1", {{"X-Forwarded-For", client}}, client},
      {"an open quote", proxy, {{"X-Forwarded-For", "\"1.1.1.1, 203.0.113.7"}}, client},
      {"Forwarded", proxy, {{"Forwarded", "for=1.1.1.1, for=203.0.113.7;proto=https"}}, client},
      {"Forwarded with IPv6", proxy, {{"Forwarded", "for=\"[2001:db8::1]:4711\""}}, "2001:db8::1"},
      {"Forwarded, a comma in quotes", proxy, {{"Forwarded", "for=203.0.113.7;host=\"a,b\""}}, client},
      {"Forwarded without for", proxy, {{"Forwarded", "proto=https"}}, proxy},
      {"Forwarded, obfuscated", proxy, {{"Forwarded", "for=_hidden"}}, proxy},
      {"both agree", proxy, {{"Forwarded", "For=203.0.113.7"}, {"X-Forwarded-For", client}}, client},
      {"a client adds the one that its proxy does not write",
       proxy,
       {{"Forwarded", "for=1.1.1.1"}, {"X-Forwarded-For", client}},
       proxy},
      {"no address at all", "", {{"X-Forwarded-For", "1.1.1.1"}}, "none"},
      {"not an address", "localhost", {{"X-Forwarded-For", "1.1.1.1"}}, "none"},
  };
  for (const ForwardedRow& row : rows) {
    Request request = from(row.peer);
    request.headers = row.headers;
    EXPECT_EQ(address_of(request), row.address) << row.why;
  }
}

TEST(Caller, ContradictedOrUnreadableAddressIsUnknown) {
  const auto known = [](const Request& request) { return caller_of(request).address_known; };
  EXPECT_TRUE(known(from(client)));
  EXPECT_TRUE(known(from(proxy)));
  EXPECT_TRUE(known(from(proxy).with("X-Forwarded-For", client)));
  EXPECT_TRUE(known(from(proxy).with("X-Forwarded-For", std::string("\xff, ") + client)));
  EXPECT_TRUE(known(from(client).with("X-Forwarded-For", "nonsense"))) << "a client's own claim is not read";
  EXPECT_TRUE(known(from(proxy).with("X-Forwarded-For", client).with("Forwarded", std::string("for=") + client)));

  EXPECT_FALSE(known(from("")));
  EXPECT_FALSE(known(from("localhost")));
  EXPECT_FALSE(known(from(proxy).with("X-Forwarded-For", "\xff")));
  EXPECT_FALSE(known(from(proxy).with("X-Forwarded-For", "")));
  EXPECT_FALSE(known(from(proxy).with("X-Forwarded-For", "unknown, 10.0.0.2")));
  EXPECT_FALSE(known(from(proxy).with("Forwarded", "for=_hidden")));
  EXPECT_FALSE(known(from(proxy).with("X-Forwarded-For", client).with("Forwarded", "for=198.51.100.1")));
  EXPECT_FALSE(known(from(proxy).with("X-Forwarded-For", client).with("Forwarded", "nonsense")));
}

TEST(Caller, PolicyMayNameTheOneAddressHeader) {
  constexpr auto one = R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8], ip: { header: X-Real-IP } }
limits: [{ name: a, consumer_key: ip, algorithm: gcra, rate: 1/min }]
)";
  EXPECT_EQ(address_of(from(proxy).with("X-Real-IP", client).with("X-Forwarded-For", "1.1.1.1"), one), client);
  EXPECT_EQ(address_of(from(proxy).with("X-Forwarded-For", "1.1.1.1"), one), proxy);
  EXPECT_EQ(address_of(from(client).with("X-Real-IP", "1.1.1.1"), one), client);
}

using SpoofingTest = EngineTest;

// Each header that a client might try, on a request that the limit has already denied.
TEST_F(SpoofingTest, NoHeaderOfAClientLiftsOrDodgesALimit) {
  load(R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8], api_key: { header: X-Api-Key, verified: true } }
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: by-caller
    consumer_key: [user, api_key, ip]
    algorithm: token_bucket
    rate: 1/h
    burst: 2
    cost: "header:X-Cost"
    tier_overrides: { internal: unlimited, pro: { burst: 100 } }
  - { name: anonymous, when: anonymous, consumer_key: ip, algorithm: gcra, rate: 2/h, burst: 2 }
  - { name: outside, when: { ip_not_in: [10.0.0.0/8] }, consumer_key: ip, algorithm: gcra, rate: 2/h, burst: 2 }
)");
  ASSERT_EQ(passing(Request::to("GET /").from(client), 3), 2);
  const std::vector<std::pair<std::string, std::string>> tries = {
      {"X-User-Id", "alice"},
      {"X-Api-Key", "secret"},
      {"X-Plan", "internal"},
      {"X-Plan", "pro"},
      {"X-Cost", "0"},
      {"X-Forwarded-For", "1.1.1.1"},
      {"X-Forwarded-For", "10.0.0.1"},
      {"Forwarded", "for=1.1.1.1"},
      {"Forwarded", "for=10.0.0.1;by=10.0.0.1"},
      {"X-Real-IP", "1.1.1.1"},
      {"True-Client-IP", "1.1.1.1"},
      {"CF-Connecting-IP", "1.1.1.1"},
      {"X-Original-URI", "/other"},
      {"X-HTTP-Method-Override", "PUT"},
      {"X-Cluster-Client-IP", "10.0.0.1"},
  };
  for (const auto& [name, value] : tries) {
    EXPECT_FALSE(passes(Request::to("GET /").from(client).with(name, value))) << name << ": " << value;
  }
  EXPECT_EQ(engine_->totals().ignored_headers, 9U);

  // The same from behind the proxy, which appends the true address and passes the rest on; users and tiers it would
  // have to strip or set itself, so only addresses are tried.
  ASSERT_EQ(passing(Request::to("GET /").from(proxy).with("X-Forwarded-For", "203.0.113.8"), 3), 2);
  for (const char* forged : {"1.1.1.1, 203.0.113.8", "10.0.0.1, 203.0.113.8", ", 203.0.113.8", "\", 203.0.113.8"}) {
    EXPECT_FALSE(passes(Request::to("GET /").from(proxy).with("X-Forwarded-For", forged))) << forged;
  }
  int dodged = 0;
  for (int i = 0; i < 20; ++i) {
    dodged += passes(Request::to("GET /")
                         .from(proxy)
                         .with("X-Forwarded-For", "203.0.113.8")
                         .with("Forwarded", "for=198.51.100." + std::to_string(i)))
                  ? 1
                  : 0;
  }
  EXPECT_LE(dodged, 2) << "forgers share the proxy's own counter";
}

// The proxy appends the true address to X-Forwarded-For, and passes on a Forwarded that its client made up.
TEST_F(SpoofingTest, MadeUpForwardedLiftsNoConditionOnTheAddress) {
  constexpr auto outsider = "203.0.113.8";
  load(R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
limits:
  - { name: outside, when: { ip_not_in: [10.0.0.0/8] }, consumer_key: global, algorithm: gcra, rate: 1/h }
)");
  const auto forged = [&](std::string forwarded) {
    return Request::to("GET /").from(proxy).with("X-Forwarded-For", outsider).with("Forwarded", std::move(forwarded));
  };
  ASSERT_TRUE(passes(Request::to("GET /").from(proxy).with("X-Forwarded-For", outsider)));
  EXPECT_FALSE(passes(forged("for=10.0.0.9"))) << "the proxy's own address is no exemption";
  EXPECT_FALSE(passes(forged("for=198.51.100.1")));
  EXPECT_FALSE(passes(forged("\xff")));

  load(R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
limits:
  - { name: listed, when: { ip_in: [203.0.113.0/24] }, consumer_key: global, algorithm: gcra, rate: 1/h }
)");
  ASSERT_TRUE(passes(Request::to("GET /").from(proxy).with("X-Forwarded-For", outsider)));
  EXPECT_FALSE(passes(forged("for=198.51.100.1")));
  EXPECT_FALSE(passes(forged("nonsense")));
  EXPECT_TRUE(passes(Request::to("GET /").from(proxy).with("X-Forwarded-For", "198.51.100.1")));
}

TEST_F(SpoofingTest, IPv6NeighboursShareTheirPrefix) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h}]}");
  EXPECT_TRUE(passes(from("2001:db8:1:2::1")));
  EXPECT_FALSE(passes(from("2001:db8:1:2:ffff::9")));
  EXPECT_TRUE(passes(from("2001:db8:1:3::1")));
  EXPECT_TRUE(passes(from("203.0.113.50")));
  EXPECT_FALSE(passes(from("::ffff:203.0.113.50"))) << "v4-mapped addresses are v4";
}

}  // namespace
}  // namespace weir::engine
