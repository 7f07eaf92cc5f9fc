// No header that a client can send raises or bypasses a limit.
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

constexpr auto client = "203.0.113.7";  // not a trusted proxy
constexpr auto proxy = "10.0.0.1";

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

  // The same through the proxy, which appends the true address and forwards the rest. A proxy must strip or set users
  // and tiers itself, so only addresses are tried.
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
  EXPECT_TRUE(passes(Request::to("GET /").from("2001:db8:1:2::1")));
  EXPECT_FALSE(passes(Request::to("GET /").from("2001:db8:1:2:ffff::9")));
  EXPECT_TRUE(passes(Request::to("GET /").from("2001:db8:1:3::1")));
  EXPECT_TRUE(passes(Request::to("GET /").from("203.0.113.50")));
  EXPECT_FALSE(passes(Request::to("GET /").from("::ffff:203.0.113.50"))) << "v4-mapped addresses are v4";
}

}  // namespace
}  // namespace weir::engine
