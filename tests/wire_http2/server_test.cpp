#include "wire/http2/server.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/wire_http2/client.h"

namespace weir::wire::http2 {
namespace {

using namespace std::chrono_literals;

constexpr std::array head{Header{":status", "200"}, Header{"content-type", "application/grpc"}};
constexpr std::array trailers{Header{"grpc-status", "0"}};

// Echoes each complete request: its path and its body.
struct Conversation {
  explicit Conversation(const Limits& limits = {}) : server(limits) {}

  void echo(Exchange& exchange) {
    if (exchange.closed() || !exchange.complete()) return;
    ++served;
    server.begin(exchange, head);
    server.reply(exchange) += exchange.field(Field::path);
    server.reply(exchange) += exchange.body();
    server.end(exchange, trailers);
  }

  void deliver(std::string_view bytes) {
    alive = server.receive(bytes) && alive;
    for (Exchange* exchange : server.updated()) echo(*exchange);
    answer();
  }
  void answer() {
    std::string out;
    server.write(out);
    client.hear(out);
  }
  void exchange_all() {
    for (std::string bytes = client.bytes(); !bytes.empty(); bytes = client.bytes()) deliver(bytes);
  }

  Server server;
  Client client;
  bool alive = true;
  int served = 0;
};

TEST(Http2Server, AnswersWithBodyAndTrailers) {
  Conversation talk;
  const auto stream = talk.client.ask(post("/a"), "bread");
  talk.exchange_all();
  const Reply& reply = talk.client.reply(stream);
  EXPECT_EQ(reply.fields.at(":status"), "200");
  EXPECT_EQ(reply.body, "/abread");
  EXPECT_EQ(reply.fields.at("grpc-status"), "0");
  EXPECT_TRUE(reply.ended);
  EXPECT_TRUE(talk.server.open().empty());
}

TEST(Http2Server, RequestsOfOneReadAreOneBatch) {
  Conversation talk;
  for (int i = 0; i < 100; ++i) talk.client.ask(post("/many"), "x");
  std::string bytes = talk.client.bytes();
  ASSERT_TRUE(talk.server.receive(bytes));
  EXPECT_EQ(talk.server.updated().size(), 100U);
  for (Exchange* exchange : talk.server.updated()) EXPECT_TRUE(exchange->complete());
}

TEST(Http2Server, PiecesOfAnySizeGiveTheSameRequest) {
  for (const std::size_t size : {1U, 2U, 7U, 100U}) {
    Conversation talk;
    const auto stream = talk.client.ask(post("/pieces"), std::string(1000, 'b'));
    const std::string bytes = talk.client.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += size) talk.deliver(std::string_view(bytes).substr(at, size));
    EXPECT_EQ(talk.client.reply(stream).body, "/pieces" + std::string(1000, 'b')) << size;
    EXPECT_EQ(talk.served, 1) << size;
  }
}

TEST(Http2Server, ReusedExchangesAreReset) {
  Conversation talk;
  talk.client.ask(post("/first", {{"x-weir-token", "secret"}}), "one");
  talk.exchange_all();
  talk.client.ask(post("/second"), "");
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  ASSERT_EQ(talk.server.updated().size(), 1U);
  const Exchange& exchange = *talk.server.updated().front();
  EXPECT_EQ(exchange.field(Field::path), "/second");
  EXPECT_EQ(exchange.field(Field::weir_token), "");
  EXPECT_EQ(exchange.body(), "");
}

TEST(Http2Server, MemoryOfALargeResponseIsFreed) {
  Conversation talk;
  const auto stream = talk.client.ask(post("/large"), std::string(20'000, 'x'));
  talk.exchange_all();
  ASSERT_EQ(talk.client.reply(stream).body.size(), 20'006U);
  talk.client.ask(post("/small"), "");
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  Exchange& exchange = *talk.server.updated().front();
  talk.server.begin(exchange, head);
  EXPECT_LE(talk.server.reply(exchange).capacity(), 4'096U);
}

TEST(Http2Server, FirstOfDuplicateFieldsTakesPrecedence) {
  Conversation talk;
  talk.client.ask(post("/", {{"x-weir-token", "one"}, {"x-weir-token", "two"}}), "");
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  EXPECT_EQ(talk.server.updated().front()->field(Field::weir_token), "one");
}

TEST(Http2Server, BodyBeyondTheLimitIsAFaultAndDropped) {
  Conversation talk({.body_bytes = 10});
  talk.client.ask(post("/fits"), std::string(10, 'x'));
  talk.client.ask(post("/too-long"), std::string(11, 'x'));
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  ASSERT_EQ(talk.server.updated().size(), 2U);
  EXPECT_EQ(talk.server.updated()[0]->fault(), Fault::none);
  EXPECT_EQ(talk.server.updated()[1]->fault(), Fault::body_too_large);
  EXPECT_EQ(talk.server.updated()[1]->body(), "");
}

TEST(Http2Server, BodiesTogetherAreBounded) {
  Conversation talk({.reserved_bytes = 0, .buffered_bytes = 3'000});
  for (int i = 0; i < 10; ++i) talk.client.ask(post("/"), std::string(1'000, 'x'), true);
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  std::size_t held = 0;
  for (const Exchange* exchange : talk.server.open()) held += exchange->body().size();
  EXPECT_EQ(held, 2'000U);  // the fields count too
}

TEST(Http2Server, SmallRequestAlwaysHasRoom) {
  Conversation talk({.reserved_bytes = 500, .buffered_bytes = 3'000});
  for (int i = 0; i < 10; ++i) talk.client.ask(post("/"), std::string(1'000, 'x'), true);
  const auto small = talk.client.ask(post("/small"), std::string(400, 'x'));
  talk.exchange_all();
  EXPECT_EQ(talk.client.reply(small).body, "/small" + std::string(400, 'x'));
  std::size_t held = 0;
  for (const Exchange* exchange : talk.server.open()) held += exchange->body().size();
  EXPECT_LE(held, 3'000U + 10 * 500U);
}

TEST(Http2Server, FaultyRequestIsReadToItsEnd) {
  Conversation talk({.body_bytes = 10});
  const auto stream = talk.client.ask(post("/long"), std::string(500'000, 'x'), true);
  talk.exchange_all();
  EXPECT_FALSE(talk.client.reply(stream).closed);
  talk.client.send(stream, std::string(500'000, 'x'), true);
  talk.exchange_all();
  EXPECT_EQ(talk.served, 1);
  EXPECT_EQ(talk.client.reply(stream).body, "/long");
}

TEST(Http2Server, LongMessageNeedsNoRoundTrip) {
  Conversation talk;
  talk.exchange_all();  // the settings
  talk.client.ask(post("/long"), std::string(900'000, 'x'));
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  ASSERT_EQ(talk.server.updated().size(), 1U);
  EXPECT_TRUE(talk.server.updated().front()->complete());
}

TEST(Http2Server, MalformedFieldValueIsAFault) {
  Conversation talk;
  const auto stream = talk.client.ask(post("/odd", {{"x", "a\x7f"}}), "body");
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  ASSERT_EQ(talk.server.updated().size(), 1U);
  Exchange& exchange = *talk.server.updated().front();
  EXPECT_EQ(exchange.fault(), Fault::malformed_field);
  EXPECT_EQ(exchange.field(Field::path), "/odd");
  EXPECT_TRUE(exchange.complete());
  EXPECT_EQ(exchange.body(), "");
  talk.server.refuse(exchange, std::array{Header{":status", "400"}});
  talk.answer();
  EXPECT_EQ(talk.client.reply(stream).fields.at(":status"), "400");
}

TEST(Http2Server, AbortedRequestsAreCounted) {
  Conversation talk;
  talk.client.ask(post("/", {{"connection", "close"}}), "");
  talk.client.ask(post("/"), "");
  talk.exchange_all();
  EXPECT_EQ(talk.server.aborted(), 1U);
}

TEST(Http2Server, HeadBeyondTheLimitIsAFault) {
  Conversation talk({.head_bytes = 400});
  talk.client.ask(post("/", {{"x-long", std::string(500, 'x')}}), "");
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  EXPECT_EQ(talk.server.updated().front()->fault(), Fault::head_too_large);
}

TEST(Http2Server, StreamsBeyondTheLimitAreRefused) {
  Conversation talk({.streams = 2});
  talk.exchange_all();
  std::array<std::int32_t, 3> streams{};
  std::string bytes;
  for (auto& stream : streams) {
    stream = talk.client.ask(post("/"), "", true);
    bytes += talk.client.bytes();
  }
  talk.deliver(bytes);
  EXPECT_EQ(talk.server.open().size(), 2U);
}

TEST(Http2Server, ResponseBeforeTheEndOfItsRequestStopsIt) {
  Conversation talk;
  const auto stream = talk.client.ask(post("/"), "part", true);
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  talk.server.refuse(*talk.server.updated().front(), std::array{Header{":status", "413"}});
  talk.answer();
  EXPECT_EQ(talk.client.reply(stream).fields.at(":status"), "413");
  EXPECT_TRUE(talk.client.reply(stream).closed);
  EXPECT_TRUE(talk.server.open().empty());
}

TEST(Http2Server, ResponsesInPartsArriveAsSent) {
  Conversation talk;
  const auto stream = talk.client.ask(post("/"), "", true);
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  Exchange& exchange = *talk.server.updated().front();
  talk.server.begin(exchange, head);
  talk.answer();
  EXPECT_EQ(talk.client.reply(stream).fields.at(":status"), "200");
  for (const std::string_view part : {"one ", "two"}) {
    talk.server.reply(exchange) += part;
    talk.server.send(exchange);
    talk.answer();
  }
  EXPECT_EQ(talk.client.reply(stream).body, "one two");
  EXPECT_FALSE(talk.client.reply(stream).closed);
}

TEST(Http2Server, RequestResetByItsPeerIsClosed) {
  Conversation talk;
  talk.exchange_all();
  const auto stream = talk.client.ask(post("/"), "", true);
  std::string bytes = talk.client.bytes();
  talk.client.reset(stream);
  bytes += talk.client.bytes();
  ASSERT_TRUE(talk.server.receive(bytes));
  ASSERT_EQ(talk.server.updated().size(), 1U);
  EXPECT_TRUE(talk.server.updated().front()->closed());
  talk.server.begin(*talk.server.updated().front(), head);  // does nothing
  talk.answer();
  EXPECT_TRUE(talk.server.open().empty());
}

TEST(Http2Server, FloodOfResetsEndsTheConnection) {
  Conversation talk({.resets = 100, .resets_per_second = 1});
  talk.exchange_all();
  for (int i = 0; i < 300 && talk.client.goaways().empty(); ++i) {
    const auto stream = talk.client.ask(post("/"), "", true);
    std::string bytes = talk.client.bytes();
    talk.client.reset(stream);
    talk.deliver(bytes + talk.client.bytes());
  }
  EXPECT_FALSE(talk.client.goaways().empty());
  EXPECT_TRUE(talk.server.over());
}

TEST(Http2Server, FloodOfUnreadPingsEndsTheConnection) {
  Conversation talk({.acknowledgements = 10});
  talk.exchange_all();
  for (int i = 0; i < 50; ++i) talk.client.ping();
  EXPECT_FALSE(talk.server.receive(talk.client.bytes()));
}

TEST(Http2Server, BytesOfAnotherProtocolAreRefused) {
  for (const std::string_view bytes :
       {"GET / HTTP/1.1\r\nHost: weir\r\n\r\n", "*1\r\n$4\r\nPING\r\n", "\x16\x03\x01"}) {
    Server server;
    EXPECT_FALSE(server.receive(bytes)) << bytes;
  }
}

TEST(Http2Server, IncompleteRequestTimesOut) {
  Conversation talk;
  const auto stream = talk.client.ask(post("/"), "part", true);
  talk.exchange_all();
  const std::chrono::steady_clock::time_point start{};
  talk.server.expire(start, 10s);
  talk.server.expire(start + 9s, 10s);
  talk.answer();
  EXPECT_FALSE(talk.client.reply(stream).closed);
  talk.server.expire(start + 10s, 10s);
  talk.answer();
  EXPECT_TRUE(talk.client.reply(stream).closed);
  EXPECT_EQ(talk.client.reply(stream).code, static_cast<std::uint32_t>(NGHTTP2_CANCEL));
}

TEST(Http2Server, ShutdownIsAnnouncedAndRequestsInFlightAreServed) {
  Conversation talk;
  const auto begun = talk.client.ask(post("/begun"), "", true);
  talk.exchange_all();
  talk.server.announce_end();
  talk.answer();
  EXPECT_EQ(talk.client.goaways().size(), 1U);
  talk.server.refuse_more();
  talk.answer();
  EXPECT_EQ(talk.client.goaways().size(), 2U);
  EXPECT_FALSE(talk.server.over());
  talk.client.send(begun, "", true);
  talk.exchange_all();
  EXPECT_TRUE(talk.client.reply(begun).ended);
  EXPECT_TRUE(talk.server.over());
}

TEST(Http2Server, UnsentResponsesAreCounted) {
  Conversation talk({.unsent_bytes = 100'000});
  talk.client.ask(post("/"), "", true);
  ASSERT_TRUE(talk.server.receive(talk.client.bytes()));
  Exchange& exchange = *talk.server.updated().front();
  talk.server.begin(exchange, head);
  talk.server.reply(exchange).append(300'000, 'x');
  talk.server.send(exchange);
  std::string out;
  talk.server.write(out);  // as much as the window allows: 65,535
  EXPECT_LT(out.size(), 70'000U);
  EXPECT_TRUE(talk.server.clogged());
}

}  // namespace
}  // namespace weir::wire::http2
