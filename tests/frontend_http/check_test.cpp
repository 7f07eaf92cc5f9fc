#include <gtest/gtest.h>

#include <string>

#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

TEST(Check, AnswersWithTheVerdict) {
  HttpFixture http(two_per_minute);
  const Answer first = http.check(R"({"path": "/x", "user": "alice"})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.field("Content-Type"), "application/json");
  EXPECT_EQ(first.field("RateLimit"), "\"by-user\";r=1;t=60");
  EXPECT_EQ(first.body,
            R"({"admitted":true,"reason":"within","limit":"by-user","quota":2,"remaining":1,"retry_after":0,)"
            R"("reset_after":60,"delay":0,"route":"other","tier":"default"})");
  http.clock.advance(1500ms);
  EXPECT_EQ(http.check(R"({"user": "alice", "cost": 2})").body,
            R"({"admitted":false,"reason":"exceeded","limit":"by-user","quota":2,"remaining":1,"retry_after":58.5,)"
            R"("reset_after":58.5,"delay":0,"route":"other","tier":"default"})");
}

TEST(Check, ADenialHasItsProblemInAFieldIfItIsAskedFor) {
  HttpFixture http(two_per_minute);
  const auto ask = [&](std::string_view headers) {
    const std::string body = R"({"user": "alice", "cost": 2})";
    return http.ask("POST /v1/check HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
                    "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  EXPECT_EQ(ask("X-Weir-Problem: field\r\n").field("X-Weir-Problem"), "");
  const Answer denied = ask("X-Weir-Problem: field\r\n");
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.field("Content-Type"), "application/json");
  EXPECT_EQ(denied.body.find(R"({"admitted":false)"), 0U);
  EXPECT_EQ(denied.field("X-Weir-Problem"), http.auth("X-User-Id: alice\r\n").body);
  EXPECT_EQ(ask("").field("X-Weir-Problem"), "");
}

TEST(Check, PeekChargesNothing) {
  HttpFixture http(two_per_minute);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(http.check(R"({"user": "alice", "peek": true})").status, 200);
  EXPECT_EQ(http.check(R"({"user": "alice", "cost": 2})").status, 200);
}

TEST(Check, AnArrayIsAnsweredByAnArray) {
  HttpFixture http(two_per_minute);
  const Answer answer = http.check(R"([{"user":"a"}, {"user":"a"}, {"user":"a"}, {"user":"b"}])");
  EXPECT_EQ(answer.status, 200);
  std::string admitted;
  for (std::size_t at = 0; (at = answer.body.find("\"admitted\":", at)) != std::string::npos; at += 11) {
    admitted += answer.body[at + 11];
  }
  EXPECT_EQ(admitted, "ttft");
  EXPECT_EQ(http.check("[]").body, "[]");
}

TEST(Check, ADeniedVerdictIsA200OnRequest) {
  constexpr std::string_view target = "/v1/check?denied=200";
  HttpFixture http(two_per_minute);
  const Answer admitted = http.check(R"({"user": "alice", "cost": 2})", target);
  EXPECT_EQ(admitted.status, 200);
  EXPECT_EQ(admitted.field("Retry-After"), "");
  EXPECT_EQ(admitted.body,
            R"({"admitted":true,"reason":"within","limit":"by-user","quota":2,"remaining":0,"retry_after":0,)"
            R"("reset_after":60,"delay":0,"route":"other","tier":"default","status":200})");
  const Answer denied = http.check(R"({"user": "alice"})", target);
  EXPECT_EQ(denied.status, 200);
  EXPECT_EQ(denied.field("Content-Type"), "application/json");
  EXPECT_EQ(denied.field("Retry-After"), "60");
  EXPECT_EQ(denied.field("RateLimit"), "\"by-user\";r=0;t=60");
  const Answer plain_text = http.auth("X-User-Id: alice\r\n");
  EXPECT_EQ(denied.body,
            R"({"admitted":false,"reason":"exceeded","limit":"by-user","quota":2,"remaining":0,"retry_after":60,)"
            R"("reset_after":60,"delay":0,"route":"other","tier":"default","status":429,"problem":)" +
                plain_text.body + "}")
      << "the problem is that of /v1/auth";
  EXPECT_EQ(plain_text.status, 429);
  EXPECT_EQ(http.check(R"({"user": "alice"})", "/v1/check?").status, 429);
}

TEST(Check, ADenialThatNoWaitEndsIsA200OnRequestToo) {
  HttpFixture http(R"(
version: 1
limits:
  - name: by-user
    consumer_key: user
    missing: deny
    algorithm: fixed_window
    rate: 2/min
)");
  const Answer answer = http.check("{}", "/v1/check?denied=200");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Retry-After"), "");
  EXPECT_NE(answer.body.find(R"("admitted":false,"reason":"key_missing")"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find(R"("status":403,"problem":{"type":"about:blank","title":"Forbidden","status":403,)"),
            std::string::npos)
      << answer.body;
}

TEST(Check, TheVerdictsOfAnArrayHaveTheirStatusOnRequest) {
  HttpFixture http(two_per_minute);
  const Answer answer = http.check(R"([{"user":"a","cost":2},{"user":"a"}])", "/v1/check?denied=200");
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("tier":"default","status":200},{"admitted":false)"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find(R"("tier":"default","status":429,"problem":{"type":)"), std::string::npos) << answer.body;
}

TEST(Check, RefusesParametersThatItDoesNotKnow) {
  struct Row {
    std::string_view target;
    std::string_view problem;
  };
  HttpFixture http(two_per_minute);
  for (const Row& row : {
           Row{"/v1/check?denied=429", "denied: invalid value"},
           Row{"/v1/check?denied=", "denied: invalid value"},
           Row{"/v1/check?denied", "denied: unknown parameter"},
           Row{"/v1/check?Denied=200", "Denied: unknown parameter; valid parameters: denied=200"},
           Row{"/v1/check?x=1&denied=200", "x: unknown parameter"},
           Row{"/v1/check?denied=200&denied=200", "parameters: only denied=200"},
           Row{"/v1/check?denied=200&denied=429", "parameters: only denied=200"},
           Row{"/v1/report?denied=200", "denied: unknown parameter; this path takes none"},
           Row{"/v1/settle?x", "x: unknown parameter; this path takes none"},
       }) {
    const Answer answer = http.check(R"({"user": "a"})", row.target);
    EXPECT_EQ(answer.status, 400) << row.target;
    EXPECT_NE(answer.body.find(row.problem), std::string::npos) << row.target << " -> " << answer.body;
  }
  EXPECT_EQ(http.check(R"({"user": "a", "cost": 2})").status, 200) << "nothing was charged";
}

TEST(Check, AClientOfAProxyCannotAskForA200) {
  HttpFixture http(two_per_minute);
  EXPECT_EQ(http.check(R"({"user": "alice", "cost": 2})").status, 200);
  constexpr std::string_view user = "X-User-Id: alice\r\n";
  EXPECT_EQ(http.auth(user, "/v1/auth?denied=200").status, 429);
  EXPECT_EQ(http.auth(user, "/v1/auth/x?denied=200").status, 429);
  EXPECT_EQ(http.auth("X-Original-URI: /x?denied=200\r\n" + std::string(user)).status, 429);
}

TEST(Check, ReadsEveryField) {
  HttpFixture http(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
limits:
  - name: keys
    routes: ["POST /a/{id}"]
    consumer_key: api_key
    algorithm: fixed_window
    rate: 2/min
    tier_overrides: { pro: { rate: 10/min } }
  - name: logins
    routes: [POST /login]
    consumer_key: header:X-Login-Name
    algorithm: fixed_window
    rate: 1/min
)");
  const Answer keys = http.check(R"({"method":"POST","path":"/a/1","api_key":"k","tier":"pro","cost":4})");
  EXPECT_NE(keys.body.find(R"("quota":10,"remaining":6)"), std::string::npos) << keys.body;
  EXPECT_NE(keys.body.find(R"("route":"POST /a/{id}","tier":"pro")"), std::string::npos) << keys.body;
  const std::string login = R"({"method":"POST","path":"/login","headers":{"x-login-name":"al\u0069ce"}})";
  EXPECT_EQ(http.check(login).status, 200);
  EXPECT_EQ(http.check(login).status, 429);
  EXPECT_EQ(http.check(R"({"method":"POST","path":"/login","headers":{"X-Login-Name":"bob"}})").status, 200);
}

TEST(Check, AQueueReportsTheTurnOrDeniesWhoCannotWait) {
  HttpFixture http(R"(
version: 1
limits:
  - name: gateway
    consumer_key: global
    algorithm: leaky_bucket
    rate: 10/s
    queue: 5
)");
  EXPECT_EQ(http.check("{}").status, 200);
  EXPECT_NE(http.check("{}").body.find(R"("delay":0.1)"), std::string::npos);
  EXPECT_EQ(http.check(R"({"max_wait": 0.199999})").status, 429);
  EXPECT_EQ(http.check(R"({"max_wait": 0.2})").status, 200);
  EXPECT_EQ(http.check(R"({"max_wait": 0})").status, 429);
}

TEST(Check, NamesTheError) {
  struct Row {
    std::string_view body;
    std::string_view problem;
  };
  HttpFixture http(two_per_minute);
  for (const Row& row : {
           Row{"", "invalid JSON"},
           Row{"{", "invalid JSON"},
           Row{R"({"user": })", "user: must be a string"},
           Row{"7", "body: must be an object"},
           Row{"\"text\"", "body: must be an object"},
           Row{R"({"usr": "a"})", "usr: unknown field"},
           Row{R"({"user": 7})", "user: must be a string"},
           Row{R"({"user": "a", "user": "b"})", "user: duplicate field"},
           Row{R"({"cost": -1})", "cost: must be a whole number"},
           Row{R"({"cost": 1.5})", "cost: must be a whole number"},
           Row{R"({"cost": "1"})", "cost: must be a whole number"},
           Row{R"({"peek": 1})", "peek: must be true or false"},
           Row{R"({"max_wait": 0.0000001})", "max_wait: must be a number of seconds"},
           Row{R"({"max_wait": -1})", "max_wait: must be a number of seconds"},
           Row{R"({"max_wait": 1e3})", "max_wait: must be a number of seconds"},
           Row{R"({"headers": []})", "headers: must be an object"},
           Row{R"({"headers": {"a": 1}})", "headers: 'a' must be a string"},
           Row{R"([{"user": "a"}, {"usr": "a"}])", "query 2, usr: unknown field"},
           Row{R"([{}, 7])", "query 2, query: must be an object"},
           Row{R"({"user": "a"} {"user": "b"})", "unexpected text after the JSON value"},
       }) {
    const Answer answer = http.check(row.body);
    EXPECT_EQ(answer.status, 400) << row.body;
    EXPECT_NE(answer.body.find(row.problem), std::string::npos) << row.body << " -> " << answer.body;
  }
  EXPECT_EQ(http.check(R"({"user": "a", "cost": 2})").status, 200) << "nothing was charged";
}

TEST(Check, BoundsHowManyAreAskedAtOnce) {
  HttpFixture http(two_per_minute);
  std::string body = "[{}";
  for (std::size_t i = 1; i < CheckReader::max_queries; ++i) body += ",{}";
  EXPECT_EQ(http.check(body + "]").status, 200);
  EXPECT_EQ(http.check(body + ",{}]").status, 400);
}

}  // namespace
}  // namespace weir::frontend
