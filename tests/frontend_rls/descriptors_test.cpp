// ShouldRateLimit in the domains of a policy.
#include <gtest/gtest.h>

#include "tests/frontend_rls/rls_fixture.h"

namespace weir::frontend {
namespace {

constexpr std::string_view shop = R"(
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 3, name: per-user }
  - key: tenant
    rate_limit: { unit: hour, requests_per_unit: 100 }
  - key: free
    rate_limit: { unlimited: true }
)";

TEST(RlsDescriptors, AdmittedCallHasItsLimitAndTheRemainingUnits) {
  RlsFixture frontend(shop);
  const MessageFields response = frontend.limit(Ask("shop").descriptor({{"user", "alice"}}));
  EXPECT_EQ(response.number(1), ok);
  const MessageFields status = response.message(2);
  EXPECT_EQ(status.number(1), ok);
  EXPECT_EQ(status.message(2).number(1), 3U);
  EXPECT_EQ(status.message(2).number(2), 2U);  // minutes
  EXPECT_EQ(status.message(2).text(3), "per-user");
  EXPECT_EQ(status.number(3), 2U);
  EXPECT_EQ(status.message(4).number(1), 60U);
  EXPECT_EQ(response.header("ratelimit-policy"), R"("per-user";q=3;w=60)");
  EXPECT_EQ(response.header("ratelimit"), R"("per-user";r=2;t=60)");
  EXPECT_EQ(response.header("x-ratelimit-limit"), "3");
  EXPECT_EQ(response.header("x-ratelimit-remaining"), "2");
  EXPECT_EQ(response.header("x-ratelimit-reset"), "60");
  EXPECT_EQ(response.header("retry-after"), "");
  EXPECT_EQ(response.text(5), "");
}

TEST(RlsDescriptors, DenialHasRetryAfterAndProblemDetails) {
  RlsFixture frontend(shop);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"user", "alice"}})).number(1), ok);
  frontend.clock.advance(15s);
  const MessageFields response = frontend.limit(Ask("shop").descriptor({{"user", "alice"}}));
  EXPECT_EQ(response.number(1), over_limit);
  EXPECT_EQ(response.message(2).number(1), over_limit);
  EXPECT_EQ(response.header("retry-after"), "45");
  EXPECT_EQ(response.header("content-type"), "application/problem+json");
  EXPECT_NE(response.text(5).find(R"("violated-policies":["per-user"])"), std::string::npos) << response.text(5);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"user", "bob"}})).number(1), ok);
}

TEST(RlsDescriptors, StatusesAreInTheOrderOfDescriptorsAndDenialChargesNone) {
  RlsFixture frontend(shop);
  const auto both = Ask("shop").descriptor({{"tenant", "t"}}).descriptor({{"user", "alice"}});
  for (int i = 0; i < 3; ++i) frontend.limit(both);
  const MessageFields response = frontend.limit(both);
  EXPECT_EQ(response.number(1), over_limit);
  ASSERT_EQ(response.all(2).size(), 2U);
  EXPECT_EQ(response.message(2, 0).number(1), ok);
  EXPECT_EQ(response.message(2, 0).number(3), 97U);
  EXPECT_EQ(response.message(2, 1).number(1), over_limit);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"tenant", "t"}})).message(2).number(3), 96U);
}

TEST(RlsDescriptors, HitsAreTheDescriptorsOwnElseTheRequests) {
  RlsFixture frontend(shop);
  const Entries tenant{{"tenant", "t"}};
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant).hits(10)).message(2).number(3), 90U);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant, hits_field(5)).hits(10)).message(2).number(3), 85U);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant, hits_field(0)).hits(10)).message(2).number(3), 85U);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant)).message(2).number(3), 84U);
}

TEST(RlsDescriptors, NegativeHitsAreGivenBackAndAlwaysOk) {
  RlsFixture frontend(shop);
  const Entries tenant{{"tenant", "t"}};
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant).hits(100)).message(2).number(3), 0U);
  const MessageFields back = frontend.limit(Ask("shop").descriptor(tenant, hits_field(30) + negative_field()));
  EXPECT_EQ(back.number(1), ok);
  EXPECT_EQ(back.message(2).number(1), ok);
  EXPECT_EQ(back.message(2).number(3), 30U);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant, hits_field(500) + negative_field())).message(2).number(3),
            100U);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor(tenant).hits(101)).number(1), over_limit);
}

TEST(RlsDescriptors, OverrideReplacesTheConfiguredLimit) {
  RlsFixture frontend(shop);
  const auto ask = Ask("shop").descriptor({{"user", "alice"}}, override_field(50, 3));
  const MessageFields status = frontend.limit(ask).message(2);
  EXPECT_EQ(status.message(2).number(1), 50U);
  EXPECT_EQ(status.message(2).number(2), 3U);
  EXPECT_EQ(status.number(3), 49U);
}

TEST(RlsDescriptors, OverrideOfZeroDeniesAndChargesNothing) {
  RlsFixture frontend(shop);
  const MessageFields denied =
      frontend.limit(Ask("shop").descriptor({{"user", "alice"}}, override_field(0, 2)).descriptor({{"tenant", "t"}}));
  EXPECT_EQ(denied.number(1), over_limit);
  EXPECT_EQ(denied.message(2, 0).number(1), over_limit);
  EXPECT_EQ(denied.message(2, 1).number(1), ok);
  EXPECT_EQ(denied.header("retry-after"), "");
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"tenant", "t"}})).message(2).number(3), 99U);
}

TEST(RlsDescriptors, MetadataOfDescriptorsThatPassedIsInTheAnswer) {
  RlsFixture frontend(R"(
domain: shop
descriptors:
  - { key: a, rate_limit: { unit: day, requests_per_unit: 1 }, metadata: { name: first, weight: 2.5, on: true, n: null } }
  - { key: b, rate_limit: { unit: day, requests_per_unit: 0 }, metadata: { name: second } }
  - { key: c, rate_limit: { unit: day, requests_per_unit: 9 } }
  - { key: d, rate_limit: { unit: day, requests_per_unit: 9 }, metadata: { name: third, more: 1 } }
)");
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"c", "x"}})).all(6).size(), 0U);
  const MessageFields field =
      frontend.limit(Ask("shop").descriptor({{"a", "x"}}).descriptor({{"d", "x"}})).message(6).message(1);
  EXPECT_EQ(field.text(1), "metadata");
  const MessageFields fields = field.message(2).message(5);
  ASSERT_EQ(fields.all(1).size(), 5U);
  EXPECT_EQ(fields.message(1, 0).text(1), "name");
  EXPECT_EQ(fields.message(1, 0).message(2).text(3), "first") << "the first counts";
  EXPECT_EQ(fields.message(1, 2).message(2).number(4), 1U);
  EXPECT_EQ(fields.message(1, 4).text(1), "more");
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"b", "x"}})).all(6).size(), 0U) << "it did not pass";
}

TEST(RlsDescriptors, WhatIsNotConfiguredIsOkWithoutALimit) {
  RlsFixture frontend(shop);
  for (const Ask& ask :
       {Ask("shop").descriptor({{"colour", "red"}}), Ask("elsewhere").descriptor({{"user", "alice"}})}) {
    const MessageFields response = frontend.limit(ask);
    EXPECT_EQ(response.number(1), ok);
    EXPECT_EQ(response.message(2).number(1), ok);
    EXPECT_TRUE(response.message(2).all(2).empty());
    EXPECT_TRUE(response.all(3).empty());
  }
}

TEST(RlsDescriptors, UnlimitedIsOkWithAllLeft) {
  RlsFixture frontend(shop);
  const MessageFields response = frontend.limit(Ask("shop").descriptor({{"free", "x"}}));
  EXPECT_EQ(response.number(1), ok);
  EXPECT_EQ(response.message(2).number(3), 0xFFFF'FFFFU);
}

TEST(RlsDescriptors, MistakesAreErrorsAndNeverAnAnswer) {
  struct Row {
    std::string body;
    std::string status;
    std::string message;
  };
  const std::vector<Row> rows{
      {Ask("").descriptor({{"user", "x"}}).body(), "3", "rate limit domain must not be empty"},
      {Ask("shop").body(), "3", "rate limit descriptor list must not be empty"},
      {Ask("shop").descriptor({{"user", "x"}}, override_field(1, 0)).body(), "3",
       "the unit of a limit override must be one from SECOND to YEAR, or WEEK"},
      {framed("\x0a\xff"), "13", "invalid RateLimitRequest message"},
      {"", "12", "this method takes exactly one message"},
      {framed("") + framed(""), "12", "this method takes exactly one message"},
      {framed("abc").substr(0, 6), "13", "incomplete message"},
      {std::string("\1\0\0\0\0", 5), "12", "compressed messages are not supported"},
      {std::string("\2\0\0\0\0", 5), "13", "invalid compressed flag: must be 0 or 1"},
  };
  RlsFixture frontend(shop);
  for (const Row& row : rows) {
    const Reply& reply = frontend.call(should_rate_limit, row.body);
    EXPECT_EQ(field_of(reply, ":status"), "200");
    EXPECT_EQ(status_of(reply), row.status) << row.message;
    EXPECT_EQ(message_of(reply), row.message);
    EXPECT_EQ(reply.body, "");
  }
  EXPECT_EQ(frontend.frontend.unevaluated()->failed.value(), rows.size());
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"user", "alice"}})).number(1), ok);
  EXPECT_EQ(frontend.frontend.unevaluated()->failed.value(), rows.size());
}

TEST(RlsDescriptors, CallsOfOneReadAreAnsweredWithOneWrite) {
  RlsFixture frontend(shop);
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(frontend.client.ask(post(should_rate_limit), Ask("shop").descriptor({{"user", "alice"}}).body()));
  }
  frontend.client.hear(frontend.talk.send(frontend.client.bytes()));
  int admitted = 0;
  for (const auto stream : streams) {
    ASSERT_TRUE(frontend.client.reply(stream).ended);
    admitted += MessageFields(messages_of(frontend.client.reply(stream)).at(0)).number(1) == ok ? 1 : 0;
  }
  EXPECT_EQ(admitted, 3);
}

TEST(RlsDescriptors, CallsOfOneReadAreEvaluatedInTheirOrderEachOnItsOwn) {
  RlsFixture frontend(shop);
  const auto alice = Ask("shop").descriptor({{"user", "alice"}});
  const auto nothing = Ask("shop").descriptor({{"user", "alice"}}, override_field(0, 2)).descriptor({{"tenant", "t"}});
  const auto stranger = Ask("nobody").descriptor({{"user", "alice"}});
  const std::vector<std::pair<Ask, std::uint64_t>> rows{
      {alice, ok},    {nothing, over_limit}, {alice, ok},         {stranger, ok},        {alice, ok},
      {stranger, ok}, {alice, over_limit},   {alice, over_limit}, {nothing, over_limit}, {stranger, ok}};
  std::vector<std::int32_t> streams;
  for (const auto& [ask, expected] : rows) streams.push_back(frontend.client.ask(post(should_rate_limit), ask.body()));
  frontend.client.hear(frontend.talk.send(frontend.client.bytes()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(frontend.client.reply(streams[i]).ended) << i;
    EXPECT_EQ(MessageFields(messages_of(frontend.client.reply(streams[i])).at(0)).number(1), rows[i].second) << i;
  }
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"tenant", "t"}})).message(2).number(3), 99U)
      << "never charged before";
}

TEST(RlsDescriptors, MoreCallsOfOneReadThanGoIntoABatchAreAllEvaluatedInTheirOrder) {
  RlsFixture frontend(shop);
  const auto tenant = Ask("shop").descriptor({{"tenant", "t"}});
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 50; ++i) streams.push_back(frontend.client.ask(post(should_rate_limit), tenant.body()));
  frontend.client.hear(frontend.talk.send(frontend.client.bytes()));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    ASSERT_TRUE(frontend.client.reply(streams[i]).ended) << i;
    EXPECT_EQ(MessageFields(messages_of(frontend.client.reply(streams[i])).at(0)).message(2).number(3), 99 - i);
  }
}

}  // namespace
}  // namespace weir::frontend
