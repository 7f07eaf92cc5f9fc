#include "tests/overrides/service_fixture.h"

namespace weir::overrides {
namespace {

using BlockTest = ServiceTest;

constexpr std::string_view policy = R"(
limits:
  - { name: api, routes: [/api, /login], consumer_key: [user, ip], algorithm: token_bucket, rate: 2/h }
)";

Request mallory() {
  return Request::to("GET /api").by("mallory");
}

TEST_F(BlockTest, DeniesAnIdentityWithoutChargingAndSaysWhenItEnds) {
  serve(policy);
  ASSERT_EQ(block(R"("id":"b1","identity":"user=mallory","for":"1h","reason":"scraping")").status, 200U);
  const Verdict verdict = send(mallory());
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.reason, Reason::blocked_by_operator);
  EXPECT_EQ(name_of(verdict.reason), "blocked");
  EXPECT_EQ(verdict.limit, Verdict::no_limit);
  EXPECT_EQ(verdict.retry_after, 1h);
  EXPECT_EQ(service_->id_of(verdict.exception), "b1");
  EXPECT_TRUE(passes(alice()));
  advance(1h);
  EXPECT_EQ(passing(mallory(), 3), 2);
}

TEST_F(BlockTest, APermanentBlockHasNoWaitAndEndsWhenItIsRemoved) {
  serve(policy);
  ASSERT_EQ(block(R"("id":"b1","identity":"user=mallory","permanent":true,"reason":"fraud")").status, 200U);
  EXPECT_EQ(send(mallory()).retry_after, std::nullopt);
  EXPECT_FALSE(send(mallory()).admitted);
  ASSERT_EQ(remove("b1", Kind::block).status, 200U);
  EXPECT_TRUE(passes(mallory()));
}

TEST_F(BlockTest, CoversRoutesWithoutALimit) {
  serve(policy);
  ASSERT_EQ(block(R"("identity":"user=mallory","permanent":true,"reason":"fraud")").status, 200U);
  EXPECT_FALSE(passes(Request::to("GET /anything").by("mallory")));
}

TEST_F(BlockTest, OfListedRoutesLeavesTheOthersAlone) {
  serve(policy);
  ASSERT_EQ(block(R"("identity":"user=mallory","routes":["POST /login"],"for":"1h","reason":"r")").status, 200U);
  EXPECT_FALSE(passes(Request::to("POST /login").by("mallory")));
  EXPECT_FALSE(passes(Request::to("POST /%6cogin").by("mallory")));
  EXPECT_TRUE(passes(Request::to("GET /login").by("mallory")));
  EXPECT_TRUE(passes(mallory()));
}

TEST_F(BlockTest, MatchesAddressesByAnyPrefix) {
  serve(policy);
  ASSERT_EQ(block(R"("identity":"ip=203.0.113.0/24","for":"1h","reason":"r")").status, 200U);
  ASSERT_EQ(block(R"("identity":"ip=198.51.100.7","for":"1h","reason":"r")").status, 200U);
  ASSERT_EQ(block(R"("identity":"ip=2001:db8::/32","for":"1h","reason":"r")").status, 200U);
  EXPECT_FALSE(passes(Request::to("GET /x").from("203.0.113.250")));
  EXPECT_FALSE(passes(Request::to("GET /x").from("198.51.100.7")));
  EXPECT_FALSE(passes(Request::to("GET /x").from("2001:db8:1::5")));
  EXPECT_TRUE(passes(Request::to("GET /x").from("198.51.100.8")));
  EXPECT_TRUE(passes(Request::to("GET /x").from("2001:db9::5")));
}

TEST_F(BlockTest, ARepeatedHeaderDoesNotEvadeIt) {
  serve(policy);
  ASSERT_EQ(block(R"("identity":"header:X-App=scraper","for":"1h","reason":"r")").status, 200U);
  ASSERT_EQ(block(R"("identity":"api_key=k-1","for":"1h","reason":"r")").status, 200U);
  EXPECT_FALSE(passes(Request::to("GET /x").with("X-App", "scraper")));
  EXPECT_FALSE(passes(Request::to("GET /x").with("X-App", "other").with("x-app", "scraper")));
  EXPECT_FALSE(passes(Request::to("GET /x").with("X-Api-Key", "k-2").with("X-Api-Key", "k-1")));
  EXPECT_TRUE(passes(Request::to("GET /x").with("X-App", "other").with("X-Api-Key", "k-2")));
}

TEST_F(BlockTest, ContradictoryForwardedAddressesDoNotEvadeIt) {
  serve(policy);
  ASSERT_EQ(block(R"("identity":"ip=198.51.100.7","for":"1h","reason":"r")").status, 200U);
  const auto proxied = [] { return Request::to("GET /x").from("127.0.0.1"); };
  EXPECT_FALSE(passes(proxied().with("X-Forwarded-For", "198.51.100.7")));
  EXPECT_FALSE(passes(proxied().with("X-Forwarded-For", "198.51.100.7").with("Forwarded", "for=192.0.2.1")));
  EXPECT_TRUE(passes(proxied().with("X-Forwarded-For", "192.0.2.1")));
  EXPECT_TRUE(passes(proxied()));
}

TEST_F(BlockTest, OfAUserAppliesToANamedQuery) {
  serve(policy);
  ASSERT_EQ(block(R"("identity":"user=mallory","for":"1h","reason":"r")").status, 200U);
  EXPECT_EQ(send(engine::NamedQuery{.limit = "api", .consumer = "user=mallory"})->reason, Reason::blocked_by_operator);
  EXPECT_TRUE(send(engine::NamedQuery{.limit = "api", .consumer = "user=alice"})->admitted);
}

TEST_F(BlockTest, PrecedesAnOverride) {
  serve(policy);
  ASSERT_EQ(put(R"("limit":"api","consumer":"user=mallory","unlimited":true,"for":"1h","reason":"r")").status, 200U);
  ASSERT_EQ(block(R"("identity":"user=mallory","for":"1h","reason":"r")").status, 200U);
  EXPECT_EQ(send(mallory()).reason, Reason::blocked_by_operator);
}

}  // namespace
}  // namespace weir::overrides
