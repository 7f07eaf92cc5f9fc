// What is around the calls: tokens, deadlines, health, reflection, the end.
#include <gtest/gtest.h>

#include "tests/door_rls/rls_fixture.h"

namespace weir::door {
namespace {

constexpr std::string_view policy =
    "domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { unit: minute, requests_per_unit: 3 }\n";

std::string question() {
  return Ask("shop").descriptor({{"user", "alice"}}).body();
}

std::string service(std::string_view name) {
  std::string out;
  if (!name.empty()) wire::protobuf::append_bytes(out, 1, name);
  return framed(out);
}

TEST(RlsSession, WhatIsNotGrpcIsAnsweredAsHttp) {
  struct Row {
    Fields fields;
    std::string status;
  };
  const Fields base{{":scheme", "http"}, {":authority", "weir"}, {":path", should_rate_limit}};
  const auto with = [&](Fields more) {
    more.insert(more.end(), base.begin(), base.end());
    return more;
  };
  const std::vector<Row> rows{
      {with({{":method", "GET"}}), "405"},
      {with({{":method", "POST"}}), "415"},
  };
  RlsFixture door(policy);
  for (const Row& row : rows) {
    const auto stream = door.client.ask(row.fields, "");
    door.exchange();
    EXPECT_EQ(field_of(door.client.reply(stream), ":status"), row.status);
  }
}

TEST(RlsSession, ContentTypesOfGrpcAreAccepted) {
  for (const auto& [type, status] :
       std::vector<std::pair<std::string, std::string>>{{"application/grpc", "200"},
                                                        {"application/grpc+proto", "200"},
                                                        {"application/grpc;charset=x", "200"},
                                                        {"application/grpc+json", "415"},
                                                        {"application/grpc-web", "415"},
                                                        {"application/json", "415"}}) {
    RlsFixture door(policy);
    const auto stream = door.client.ask({{":method", "POST"},
                                         {":scheme", "http"},
                                         {":authority", "weir"},
                                         {":path", should_rate_limit},
                                         {"content-type", type}},
                                        question());
    door.exchange();
    EXPECT_EQ(field_of(door.client.reply(stream), ":status"), status) << type;
  }
}

TEST(RlsSession, UnknownMethodsAreUnimplemented) {
  RlsFixture door(policy);
  EXPECT_EQ(status_of(door.call("/envoy.service.ratelimit.v3.RateLimitService/Other", question())), "12");
  EXPECT_EQ(status_of(door.call("/", question())), "12");
}

TEST(RlsSession, DeadlineThatHasPassedIsExceeded) {
  RlsFixture door(policy);
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"grpc-timeout", "0m"}})), "4");
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"grpc-timeout", "20m"}})), "0");
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"grpc-timeout", "soon"}})), "13");
}

TEST(RlsSession, CompressionIsUnimplementedAndIdentityIsNot) {
  RlsFixture door(policy);
  const Reply& reply = door.call(should_rate_limit, question(), {{"grpc-encoding", "gzip"}});
  EXPECT_EQ(status_of(reply), "12");
  EXPECT_EQ(field_of(reply, "grpc-accept-encoding"), "identity");
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"grpc-encoding", "identity"}})), "0");
}

TEST(RlsSession, TokenIsAskedForOfAllButHealth) {
  RlsOptions options;
  options.token = Token("secret");
  RlsFixture door(policy, options);
  EXPECT_EQ(status_of(door.call(should_rate_limit, question())), "16");
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"x-weir-token", "wrong"}})), "16");
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"x-weir-token", "secret"}})), "0");
  EXPECT_EQ(status_of(door.call(should_rate_limit, question(), {{"authorization", "Bearer secret"}})), "0");
  EXPECT_EQ(status_of(door.call(reflection, "")), "16");
  EXPECT_EQ(status_of(door.call(health_check, service(""))), "0");
}

TEST(RlsSession, HealthIsThatOfTheServer) {
  RlsFixture door(policy);
  const auto status = [&](std::string_view name) {
    return Told(messages_of(door.call(health_check, service(name))).at(0)).number(1);
  };
  EXPECT_EQ(status(""), 1U);
  EXPECT_EQ(status("ratelimit"), 1U);
  EXPECT_EQ(status_of(door.call(health_check, service("other"))), "5");
  door.health.set_serving(false);
  EXPECT_EQ(status("ratelimit"), 2U);
}

TEST(RlsSession, WatchersAreToldOfChangesAndOfTheEnd) {
  RlsFixture door(policy);
  const auto known = door.client.ask(post(health_watch), service(""));
  const auto unknown = door.client.ask(post(health_watch), service("other"));
  door.exchange();
  EXPECT_EQ(messages_of(door.client.reply(known)).size(), 1U);
  EXPECT_EQ(Told(messages_of(door.client.reply(unknown)).at(0)).number(1), 3U);
  door.tick();
  EXPECT_EQ(messages_of(door.client.reply(known)).size(), 1U);
  door.health.set_serving(false);
  door.tick();
  EXPECT_EQ(Told(messages_of(door.client.reply(known)).at(1)).number(1), 2U);
  EXPECT_FALSE(door.client.reply(known).closed);
  EXPECT_EQ(messages_of(door.client.reply(unknown)).size(), 1U);
}

TEST(RlsSession, DrainAnnouncesTheEndThenEndsWatchesAndIsIdle) {
  RlsFixture door(policy);
  const auto watch = door.client.ask(post(health_watch), service(""));
  const auto strange = door.client.ask(post(health_watch), service("other"));
  door.exchange();
  door.client.hear(door.talk.drain());
  EXPECT_EQ(door.client.goaways().size(), 1U);
  EXPECT_FALSE(door.talk.session().idle());
  door.tick();
  EXPECT_EQ(status_of(door.client.reply(watch)), "14");
  EXPECT_EQ(status_of(door.client.reply(strange)), "14");
  EXPECT_EQ(door.client.goaways().size(), 2U);
  EXPECT_TRUE(door.talk.session().idle());
}

TEST(RlsSession, LongestMessageIsAcceptedHoweverLong) {
  RlsOptions options;
  options.limits.body_bytes = std::size_t{2} << 20;
  RlsFixture door(policy, options);
  const std::string user(options.limits.body_bytes - 100, 'u');
  EXPECT_EQ(door.limit(Ask("shop").descriptor({{"user", user}})).number(1), 1U);
}

TEST(RlsSession, AllCallsOfALargeReadAreAnswered) {
  RlsFixture door(policy);
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 200; ++i) {
    const std::string user = "user-" + std::to_string(i);
    const Ask ask = Ask(i % 2 == 0 ? "shop" : "weir").descriptor({{"user", user}});
    streams.push_back(door.client.ask(post(should_rate_limit, {}), ask.body()));
  }
  door.exchange();
  for (const std::int32_t stream : streams) {
    EXPECT_EQ(status_of(door.client.reply(stream)), "0") << stream;
    EXPECT_EQ(messages_of(door.client.reply(stream)).size(), 1U) << stream;
  }
}

TEST(RlsSession, BytesOfAnotherProtocolCloseTheConnection) {
  RlsFixture door(policy);
  door.talk.say("GET / HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_TRUE(door.talk.closing());
}

TEST(RlsSession, ReflectionAnswersEachMessageOfAnOpenCall) {
  const auto ask = [](std::uint32_t field, std::string_view text) {
    std::string out;
    wire::protobuf::append_bytes(out, field, text);
    return framed(out);
  };
  RlsFixture door(policy);
  const auto stream = door.client.ask(post(reflection), ask(7, ""), true);
  door.exchange();
  auto said = messages_of(door.client.reply(stream));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("envoy.service.ratelimit.v3.RateLimitService"), std::string::npos);
  EXPECT_NE(said[0].find("grpc.health.v1.Health"), std::string::npos);
  EXPECT_NE(said[0].find("grpc.reflection.v1.ServerReflection"), std::string::npos);

  door.client.send(stream, ask(4, "envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit") +
                               ask(3, "google/protobuf/duration.proto") + ask(4, "no.such.Symbol"));
  door.exchange();
  said = messages_of(door.client.reply(stream));
  ASSERT_EQ(said.size(), 4U);
  EXPECT_NE(Told(said[1]).message(4).text(1).find("envoy/service/ratelimit/v3/rls.proto"), std::string::npos);
  EXPECT_NE(Told(said[2]).message(4).text(1).find("google.protobuf"), std::string::npos);
  EXPECT_EQ(Told(said[3]).message(7).number(1), 5U);
  EXPECT_FALSE(door.client.reply(stream).closed);

  door.client.send(stream, "", true);
  door.exchange();
  EXPECT_EQ(status_of(door.client.reply(stream)), "0");
  EXPECT_TRUE(door.client.reply(stream).ended);
}

TEST(RlsSession, ReflectionOfOneWhoDoesNotReadIsEnded) {
  std::string all;
  for (int i = 0; i < 300; ++i) {
    std::string out;
    wire::protobuf::append_bytes(out, 3, "envoy/service/ratelimit/v3/rls.proto");
    all += framed(out);
  }
  RlsOptions options;
  options.limits.unsent_bytes = 100'000;
  RlsFixture door(policy, options);
  const auto stream = door.client.ask(post(reflection), all, true);
  const std::string answer = door.talk.say(door.client.bytes());  // the client's window is 65,535 bytes
  EXPECT_LT(answer.size(), 70'000U);
  door.client.hear(answer);
  for (int i = 0; i < 100 && !door.client.reply(stream).closed; ++i) door.exchange();
  EXPECT_EQ(status_of(door.client.reply(stream)), "8");
}

}  // namespace
}  // namespace weir::door
