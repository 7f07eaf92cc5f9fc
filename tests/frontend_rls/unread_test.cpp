// Calls with any client input are evaluated or denied, never failed: a proxy may let requests pass when its limiter
// fails.
#include <gtest/gtest.h>

#include "tests/frontend_rls/rls_fixture.h"

namespace weir::frontend::unread_tests {
namespace {

constexpr std::string_view policy =
    "domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { unit: minute, requests_per_unit: 3 }\n";

std::uint64_t denied(const RlsFixture& fixture, Unread why) {
  return fixture.frontend.unevaluated()->denied[static_cast<std::size_t>(why)].value();
}

// The response to a call that could not be read.
void expect_denied(const RlsFixture& fixture, const Reply& reply, Unread why) {
  EXPECT_EQ(field_of(reply, ":status"), "200");
  ASSERT_EQ(status_of(reply), "0") << message_of(reply);
  EXPECT_TRUE(reply.ended);
  ASSERT_EQ(messages_of(reply).size(), 1U);
  const MessageFields response(messages_of(reply).front());
  EXPECT_EQ(response.number(1), over_limit);
  EXPECT_TRUE(response.all(2).empty());
  EXPECT_EQ(response.header("content-type"), "application/problem+json");
  EXPECT_EQ(response.header("retry-after"), "");
  EXPECT_NE(response.text(5).find(R"("status":429)"), std::string::npos) << response.text(5);
  EXPECT_EQ(denied(fixture, why), 1U);
  EXPECT_EQ(fixture.frontend.unevaluated()->failed.value(), 0U);
}

TEST(RlsUnread, EveryByteOfAValueIsEvaluated) {
  RlsFixture frontend(policy);
  for (int byte = 0; byte < 256; ++byte) {
    const auto ask = Ask("shop").descriptor({{"user", "u" + std::string(1, static_cast<char>(byte))}});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(frontend.limit(ask).number(1), ok) << byte;
    EXPECT_EQ(frontend.limit(ask).number(1), over_limit) << byte;
  }
  EXPECT_EQ(frontend.limit(Ask("\xff").descriptor({{"\xff", "\xff"}})).number(1), ok);
}

TEST(RlsUnread, EveryByteOfAValueIsEvaluatedInDomainWeir) {
  RlsFixture frontend(
      "version: 1\nlimits:\n  - name: all\n    consumer_key: header:x-key\n    algorithm: fixed_window\n    rate: "
      "2/h\n");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string odd = "u" + std::string(1, static_cast<char>(byte)) + "v";
    const auto ask = Ask("weir").descriptor({{"path", "/" + odd}, {"method", odd}, {"x-key", odd}});
    for (int i = 0; i < 2; ++i) EXPECT_EQ(frontend.limit(ask).number(1), ok) << byte;
    EXPECT_EQ(frontend.limit(ask).number(1), over_limit) << byte;
  }
}

TEST(RlsUnread, MessageThatIsTooLongIsReadToItsEndAndThenOverTheLimit) {
  RlsOptions options;
  options.limits.body_bytes = 70'000;
  RlsFixture frontend(policy, options);
  const std::string body = Ask("shop").descriptor({{"user", std::string(200'000, 'u')}}).body();
  const auto stream = frontend.client.ask(post(should_rate_limit), body.substr(0, 150'000), true);
  frontend.exchange();
  EXPECT_FALSE(frontend.client.reply(stream).closed);
  EXPECT_EQ(frontend.client.reply(stream).fields.count(":status"), 0U) << "answered before its end";
  frontend.client.send(stream, body.substr(150'000), true);
  frontend.exchange();
  expect_denied(frontend, frontend.client.reply(stream), Unread::message_too_long);
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"user", "alice"}})).number(1), ok);
}

TEST(RlsUnread, WhatEnvoyCanSendIsEvaluatedByDefault) {
  RlsFixture frontend(policy);
  const Entries user{{"user", std::string(60'000, '\xfe')}};
  const auto ask = Ask("shop").descriptor(user).descriptor({{"path", std::string(60'000, 'p')}, user.front()});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(frontend.limit(ask).number(1), ok);
  const MessageFields response = frontend.limit(ask);
  EXPECT_EQ(response.number(1), over_limit);
  EXPECT_EQ(response.all(2).size(), 2U) << "evaluated, and not only denied";
}

TEST(RlsUnread, ManyLongMessagesAtOnceAreDeniedAndShortOnesAreEvaluated) {
  RlsFixture frontend(policy);
  const std::string large = Ask("shop").descriptor({{"user", std::string(900'000, 'u')}}).body();
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 12; ++i)
    streams.push_back(frontend.client.ask(post(should_rate_limit), large.substr(0, 850'000), true));
  frontend.exchange();
  EXPECT_EQ(frontend.limit(Ask("shop").descriptor({{"user", "alice"}})).number(1), ok);
  for (const auto stream : streams) frontend.client.send(stream, large.substr(850'000), true);
  frontend.exchange();
  std::uint64_t unread = 0;
  for (const auto stream : streams) {
    const Reply& reply = frontend.client.reply(stream);
    ASSERT_EQ(status_of(reply), "0") << message_of(reply);
    unread += MessageFields(messages_of(reply).at(0)).all(2).empty() ? 1U : 0U;
  }
  EXPECT_EQ(denied(frontend, Unread::message_too_long), unread);
  EXPECT_GT(unread, 0U);
  EXPECT_LT(unread, streams.size());
  EXPECT_TRUE(frontend.client.goaways().empty());
}

TEST(RlsUnread, MetadataThatIsTooLongIsOverTheLimit) {
  RlsOptions options;
  options.limits.head_bytes = 8'000;
  RlsFixture frontend(policy, options);
  const Reply& reply = frontend.call(should_rate_limit, Ask("shop").descriptor({{"user", "alice"}}).body(),
                                     {{"x-long", std::string(9'000, 'x')}});
  expect_denied(frontend, reply, Unread::head_too_long);
}

TEST(RlsUnread, SixtyKibibytesOfMetadataAreRead) {
  RlsFixture frontend(policy);
  const Reply& reply =
      frontend.call(should_rate_limit, Ask("shop").descriptor({{"user", "alice"}}).body(),
                    {{"x-long", std::string(30'000, 'x')}, {"authorization", std::string(30'000, 'x')}});
  ASSERT_EQ(status_of(reply), "0");
  EXPECT_EQ(MessageFields(messages_of(reply).at(0)).number(1), ok);
  EXPECT_EQ(MessageFields(messages_of(reply).at(0)).all(2).size(), 1U);
}

TEST(RlsUnread, MetadataWithBytesThatHaveNoPlaceThereIsOverTheLimit) {
  RlsFixture frontend(policy);
  const auto ask = Ask("shop").descriptor({{"user", "alice"}}).body();
  expect_denied(frontend,
                frontend.call(should_rate_limit, ask,
                              {{"x-odd",
                                "a\x01"
                                "b"}}),
                Unread::malformed);
  EXPECT_EQ(field_of(frontend.call(health_check, framed(""),
                                   {{"x-odd",
                                     "a\x01"
                                     "b"}}),
                     ":status"),
            "400");
}

TEST(RlsUnread, MoreDescriptorsThanAreEvaluatedTogetherAreOverTheLimit) {
  RlsFixture frontend(policy);
  Ask many("shop");
  for (int i = 0; i < 65; ++i) many.descriptor({{"user", "x"}});
  expect_denied(frontend, frontend.call(should_rate_limit, many.body()), Unread::too_many_descriptors);
}

TEST(RlsUnread, CallsThatAreGivenUpAreCounted) {
  RlsFixture frontend(policy);
  const auto stream = frontend.client.ask(post(should_rate_limit), "", true);
  frontend.exchange();
  frontend.tick();
  frontend.tick(net::SteadyTime{} + 10s);
  EXPECT_TRUE(frontend.client.reply(stream).closed);
  EXPECT_EQ(frontend.frontend.unevaluated()->failed.value(), 1U);
}

TEST(RlsUnread, CallsThatEndWithTheirConnectionAreCounted) {
  RlsFixture frontend(policy);
  frontend.client.ask(post(should_rate_limit), "", true);
  frontend.client.ask(post(should_rate_limit), "", true);
  frontend.exchange();
  frontend.talk.send(std::string(9, '\xff'));
  EXPECT_TRUE(frontend.talk.closing());
  EXPECT_EQ(frontend.frontend.unevaluated()->failed.value(), 2U);
}

}  // namespace
}  // namespace weir::frontend::unread_tests
