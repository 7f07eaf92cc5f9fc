// The quota service over its protocol: streams of reports and their responses.
#include <gtest/gtest.h>

#include "tests/frontend_rls/rls_fixture.h"

namespace weir::frontend::quota_service_tests {
namespace {

const std::string stream_quotas = "/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas";

constexpr std::string_view policy = R"(
version: 1
identity: { trusted_proxies: [127.0.0.0/8] }
tiers: { from: { header: X-Plan }, default: free, names: [free, banned] }
limits:
  - { name: api, routes: [/api/**], consumer_key: global, algorithm: token_bucket, rate: 200/s, burst: 80 }
  - { name: user, routes: [/api/user/**], consumer_key: user, missing: deny, algorithm: token_bucket, rate: 100/s }
  - { name: watched, routes: [/watched/**], consumer_key: global, algorithm: token_bucket, rate: 1/s, mode: shadow }
)";

constexpr std::string_view descriptors = R"(
domain: shop
descriptors:
  - key: plan
    value: free
    descriptors:
      - { key: user, rate_limit: { unit: second, requests_per_unit: 200 } }
  - { key: plan, value: gold, rate_limit: { unlimited: true } }
  - { key: plan, value: none, rate_limit: { unit: day, requests_per_unit: 0 } }
  - { key: plan, value: trial, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 1 } }
)";

// RateLimitQuotaUsageReports, as a message in a body.
class Reports {
 public:
  explicit Reports(std::string_view domain = {}) {
    if (!domain.empty()) wire::protobuf::append_bytes(bytes_, 1, domain);
  }
  Reports& bucket(const Entries& id, std::uint64_t allowed = 0, std::uint64_t denied = 1) {
    using namespace wire::protobuf;
    append_message(bytes_, 2, [&] {
      append_message(bytes_, 1, [&] {
        for (const auto& [key, value] : id) {
          append_message(bytes_, 1, [&] {
            append_bytes(bytes_, 1, key);
            append_bytes(bytes_, 2, value);
          });
        }
      });
      append_message(bytes_, 2, [&] { append_number(bytes_, 1, 5); });
      append_number(bytes_, 3, allowed);
      append_number(bytes_, 4, denied);
    });
    return *this;
  }
  [[nodiscard]] std::string body() const { return framed(bytes_); }

 private:
  std::string bytes_;
};

// A BucketAction.
struct Action : MessageFields {
  using MessageFields::MessageFields;
  [[nodiscard]] MessageFields strategy() const { return MessageFields(message(2).text(3)); }
  [[nodiscard]] MessageFields token_bucket() const { return MessageFields(strategy().text(3)); }
  [[nodiscard]] std::uint64_t max_tokens() const { return token_bucket().number(1); }
  [[nodiscard]] std::uint64_t tokens_per_fill() const { return MessageFields(token_bucket().text(2)).number(1); }
  [[nodiscard]] bool allows() const { return strategy().parts.empty() && strategy().number(1) == 0; }
  [[nodiscard]] bool denies() const { return strategy().number(1) == 1; }
  [[nodiscard]] bool abandons() const { return !all(3).empty(); }
};

struct QuotaFixture : RlsFixture {
  explicit QuotaFixture(std::string_view text = policy, RlsOptions options = {})
      : RlsFixture(text, std::move(options)) {}

  std::int32_t open(const Reports& reports) {
    const auto stream = client.ask(post(stream_quotas), reports.body(), true);
    exchange();
    return stream;
  }
  void send(std::int32_t stream, const Reports& reports) {
    client.send(stream, reports.body());
    exchange();
  }
  void pass(Duration time) {
    clock.advance(time);
    tick();
    exchange();
  }
  // Returns all responses since the last call.
  std::vector<Action> actions(std::int32_t stream) {
    std::vector<Action> all;
    for (const std::string& message : messages_of(client.reply(stream))) {
      for (const std::string& action : MessageFields(message).all(1)) all.emplace_back(action);
    }
    client.reply(stream).body.clear();
    return all;
  }
  Action action(std::int32_t stream) {
    const auto all = actions(stream);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Action("") : all.front();
  }
};

TEST(QuotaService, AReportIsAnsweredWithAnAssignment) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  const Action action = envoy.action(stream);
  EXPECT_EQ(action.message(1).message(1).text(1), "path");
  EXPECT_EQ(action.message(1).message(1).text(2), "/api/x");
  EXPECT_EQ(action.message(2).message(2).number(1), 2U) << "seconds to live";
  EXPECT_EQ(action.max_tokens(), 35U);
  EXPECT_EQ(action.tokens_per_fill(), 100U);
  const MessageFields interval = action.token_bucket().message(3);
  EXPECT_EQ(interval.number(1), 1U);
  EXPECT_EQ(interval.number(2), 1U) << "for Envoy, which does not compare the seconds";
  EXPECT_FALSE(envoy.client.reply(stream).closed);
}

TEST(QuotaService, AssignmentsAreRenewedWithoutAReport) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  static_cast<void>(envoy.actions(stream));
  envoy.pass(400ms);
  EXPECT_TRUE(envoy.actions(stream).empty());
  envoy.pass(100ms);
  EXPECT_EQ(envoy.action(stream).tokens_per_fill(), 100U);
}

TEST(QuotaService, ABucketIsMatchedAsItsPolicyHasIt) {
  struct Row {
    std::string_view domain;
    Entries id;
    std::string_view result;
  };
  const std::vector<Row> of_policy{
      {"weir", {{"path", "/api/x"}}, "tokens"},
      {"weir", {{"path", "/elsewhere"}}, "allowed"},
      {"weir", {{"path", "/watched/x"}}, "allowed"},
      {"weir", {{"path", "/api/user/x"}}, "denied"},  // its key is missing
      {"weir", {{"path", "/api/user/x"}, {"user", "alice"}}, "tokens"},
      {"unknown", {{"path", "/api/x"}}, "allowed"},
  };
  const std::vector<Row> of_descriptors{
      {"shop", {{"plan", "free"}, {"user", "alice"}}, "tokens"},
      {"shop", {{"user", "alice"}, {"plan", "free"}}, "tokens"},  // the entries of a map have no order
      {"shop", {{"plan", "free"}}, "allowed"},
      {"shop", {{"plan", "gold"}}, "allowed"},
      {"shop", {{"plan", "none"}}, "denied"},
      {"shop", {{"plan", "trial"}}, "allowed"},
      {"other", {{"plan", "none"}}, "allowed"},
  };
  const auto expect = [](std::string_view text, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      QuotaFixture envoy(text);
      const Action action = envoy.action(envoy.open(Reports(row.domain).bucket(row.id)));
      const std::string_view result = action.tokens_per_fill() > 0 ? "tokens" : action.denies() ? "denied" : "allowed";
      EXPECT_EQ(result, row.result) << row.domain << " " << row.id[0].first << "=" << row.id[0].second;
      EXPECT_EQ(action.allows(), row.result == "allowed");
    }
  };
  expect(policy, of_policy);
  expect(descriptors, of_descriptors);
}

TEST(QuotaService, ABucketUnderTwoLimitsHasTheLeast) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/user/x"}, {"user", "alice"}}));
  EXPECT_EQ(envoy.action(stream).tokens_per_fill(), 50U) << "half of the smaller one";
}

TEST(QuotaService, OrderAndRepetitionMakeNoOtherBucket) {
  QuotaFixture envoy(descriptors);
  const auto stream = envoy.open(Reports("shop").bucket({{"user", "a"}, {"plan", "free"}}));
  static_cast<void>(envoy.actions(stream));
  envoy.send(stream, Reports().bucket({{"plan", "gold"}, {"plan", "free"}, {"user", "a"}}));
  EXPECT_TRUE(envoy.actions(stream).empty());
}

TEST(QuotaService, StreamsOfOneConnectionAreHoldersOfTheirOwn) {
  QuotaFixture envoy;
  const auto one = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  const auto other = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  EXPECT_EQ(envoy.action(one).tokens_per_fill(), 100U);
  EXPECT_EQ(envoy.action(other).tokens_per_fill(), 50U);
}

TEST(QuotaService, WhatABrokenStreamHeldGoesToTheOthers) {
  for (const bool is_orderly : {true, false}) {
    QuotaFixture envoy;
    const auto one = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
    const auto other = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
    if (is_orderly) {
      envoy.client.send(one, "", true);
    } else {
      envoy.client.reset(one);
    }
    envoy.exchange();
    envoy.pass(1s);
    envoy.send(other, Reports().bucket({{"path", "/api/x"}}, 0, 10'000));
    for (int i = 0; i < 19; ++i) envoy.pass(100ms);
    for (const Action& action : envoy.actions(other))
      EXPECT_LE(action.tokens_per_fill(), 100U) << "the other half counts";
    for (int i = 0; i < 10; ++i) envoy.pass(100ms);
    EXPECT_EQ(envoy.actions(other).back().tokens_per_fill(), 190U);
  }
}

TEST(QuotaService, AReloadChangesAssignmentsAtOnce) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  EXPECT_EQ(envoy.action(stream).tokens_per_fill(), 100U);
  std::string lower(policy);
  lower.replace(lower.find("rate: 200/s"), 11, "rate: 20/s");
  ASSERT_TRUE(envoy.engine->reload(ruleset_of(lower), envoy.clock));
  envoy.pass(100ms);
  const Action lowered = envoy.action(stream);
  EXPECT_EQ(lowered.tokens_per_fill(), 95U);
  EXPECT_EQ(lowered.token_bucket().message(3).number(1), 5U) << "seconds";
  std::string none(policy);
  none.replace(none.find("/api/**"), 7, "/web/**");
  ASSERT_TRUE(envoy.engine->reload(ruleset_of(none), envoy.clock));
  envoy.pass(100ms);
  EXPECT_TRUE(envoy.action(stream).allows());
}

TEST(QuotaService, AnIdleBucketIsAbandoned) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  envoy.pass(60s);
  EXPECT_TRUE(envoy.actions(stream).back().abandons());
  envoy.pass(1s);
  EXPECT_TRUE(envoy.actions(stream).empty());
  EXPECT_FALSE(envoy.client.reply(stream).closed);
}

TEST(QuotaService, AStreamWithoutBucketsStaysOpen) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir"));
  envoy.tick(net::SteadyTime(1h));
  envoy.tick(net::SteadyTime(2h));
  envoy.send(stream, Reports().bucket({{"path", "/api/x"}}));
  EXPECT_EQ(envoy.action(stream).tokens_per_fill(), 100U);
}

// Each error ends its own stream only.
TEST(QuotaService, BrokenMessagesEndTheirStreamOnly) {
  struct Row {
    std::string body;
    std::string status;
    std::string message;
  };
  std::string too_many(framed(std::string()));
  {
    std::string message;
    wire::protobuf::append_bytes(message, 1, "weir");
    for (int i = 0; i < 20'000; ++i) message += std::string("\x12\0", 2);
    too_many = framed(message);
  }
  const std::vector<Row> rows{
      {framed("\xff\xff\xff"), "13", "invalid RateLimitQuotaUsageReports message"},
      {framed(std::string("\x0a\x04weir\x12\x02\x0a\x05", 10)), "13", "invalid RateLimitQuotaUsageReports message"},
      {Reports().bucket({{"path", "/"}}).body(), "3", "the first message must name the domain"},
      {Reports("weir").bucket({}).body(), "3", "bucket id must not be empty"},
      {Reports("weir").body() + Reports("other").body(), "3", "the domain must not change within a stream"},
      {too_many, "8", "message too large or too many unread responses"},
      {std::string("\x01\0\0\0\0", 5), "12", "compressed messages are not supported"},
      {std::string("\x07\0\0\0\0", 5), "13", "invalid compressed flag: must be 0 or 1"},
      {std::string("\0\xff\xff\xff\xff", 5), "8", "message too long"},
  };
  QuotaFixture envoy;
  const auto good = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  static_cast<void>(envoy.actions(good));
  for (const Row& row : rows) {
    const auto stream = envoy.client.ask(post(stream_quotas), row.body, true);
    envoy.exchange();
    const Reply& reply = envoy.client.reply(stream);
    EXPECT_EQ(status_of(reply), row.status) << row.message;
    EXPECT_EQ(message_of(reply), row.message);
    EXPECT_TRUE(reply.closed);
  }
  envoy.send(good, Reports().bucket({{"path", "/api/x"}}));
  envoy.pass(500ms);
  EXPECT_EQ(envoy.action(good).tokens_per_fill(), 100U);
}

TEST(QuotaService, ABucketThatIsTooLongIsNotAnswered) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir")
                                     .bucket({{"path", "/api/" + std::string(2'000, 'x')}})
                                     .bucket({{"path", "/api/\xff"}})
                                     .bucket({{"", ""}}));
  EXPECT_EQ(envoy.actions(stream).size(), 2U);
}

TEST(QuotaService, OnePeerThatDoesNotReadIsNotKept) {
  RlsOptions options;
  options.limits.unsent_bytes = 1'000;
  QuotaFixture envoy(policy, options);
  Reports reports("weir");
  for (int i = 0; i < 200; ++i) reports.bucket({{"path", "/elsewhere/" + std::to_string(i)}});
  const auto stream = envoy.open(reports);
  net::Output unread;
  for (int i = 0; i < 20; ++i) {
    envoy.clock.advance(500ms);
    envoy.talk.session().on_tick({}, unread);
  }
  EXPECT_LT(unread.bytes().size(), 70'000U) << "the client's window";
  envoy.client.hear(unread.bytes());
  envoy.exchange();
  EXPECT_EQ(status_of(envoy.client.reply(stream)), "8");
}

TEST(QuotaService, TheEndOfTheServerEndsItsStreams) {
  QuotaFixture envoy;
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  net::Output out;
  envoy.talk.session().on_drain(out);
  envoy.client.hear(out.bytes());
  envoy.tick();
  envoy.exchange();
  EXPECT_EQ(status_of(envoy.client.reply(stream)), "14");
  EXPECT_TRUE(envoy.talk.session().idle());
}

TEST(QuotaService, ATokenIsAskedFor) {
  RlsOptions options;
  options.token = Token("secret");
  QuotaFixture envoy(policy, options);
  const auto stream = envoy.open(Reports("weir").bucket({{"path", "/api/x"}}));
  EXPECT_EQ(status_of(envoy.client.reply(stream)), "16");
}

}  // namespace
}  // namespace weir::frontend::quota_service_tests
