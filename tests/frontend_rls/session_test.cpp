// Tokens, deadlines, health, reflection and shutdown.
#include <gtest/gtest.h>

#include "tests/frontend_rls/rls_fixture.h"

namespace weir::frontend::session_tests {
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
  RlsFixture frontend(policy);
  for (const Row& row : rows) {
    const auto stream = frontend.client.ask(row.fields, "");
    frontend.exchange();
    EXPECT_EQ(field_of(frontend.client.reply(stream), ":status"), row.status);
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
    RlsFixture frontend(policy);
    const auto stream = frontend.client.ask({{":method", "POST"},
                                             {":scheme", "http"},
                                             {":authority", "weir"},
                                             {":path", should_rate_limit},
                                             {"content-type", type}},
                                            question());
    frontend.exchange();
    EXPECT_EQ(field_of(frontend.client.reply(stream), ":status"), status) << type;
  }
}

TEST(RlsSession, UnknownMethodsAreUnimplemented) {
  RlsFixture frontend(policy);
  EXPECT_EQ(status_of(frontend.call("/envoy.service.ratelimit.v3.RateLimitService/Other", question())), "12");
  EXPECT_EQ(status_of(frontend.call("/", question())), "12");
}

TEST(RlsSession, DeadlineThatHasPassedIsExceeded) {
  RlsFixture frontend(policy);
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"grpc-timeout", "0m"}})), "4");
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"grpc-timeout", "20m"}})), "0");
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"grpc-timeout", "soon"}})), "13");
}

TEST(RlsSession, CompressionIsUnimplementedAndIdentityIsNot) {
  RlsFixture frontend(policy);
  const Reply& reply = frontend.call(should_rate_limit, question(), {{"grpc-encoding", "gzip"}});
  EXPECT_EQ(status_of(reply), "12");
  EXPECT_EQ(field_of(reply, "grpc-accept-encoding"), "identity");
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"grpc-encoding", "identity"}})), "0");
}

TEST(RlsSession, TokenIsAskedForOfAllButHealth) {
  RlsOptions options;
  options.token = Token("secret");
  RlsFixture frontend(policy, options);
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question())), "16");
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"x-weir-token", "wrong"}})), "16");
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"x-weir-token", "secret"}})), "0");
  EXPECT_EQ(status_of(frontend.call(should_rate_limit, question(), {{"authorization", "Bearer secret"}})), "0");
  EXPECT_EQ(status_of(frontend.call(reflection, "")), "16");
  EXPECT_EQ(status_of(frontend.call(health_check, service(""))), "0");
}

TEST(RlsSession, HealthIsThatOfTheServer) {
  RlsFixture frontend(policy);
  const auto status = [&](std::string_view name) {
    return MessageFields(messages_of(frontend.call(health_check, service(name))).at(0)).number(1);
  };
  EXPECT_EQ(status(""), 1U);
  EXPECT_EQ(status("ratelimit"), 1U);
  EXPECT_EQ(status_of(frontend.call(health_check, service("other"))), "5");
  frontend.health.set_serving(false);
  EXPECT_EQ(status("ratelimit"), 2U);
}

TEST(RlsSession, WatchersAreNotifiedOfChangesAndShutdown) {
  RlsFixture frontend(policy);
  const auto known = frontend.client.ask(post(health_watch), service(""));
  const auto unknown = frontend.client.ask(post(health_watch), service("other"));
  frontend.exchange();
  EXPECT_EQ(messages_of(frontend.client.reply(known)).size(), 1U);
  EXPECT_EQ(MessageFields(messages_of(frontend.client.reply(unknown)).at(0)).number(1), 3U);
  frontend.tick();
  EXPECT_EQ(messages_of(frontend.client.reply(known)).size(), 1U);
  frontend.health.set_serving(false);
  frontend.tick();
  EXPECT_EQ(MessageFields(messages_of(frontend.client.reply(known)).at(1)).number(1), 2U);
  EXPECT_FALSE(frontend.client.reply(known).closed);
  EXPECT_EQ(messages_of(frontend.client.reply(unknown)).size(), 1U);
}

TEST(RlsSession, DrainAnnouncesTheEndThenEndsWatchesAndIsIdle) {
  RlsFixture frontend(policy);
  const auto watch = frontend.client.ask(post(health_watch), service(""));
  const auto strange = frontend.client.ask(post(health_watch), service("other"));
  frontend.exchange();
  frontend.client.hear(frontend.talk.drain());
  EXPECT_EQ(frontend.client.goaways().size(), 1U);
  EXPECT_FALSE(frontend.talk.session().idle());
  frontend.tick();
  EXPECT_EQ(status_of(frontend.client.reply(watch)), "14");
  EXPECT_EQ(status_of(frontend.client.reply(strange)), "14");
  EXPECT_EQ(frontend.client.goaways().size(), 2U);
  EXPECT_TRUE(frontend.talk.session().idle());
}

TEST(RlsSession, LongestMessageIsAcceptedHoweverLong) {
  RlsOptions options;
  options.limits.body_bytes = std::size_t{2} << 20;
  RlsFixture frontend(policy, options);
  const std::string user(options.limits.body_bytes - 100, 'u');
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"user", user}})).number(1), 1U);
}

TEST(RlsSession, AllCallsOfALargeReadAreAnswered) {
  RlsFixture frontend(policy);
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 200; ++i) {
    const std::string user = "user-" + std::to_string(i);
    const Ask ask = Ask(i % 2 == 0 ? "shop" : "weir").descriptor({{"user", user}});
    streams.push_back(frontend.client.ask(post(should_rate_limit, {}), ask.body()));
  }
  frontend.exchange();
  for (const std::int32_t stream : streams) {
    EXPECT_EQ(status_of(frontend.client.reply(stream)), "0") << stream;
    EXPECT_EQ(messages_of(frontend.client.reply(stream)).size(), 1U) << stream;
  }
}

TEST(RlsSession, BytesOfAnotherProtocolCloseTheConnection) {
  RlsFixture frontend(policy);
  frontend.talk.send("GET / HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_TRUE(frontend.talk.closing());
}

TEST(RlsSession, ReflectionAnswersEachMessageOfAnOpenCall) {
  const auto ask = [](std::uint32_t field, std::string_view text) {
    std::string out;
    wire::protobuf::append_bytes(out, field, text);
    return framed(out);
  };
  RlsFixture frontend(policy);
  const auto stream = frontend.client.ask(post(reflection), ask(7, ""), true);
  frontend.exchange();
  auto sent = messages_of(frontend.client.reply(stream));
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_NE(sent[0].find("envoy.service.ratelimit.v3.RateLimitService"), std::string::npos);
  EXPECT_NE(sent[0].find("grpc.health.v1.Health"), std::string::npos);
  EXPECT_NE(sent[0].find("grpc.reflection.v1.ServerReflection"), std::string::npos);

  frontend.client.send(stream, ask(4, "envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit") +
                                   ask(3, "google/protobuf/duration.proto") + ask(4, "no.such.Symbol"));
  frontend.exchange();
  sent = messages_of(frontend.client.reply(stream));
  ASSERT_EQ(sent.size(), 4U);
  EXPECT_NE(MessageFields(sent[1]).message(4).text(1).find("envoy/service/ratelimit/v3/rls.proto"), std::string::npos);
  EXPECT_NE(MessageFields(sent[2]).message(4).text(1).find("google.protobuf"), std::string::npos);
  EXPECT_EQ(MessageFields(sent[3]).message(7).number(1), 5U);
  EXPECT_FALSE(frontend.client.reply(stream).closed);

  frontend.client.send(stream, "", true);
  frontend.exchange();
  EXPECT_EQ(status_of(frontend.client.reply(stream)), "0");
  EXPECT_TRUE(frontend.client.reply(stream).ended);
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
  RlsFixture frontend(policy, options);
  const auto stream = frontend.client.ask(post(reflection), all, true);
  const std::string answer = frontend.talk.send(frontend.client.bytes());  // the client's window is 65,535 bytes
  EXPECT_LT(answer.size(), 70'000U);
  frontend.client.hear(answer);
  for (int i = 0; i < 100 && !frontend.client.reply(stream).closed; ++i) frontend.exchange();
  EXPECT_EQ(status_of(frontend.client.reply(stream)), "8");
}

}  // namespace
}  // namespace weir::frontend::session_tests
