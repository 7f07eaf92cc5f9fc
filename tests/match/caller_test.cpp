// Tests trust in callers: no header that a client sends can lift or bypass a limit.
#include "match/caller.h"

#include "tests/match/request.h"

namespace weir::match {
namespace {

constexpr auto trusting_policy = R"(
version: 1
identity:
  trusted_proxies: [127.0.0.0/8, "::1", 10.0.0.0/8, "2001:db8:ffff::/48"]
  user: { header: X-User-Id }
  api_key: { header: X-Api-Key }
tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
limits:
  - { name: a, consumer_key: ip, algorithm: gcra, rate: 1/min }
)";

Caller caller_of(const Request& request, std::string_view text = trusting_policy) {
  static std::vector<std::unique_ptr<Asked>> kept;  // the caller's views point into it
  kept.push_back(std::make_unique<Asked>(request));
  return identify(*ruleset_of(text), kept.back()->query());
}

std::string address_of(const Request& request, std::string_view text = trusting_policy) {
  const Caller caller = caller_of(request, text);
  return caller.address ? caller.address->text() : "none";
}

Request from(std::string ip) {
  return Request::to("GET /").from(std::move(ip));
}

constexpr auto client = "203.0.113.7";  // not trusted
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
      {"the peer with a port", "203.0.113.7:51234", {}, client},
      {"the peer in brackets", "[2001:db8::1]:443", {}, "2001:db8::1"},
      {"a proxy with a port", "10.0.0.1:51234", {{"X-Forwarded-For", client}}, client},
      {"a port that is none ends the walk", proxy, {{"X-Forwarded-For", "203.0.113.7:port"}}, proxy},
      {"a port by another name", proxy, {{"Forwarded", "for=\"203.0.113.7:_p1\""}}, client},
      {"something behind the brackets", proxy, {{"X-Forwarded-For", "[2001:db8::1]x"}}, proxy},
      {"a zone", proxy, {{"X-Forwarded-For", "fe80::1%eth0"}}, "fe80::1"},
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

TEST(Caller, OnlyAnAddressThatIsGivenCanBeUnreadable) {
  EXPECT_TRUE(caller_of(from("foo")).address_unreadable);
  EXPECT_TRUE(caller_of(from(" ")).address_unreadable);
  EXPECT_FALSE(caller_of(from("")).address_unreadable) << "that is none";
  EXPECT_FALSE(caller_of(from(client)).address_unreadable);
  EXPECT_FALSE(caller_of(from(proxy).with("X-Forwarded-For", "foo")).address_unreadable) << "the proxy's counts";
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

}  // namespace
}  // namespace weir::match
