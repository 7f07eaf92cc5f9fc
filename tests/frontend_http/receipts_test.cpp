// POST /v1/report, reserve in /v1/check, /v1/settle, /v1/release, /v1/extend, and holds at /v1/auth.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

constexpr std::string_view token_budget = R"(
version: 1
identity: { user: { header: X-User-Id } }
limits:
  - { name: tokens, routes: [POST /chat], consumer_key: user, algorithm: fixed_window, rate: 1000/h }
  - { name: calls, routes: [POST /chat], consumer_key: user, algorithm: fixed_window, rate: 10/h, cost: 2 }
  - { name: streams, routes: [/stream], consumer_key: user, algorithm: concurrency, limit: 1, lease: 30s }
)";

class ReceiptFixture : public HttpFixture {
 public:
  using HttpFixture::HttpFixture;
  explicit ReceiptFixture(std::string_view policy = token_budget) : HttpFixture(policy) {}

  Answer post(std::string_view path, std::string_view body) {
    return ask("POST /v1/" + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
  }
  Answer reserve(int cost, std::string_view more = "") {
    return check(R"({"method":"POST","path":"/chat","user":"ada","reserve":true,"cost":)" + std::to_string(cost) +
                 std::string(more) + "}");
  }
  Answer settle(std::string_view receipt, int actual) {
    return post("settle", R"({"receipt":")" + std::string(receipt) + R"(","actual":)" + std::to_string(actual) + "}");
  }
  Answer release(std::string_view receipt) { return post("release", in_object(receipt)); }

  static std::string in_object(std::string_view receipt) { return R"({"receipt":")" + std::string(receipt) + "\"}"; }
  // The receipt in the response to a reservation.
  static std::string receipt_in(std::string_view body) {
    constexpr std::string_view begin = R"("receipt":")";
    const std::size_t at = body.find(begin);
    if (at == std::string_view::npos) return {};
    body.remove_prefix(at + begin.size());
    return std::string(body.substr(0, body.find('"')));
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string both_done =
    R"({"limits":[{"limit":"tokens","result":"done","quota":1000,"remaining":970,"reset_after":3600},)"
    R"({"limit":"calls","result":"done","quota":10,"remaining":8,"reset_after":3600}]})";
const std::string both_ended =
    R"({"limits":[{"limit":"tokens","result":"ended","quota":1000,"remaining":970,"reset_after":3600},)"
    R"({"limit":"calls","result":"ended","quota":10,"remaining":8,"reset_after":3600}]})";

TEST(Reserve, AnswersWithAReceiptAndWhenItEnds) {
  ReceiptFixture http;
  const Answer reserved = http.reserve(400);
  EXPECT_EQ(reserved.status, 200);
  const std::string receipt = ReceiptFixture::receipt_in(reserved.body);
  EXPECT_FALSE(receipt.empty());
  EXPECT_LE(receipt.size(), ReceiptTexts::max_text_length);
  EXPECT_EQ(reserved.body,
            R"({"admitted":true,"reason":"within","limit":"tokens","quota":1000,"remaining":600,"retry_after":0,)"
            R"("reset_after":3600,"delay":0,"route":"POST /chat","tier":"default","receipt":")" +
                receipt + R"(","receipt_ends":600})");
  EXPECT_TRUE(has(http.reserve(1, R"(,"lease":42.5)").body, R"("receipt_ends":42.5})"));
}

TEST(Reserve, WithTheSameIdIsTheSame) {
  ReceiptFixture http;
  EXPECT_TRUE(has(http.reserve(400, R"(,"id":"call-1")").body, R"("remaining":600)"));
  const Answer again = http.reserve(400, R"(,"id":"call-1")");
  EXPECT_TRUE(has(again.body, R"("remaining":600)")) << again.body;
  EXPECT_EQ(http.settle(ReceiptFixture::receipt_in(again.body), 30).body, both_done);
}

TEST(Reserve, DeniedHasNoReceipt) {
  ReceiptFixture http;
  const Answer denied = http.reserve(2'000);
  EXPECT_EQ(denied.status, 429);
  EXPECT_FALSE(has(denied.body, "receipt"));
}

TEST(Reserve, NamesTheLimitsThatKeptNone) {
  ReceiptFixture alone(R"(
version: 1
limits:
  - { name: tokens, consumer_key: user, algorithm: fixed_window, rate: 100000/h }
)");
  const std::string one = R"({"user":"ada","reserve":true})";
  for (std::size_t i = 0; i < core::Receipts::max_open; ++i) ASSERT_TRUE(has(alone.check(one).body, "receipt_ends"));
  const Answer more = alone.check(one);
  EXPECT_EQ(more.status, 200);
  EXPECT_TRUE(has(more.body, R"("tier":"default","not_kept":["tokens"]})")) << more.body;
}

TEST(Reserve, WithoutAKeyIsRefusedAndChargesNothing) {
  ReceiptFixture http;
  http.context.change_receipt_keys({});
  const Answer refused = http.reserve(400);
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(has(refused.body, "receipts.key_file")) << refused.body;
  EXPECT_TRUE(has(http.post("report", R"({"method":"POST","path":"/chat","user":"ada","cost":0})").body,
                  R"("result":"done","quota":1000,"remaining":1000)"));
}

TEST(Settle, CorrectsTheChargeOnce) {
  ReceiptFixture http;
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(400).body);
  const Answer settled = http.settle(receipt, 30);
  EXPECT_EQ(settled.status, 200);
  EXPECT_EQ(settled.field("Content-Type"), "application/json");
  EXPECT_EQ(settled.body, both_done);
  for (const Answer& again : {http.settle(receipt, 1), http.release(receipt)}) {
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, both_ended);
  }
}

TEST(Settle, ReportsLostUnits) {
  ReceiptFixture http;
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(1'000).body);
  EXPECT_TRUE(has(http.settle(receipt, 2'100).body,
                  R"("result":"done","quota":1000,"remaining":0,"reset_after":3600,"lost":100})"));
}

TEST(Release, GivesEverythingBack) {
  ReceiptFixture http;
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(400).body);
  EXPECT_EQ(http.release(receipt).body,
            R"({"limits":[{"limit":"tokens","result":"done","quota":1000,"remaining":1000,"reset_after":0},)"
            R"({"limit":"calls","result":"done","quota":10,"remaining":10,"reset_after":0}]})");
}

TEST(Extend, SaysWhenItEndsNow) {
  ReceiptFixture http;
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(400).body);
  const Answer extended = http.post("extend", R"({"receipt":")" + receipt + R"(","lease":900})");
  EXPECT_EQ(extended.status, 200);
  EXPECT_TRUE(extended.body.ends_with(R"(],"receipt_ends":900})")) << extended.body;
  http.clock.advance(900s);
  EXPECT_TRUE(has(http.post("extend", ReceiptFixture::in_object(receipt)).body, R"("result":"ended")"));
}

TEST(Receipts, ThatDoNotOpenAreRefused) {
  ReceiptFixture http;
  ReceiptFixture other;
  other.context.change_receipt_keys(std::vector<ReceiptKey>{{9}});
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(400).body);
  std::string forged = receipt;
  forged[40] = forged[40] == 'A' ? 'B' : 'A';
  for (const std::string& text : {forged, ReceiptFixture::receipt_in(other.reserve(1).body), std::string("nothing")}) {
    for (const std::string_view path : {"release", "extend"}) {
      const Answer answer = http.post(path, ReceiptFixture::in_object(text));
      EXPECT_EQ(answer.status, 400);
      EXPECT_TRUE(has(answer.body, "receipt: invalid")) << answer.body;
      EXPECT_FALSE(has(answer.body, text)) << "it is not repeated";
    }
  }
  EXPECT_EQ(http.settle(receipt, 30).body, both_done);
}

TEST(Receipts, InAnArrayOneThatDoesNotOpenHarmsNoOther) {
  ReceiptFixture http;
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(400).body);
  const std::string first = R"({"receipt":"no","actual":30})";
  const std::string second = R"({"receipt":")" + receipt + R"(","actual":30})";
  const Answer answer = http.post("settle", "[" + first + "," + second + "," + second + "]");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"([{"error":"receipt: invalid: it was altered, or this node does not have its key"},)" +
                             both_done + "," + both_ended + "]");
  EXPECT_EQ(http.post("release", "[]").body, "[]");
}

TEST(Receipts, OfARemovedLimitAreUnknown) {
  ReceiptFixture http;
  const std::string receipt = ReceiptFixture::receipt_in(http.reserve(400).body);
  const auto fewer = ruleset_of(R"(
version: 1
limits:
  - { name: tokens, routes: [POST /chat], consumer_key: user, algorithm: fixed_window, rate: 1000/h }
)");
  ASSERT_TRUE(http.engine->reload(fewer, http.clock));
  EXPECT_EQ(http.settle(receipt, 30).body,
            R"({"limits":[{"limit":"tokens","result":"done","quota":1000,"remaining":970,"reset_after":3600},)"
            R"({"limit":null,"result":"unknown"}]})");
}

TEST(Report, IsChargedWhateverIsLeft) {
  ReceiptFixture http;
  const std::string body = R"({"method":"POST","path":"/chat","user":"ada","cost":1500})";
  const Answer reported = http.post("report", body);
  EXPECT_EQ(reported.status, 200);
  EXPECT_EQ(reported.body,
            R"({"limits":[{"limit":"tokens","result":"done","quota":1000,"remaining":0,"reset_after":3600}]})");
  EXPECT_EQ(http.check(R"({"method":"POST","path":"/chat","user":"ada"})").status, 429);
}

TEST(Report, WithAnIdCountsOnce) {
  ReceiptFixture http;
  const std::string body = R"({"method":"POST","path":"/chat","user":"ada","cost":30,"id":"run-1"})";
  EXPECT_EQ(http.post("report", body).body,
            R"({"limits":[{"limit":"tokens","result":"done","quota":1000,"remaining":970,"reset_after":3600}]})");
  EXPECT_TRUE(has(http.post("report", "[" + body + "]").body, R"("result":"repeated","quota":1000,"remaining":970)"));
}

TEST(Report, OfWhatNoLimitCoversIsEmpty) {
  ReceiptFixture http;
  EXPECT_EQ(http.post("report", R"({"path":"/other","cost":3})").body, R"({"limits":[]})");
}

TEST(Receipts, SayWhatIsWrong) {
  struct Row {
    std::string_view path;
    std::string_view body;
    std::string_view problem;
  };
  ReceiptFixture http;
  for (const Row& row : std::vector<Row>{
           {"report", "{}", "cost: missing"},
           {"report", R"({"cost":1,"peek":true})", "peek: unknown field; valid fields: method, path, ip, user, "},
           {"report", R"({"cost":1,"reserve":true})", "reserve: unknown field"},
           {"report", R"({"cost":1,"id":""})", "id: must be a string of 1 to 128 bytes"},
           {"check", R"({"reserve":1})", "reserve: must be true or false"},
           {"check", R"({"reserve":true,"peek":true})", "reserve: cannot be combined with peek"},
           {"check", R"({"lease":5})", "lease: requires"},
           {"check", R"({"id":"a"})", "id: requires"},
           {"check", R"({"reserve":true,"lease":0})", "lease: must be above 0 and at most 604800"},
           {"check", R"({"reserve":true,"lease":604801})", "lease: must be above 0 and at most 604800"},
           {"check", R"({"receipt":"a"})", "receipt: unknown field"},
           {"settle", R"({"receipt":"a"})", "actual: missing"},
           {"settle", R"({"actual":1})", "receipt: missing"},
           {"settle", R"({"receipt":"a","actual":-1})", "actual: must be a whole number"},
           {"settle", R"({"receipt":"a","actual":1,"cost":1})", "cost: unknown field; valid fields: receipt, act"},
           {"release", R"({"receipt":"a","actual":1})", "actual: unknown field; valid fields: receipt"},
           {"release", R"([{"receipt":7}])", "query 1, receipt: must be a string"},
           {"extend", "7", "body: must be an object"},
           {"extend", "", "send an object such as {\\\"receipt\\\""},
       }) {
    const Answer answer = http.post(row.path, row.body);
    EXPECT_EQ(answer.status, 400) << row.body;
    EXPECT_TRUE(has(answer.body, row.problem)) << row.body << " -> " << answer.body;
  }
  EXPECT_EQ(http.ask("GET /v1/settle HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 405);
}

TEST(Auth, HoldsAndGivesAReceipt) {
  ReceiptFixture http;
  const std::string from_ada = "X-User-Id: ada\r\n";
  const Answer held = http.auth(from_ada, "/v1/auth/stream");
  EXPECT_EQ(held.status, 200);
  const std::string receipt = held.field("X-Weir-Receipt");
  ASSERT_FALSE(receipt.empty());
  const Answer denied = http.auth(from_ada, "/v1/auth/stream");
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.field("X-Weir-Receipt"), "");
  EXPECT_EQ(denied.field("Retry-After"), "30");
  EXPECT_TRUE(has(http.release(receipt).body, R"({"limit":"streams","result":"done","quota":1,"remaining":1)"));
  EXPECT_EQ(http.auth(from_ada, "/v1/auth/stream").status, 200);
}

TEST(Auth, WhatIsNotHeldHasNoReceipt) {
  ReceiptFixture http;
  const Answer passed = http.auth("X-User-Id: ada\r\nX-Original-Method: POST\r\nX-Original-URI: /chat\r\n");
  EXPECT_EQ(passed.status, 200);
  EXPECT_EQ(passed.field("X-Weir-Receipt"), "");
}

TEST(Auth, WithoutAKeyNothingIsHeld) {
  ReceiptFixture http;
  http.context.change_receipt_keys({});
  EXPECT_EQ(http.auth("X-User-Id: ada\r\n", "/v1/auth/stream").status, 403);
}

TEST(Check, OfAHoldThatCouldNotBeReleasedIsDenied) {
  ReceiptFixture http;
  const Answer denied = http.check(R"({"path":"/stream","user":"ada"})");
  EXPECT_EQ(denied.status, 403);
  EXPECT_TRUE(has(denied.body, R"("reason":"needs_receipt")"));
  EXPECT_EQ(http.check(R"({"path":"/stream","user":"ada","reserve":true})").status, 200);
}

}  // namespace
}  // namespace weir::frontend
