#include <gtest/gtest.h>

#include <string>

#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

constexpr std::string_view by_route = R"(
version: 1
limits:
  - name: writes
    routes: ["POST /things/{id}"]
    consumer_key: ip
    algorithm: fixed_window
    rate: 1/min
)";

TEST(Auth, AdmitsWithFieldsThenDeniesWithAProblem) {
  HttpFixture http(two_per_minute);
  const Answer first = http.auth("X-User-Id: alice\r\n");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "");
  EXPECT_EQ(first.field("RateLimit-Policy"), "\"by-user\";q=2;w=60");
  EXPECT_EQ(first.field("RateLimit"), "\"by-user\";r=1;t=60");
  EXPECT_EQ(first.field("X-RateLimit-Limit"), "2");
  EXPECT_EQ(first.field("X-RateLimit-Remaining"), "1");
  EXPECT_EQ(first.field("X-RateLimit-Reset"), "60");
  EXPECT_EQ(first.field("Retry-After"), "");
  EXPECT_EQ(http.auth("X-User-Id: alice\r\n").status, 200);

  http.clock.advance(20s + 1us);
  const Answer denied = http.auth("X-User-Id: alice\r\n");
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.field("Retry-After"), "40");
  EXPECT_EQ(denied.field("RateLimit"), "\"by-user\";r=0;t=40");
  EXPECT_EQ(denied.field("Content-Type"), "application/problem+json");
  EXPECT_NE(denied.body.find("#quota-exceeded"), std::string::npos);
  EXPECT_NE(denied.body.find(R"("violated-policies":["by-user"])"), std::string::npos);
}

// Waiting does not help, so the status is not 429, there is no Retry-After, and the missing identity is named.
TEST(Auth, RequestWithoutTheIdentityThatItsLimitNeedsIsForbidden) {
  HttpFixture http(R"(
version: 1
limits:
  - { name: known, consumer_key: [user, api_key], missing: deny, algorithm: gcra, rate: 1/min }
)");
  const Answer denied = http.auth("");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.field("Retry-After"), "");
  EXPECT_EQ(denied.field("RateLimit"), "");
  EXPECT_EQ(denied.field("Content-Type"), "application/problem+json");
  EXPECT_EQ(denied.body, R"({"type":"about:blank","title":"Forbidden","status":403,)"
                         R"("detail":"This request has no user or api_key, which its limit requires.",)"
                         R"("violated-policies":["known"],"missing":"user or api_key"})");
  EXPECT_EQ(http.auth("X-User-Id: alice\r\n").status, 200);
  EXPECT_EQ(http.auth("X-User-Id: alice\r\n").status, 429);
}

TEST(Auth, SaysNothingOfLimitsWhereNoneCovers) {
  HttpFixture http(two_per_minute);
  const Answer answer = http.auth("");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("RateLimit"), "");
  EXPECT_EQ(answer.field("X-RateLimit-Limit"), "");
}

TEST(Auth, EveryKindOfProxyIsUnderstood) {
  struct Row {
    std::string_view method;
    std::string_view target;
    std::string_view headers;
    bool limited;
  };
  for (const Row& row : {
           Row{"GET", "/v1/auth", "X-Original-Method: POST\r\nX-Original-URI: /things/7?a=b\r\n", true},
           Row{"GET", "/v1/auth", "X-Forwarded-Method: POST\r\nX-Forwarded-Uri: /things/7\r\n", true},
           Row{"POST", "/v1/auth/things/7?q=1", "", true},
           Row{"POST", "http://localhost/v1/auth/things/7", "", true},
           Row{"HEAD", "/v1/auth", "X-Original-Method: POST\r\nX-Original-URI: /things/7\r\n", true},
           Row{"GET", "/v1/auth", "X-Original-Method: GET\r\nX-Original-URI: /things/7\r\n", false},
           Row{"POST", "/v1/auth/other", "", false},
           Row{"GET", "/v1/auth", "X-Original-URI: /things/7\r\nX-Forwarded-Method: POST\r\n", false},
       }) {
    HttpFixture http(by_route);
    const Answer answer = http.auth(row.headers, row.target, row.method);
    EXPECT_EQ(answer.status, 200) << row.target << row.headers;
    EXPECT_EQ(!answer.field("RateLimit").empty(), row.limited) << row.target << " " << row.headers;
  }
}

// A client must not choose its evaluation by adding the headers of another kind of proxy.
TEST(Auth, RefusesToChooseBetweenTwoStories) {
  for (const std::string_view headers : {
           "X-Original-URI: /things/7\r\nX-Forwarded-Uri: /cheap\r\n",
           "X-Original-URI: /things/7\r\nX-Original-Method: POST\r\nX-Forwarded-Uri: /things/7\r\n",
           "X-Original-URI: /things/7\r\nX-Original-URI: /cheap\r\n",
           "X-Forwarded-Uri: /a\r\nX-Forwarded-Method: GET\r\nX-Forwarded-Method: POST\r\n",
       }) {
    HttpFixture http(by_route);
    const Answer answer = http.auth(headers);
    EXPECT_EQ(answer.status, 403) << headers;
  }
  HttpFixture http(by_route);
  EXPECT_EQ(http.auth("X-Original-URI: /cheap\r\n", "/v1/auth/things/7", "POST").status, 403);
  EXPECT_EQ(http.auth("X-Original-URI: /cheap\r\n", "/v1/auth/").status, 403);
}

TEST(Auth, BelievesTheKindThatIsConfigured) {
  HttpOptions options;
  options.auth_headers = AuthHeaders::forwarded;
  HttpFixture http(by_route, options);
  const std::string forwarded = "X-Forwarded-Method: POST\r\nX-Forwarded-Uri: /things/7\r\n";
  EXPECT_EQ(http.auth(forwarded + "X-Original-URI: /cheap\r\n").status, 200);
  EXPECT_EQ(http.auth(forwarded + "X-Original-URI: /cheap\r\n").status, 429);
  EXPECT_EQ(http.auth("X-Original-URI: /things/7\r\n").status, 403) << "the configured headers are not there";

  options.auth_headers = AuthHeaders::path;
  HttpFixture by_path(by_route, options);
  EXPECT_NE(by_path.auth("X-Original-URI: /cheap\r\n", "/v1/auth/things/7", "POST").field("RateLimit"), "");
}

TEST(Auth, BelievesForwardedAddressesOfTrustedProxiesOnly) {
  HttpFixture http(R"(
version: 1
identity: { trusted_proxies: [127.0.0.0/8] }
limits:
  - name: by-ip
    consumer_key: ip
    algorithm: fixed_window
    rate: 1/min
)");
  EXPECT_EQ(http.auth("X-Forwarded-For: 203.0.113.1\r\n").status, 200);
  EXPECT_EQ(http.auth("X-Forwarded-For: 203.0.113.2\r\n").status, 200);
  EXPECT_EQ(http.auth("X-Forwarded-For: 203.0.113.1\r\n").status, 429);
  const std::string request = "GET /v1/auth HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n";
  EXPECT_EQ(parse_answers(http.connect("198.51.100.1").send(request)).front().status, 200);
  EXPECT_EQ(parse_answers(http.connect("198.51.100.1").send(request)).front().status, 429);
}

TEST(Auth, WarnsBeforeItDenies) {
  HttpFixture http(R"(
version: 1
limits:
  - name: by-user
    consumer_key: user
    algorithm: fixed_window
    rate: 1/min
    warn_first: { count: 1, per: 1h }
)");
  EXPECT_EQ(http.auth("X-User-Id: a\r\n").field("X-RateLimit-Warning"), "");
  const Answer warned = http.auth("X-User-Id: a\r\n");
  EXPECT_EQ(warned.status, 200);
  EXPECT_EQ(warned.field("X-RateLimit-Warning"), "by-user");
  EXPECT_EQ(http.auth("X-User-Id: a\r\n").status, 429);
}

TEST(Auth, JitterNeverShortensTheWait) {
  Settings settings;
  settings.retry_jitter = 10s;
  HttpFixture http(two_per_minute, {}, settings);
  (void)http.auth("X-User-Id: a\r\n");
  (void)http.auth("X-User-Id: a\r\n");
  bool longer = false;
  for (int i = 0; i < 100; ++i) {
    const int wait = std::stoi(http.auth("X-User-Id: a\r\n").field("Retry-After"));
    EXPECT_GE(wait, 60);
    EXPECT_LE(wait, 70);
    longer = longer || wait > 60;
  }
  EXPECT_TRUE(longer);
}

constexpr std::string_view one_per_second_with_queue = R"(
version: 1
limits:
  - name: gateway
    consumer_key: global
    algorithm: leaky_bucket
    rate: 10/s
    queue: 2
)";

TEST(Auth, HoldsTheAnswerUntilItsTurn) {
  HttpFixture http(one_per_second_with_queue);
  const std::string request = "GET /v1/auth HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Talk talk = http.connect();
  const auto now = parse_answers(talk.send(request + request + request + request));
  ASSERT_EQ(now.size(), 1U) << "the first passes, two wait, and the denial behind them waits with them";
  EXPECT_TRUE(talk.paused());
  EXPECT_FALSE(talk.session().idle());
}

TEST(Auth, DoesNotHoldLongerThanItMay) {
  HttpOptions options;
  options.max_delay = 150ms;
  HttpFixture http(one_per_second_with_queue, options);
  EXPECT_EQ(http.auth("").status, 200);
  Talk second = http.connect();
  const std::string request = "GET /v1/auth HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(second.send(request), "");
  EXPECT_TRUE(second.paused());
  EXPECT_EQ(http.auth("").status, 429) << "its turn would come in 200 ms";
}

TEST(Auth, DoesNotHoldMoreThanItMay) {
  HttpOptions options;
  options.max_delayed = 1;
  HttpFixture http(one_per_second_with_queue, options);
  EXPECT_EQ(http.auth("").status, 200);
  const std::string request = "GET /v1/auth HTTP/1.1\r\nHost: localhost\r\n\r\n";
  auto second = std::make_unique<Talk>(http.connect());
  EXPECT_EQ(second->send(request), "");
  EXPECT_EQ(http.auth("").status, 429);
  second.reset();
  Talk third = http.connect();
  EXPECT_EQ(third.send(request), "") << "a connection that is gone holds nothing";
  EXPECT_TRUE(third.paused());
}

}  // namespace
}  // namespace weir::frontend
