// Usage reported afterwards: reports, negative hits and held units in the domain `weir`, and Kuadrant's service.
#include <gtest/gtest.h>

#include "tests/frontend_rls/rls_fixture.h"

namespace weir::frontend::usage_tests {
namespace {

const std::string check_rate_limit = "/kuadrant.service.ratelimit.v1.RateLimitService/CheckRateLimit";
const std::string report = "/kuadrant.service.ratelimit.v1.RateLimitService/Report";

constexpr std::string_view policy = R"(
version: 1
limits:
  - { name: tokens, routes: [/chat], consumer_key: user, algorithm: fixed_window, rate: 100/day }
  - { name: in-flight, routes: [/held], consumer_key: user, algorithm: concurrency, limit: 2, lease: 1min }
)";
constexpr std::string_view shop = R"(
domain: shop
descriptors:
  - { key: tenant, rate_limit: { unit: day, requests_per_unit: 100 } }
  - { key: user, rate_limit: { unit: day, requests_per_unit: 10 } }
)";

const Entries alice{{"path", "/chat"}, {"user", "alice"}};
const Entries alice_used{{"path", "/chat"}, {"user", "alice"}, {"report", "true"}};
const Entries held{{"path", "/held"}, {"user", "alice"}};
const Entries tenant{{"tenant", "t"}};

MessageFields response_of(RlsFixture& frontend, const std::string& method, const Ask& ask) {
  const Reply& reply = frontend.call(method, ask.body());
  EXPECT_EQ(status_of(reply), "0") << message_of(reply);
  const auto messages = messages_of(reply);
  EXPECT_EQ(messages.size(), 1U);
  return MessageFields(messages.empty() ? std::string_view() : std::string_view(messages[0]));
}

TEST(RlsUsage, ReportIsChargedIntoDebtAndNeverOver) {
  RlsFixture frontend(policy);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice, hits_field(90))).number(1), ok);
  const MessageFields reported = frontend.limit(Ask("weir").descriptor(alice_used, hits_field(30)));
  EXPECT_EQ(reported.number(1), ok);
  EXPECT_EQ(reported.message(2).number(1), ok);
  EXPECT_EQ(reported.message(2).number(3), 0U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice, hits_field(0))).number(1), over_limit);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice_used, hits_field(0))).number(1), ok) << "nothing was used";
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice_used, hits_field(1))).number(1), ok);
}

TEST(RlsUsage, OnlyTrueMakesItAReport) {
  RlsFixture frontend(policy);
  const Entries no{{"path", "/chat"}, {"user", "alice"}, {"report", "no"}};
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(no, hits_field(101))).number(1), over_limit);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(no, hits_field(100))).number(1), ok);
}

TEST(RlsUsage, EstimateIsCorrectedByAReportAndNegativeHits) {
  RlsFixture frontend(policy);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice, hits_field(60))).message(2).number(3), 40U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice, hits_field(60))).number(1), over_limit);
  const MessageFields end = frontend.limit(
      Ask("weir").descriptor(alice_used, hits_field(25)).descriptor(alice, hits_field(60) + negative_field()));
  EXPECT_EQ(end.number(1), ok);
  EXPECT_EQ(end.message(2, 0).number(3), 15U);
  EXPECT_EQ(end.message(2, 1).number(3), 75U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice, hits_field(60))).number(1), ok);
}

TEST(RlsUsage, HoldsLastUntilNegativeHitsEndThem) {
  RlsFixture frontend(policy);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(held)).number(1), ok);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(held)).number(1), ok);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(held)).number(1), over_limit);
  const MessageFields end = frontend.limit(Ask("weir").descriptor(held, negative_field()));
  EXPECT_EQ(end.number(1), ok);
  EXPECT_EQ(end.message(2).number(3), 1U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(held)).number(1), ok);
}

TEST(RlsKuadrant, CheckSaysWhetherSomethingIsLeftAndChargesNothing) {
  RlsFixture frontend(shop);
  for (int i = 0; i < 3; ++i) {
    const MessageFields checked = response_of(frontend, check_rate_limit, Ask("shop").descriptor(tenant).hits(1'000));
    EXPECT_EQ(checked.number(1), ok) << "whatever its hits";
    EXPECT_EQ(checked.message(2).number(3), 99U);
  }
  EXPECT_EQ(response_of(frontend, report, Ask("shop").descriptor(tenant).hits(100)).number(1), ok);
  const MessageFields denied = response_of(frontend, check_rate_limit, Ask("shop").descriptor(tenant));
  EXPECT_EQ(denied.number(1), over_limit);
  EXPECT_EQ(denied.header("content-type"), "application/problem+json");
}

TEST(RlsKuadrant, ReportChargesAllDescriptorsAndIsAlwaysOk) {
  RlsFixture frontend(shop);
  const Ask used = Ask("shop").descriptor(tenant).descriptor({{"user", "alice"}}).hits(30);
  EXPECT_EQ(response_of(frontend, report, used).number(1), ok);
  EXPECT_EQ(response_of(frontend, report, used).number(1), ok);
  EXPECT_EQ(response_of(frontend, check_rate_limit, Ask("shop").descriptor({{"user", "alice"}})).number(1), over_limit);
  EXPECT_EQ(response_of(frontend, check_rate_limit, Ask("shop").descriptor(tenant)).message(2).number(3), 39U);
}

TEST(RlsKuadrant, BothAreQueriesInTheDomainWeir) {
  RlsFixture frontend(policy);
  EXPECT_EQ(response_of(frontend, check_rate_limit, Ask("weir").descriptor(alice)).number(1), ok);
  EXPECT_EQ(response_of(frontend, report, Ask("weir").descriptor(alice).hits(150)).number(1), ok);
  EXPECT_EQ(response_of(frontend, check_rate_limit, Ask("weir").descriptor(alice)).number(1), over_limit);
}

TEST(RlsKuadrant, OtherMethodsAreUnimplemented) {
  RlsFixture frontend(policy);
  const std::string reserve = "/kuadrant.service.ratelimit.v1.RateLimitService/Reserve";
  EXPECT_EQ(status_of(frontend.call(reserve, Ask("weir").descriptor(alice).body())), "12");
}

}  // namespace
}  // namespace weir::frontend::usage_tests
