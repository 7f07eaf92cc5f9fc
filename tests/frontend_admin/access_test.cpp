// Access control of the admin frontend.
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

TEST_F(AdminFrontendTest, PathsThatAreNot) {
  for (const auto* path : {"/v1", "/v1/", "/v1/status/", "/metrics/x", "/v2/status", "/page", "/page/",
                           "/page/nothing.js", "/page/../index.html", "/v1/consumer/x", "/v1/limits/api/consumers",
                           "/v1/limits/api/consumers/a/b", "/v1//status", "*"}) {
    const Reply reply = ask("GET " + std::string(path));
    EXPECT_EQ(reply.status, 404U) << path;
    EXPECT_NE(reply.body.find("Unknown path; valid paths: GET /metrics"), std::string::npos);
  }
}

TEST_F(AdminFrontendTest, MethodsThatDoNotFit) {
  struct Row {
    std::string_view line;
    std::string_view allow;
  };
  for (const Row& row : std::vector<Row>{{"POST /metrics", "GET, HEAD"},
                                         {"DELETE /v1/status", "GET, HEAD"},
                                         {"PUT /healthz", "GET, HEAD"},
                                         {"POST /v1/limits/api/consumers/user=alice", "GET, HEAD"},
                                         {"GET /v1/reload", "POST"},
                                         {"POST /", "GET, HEAD"},
                                         {"POST /page/index.html", "GET, HEAD"},
                                         {"POST /v1/stream", "GET, HEAD"},
                                         {"GET /v1/explain", "POST"},
                                         {"GET /v1/consumer", "POST"},
                                         {"GET /v1/consumer/reset", "POST"},
                                         {"HEAD /v1/limits/api/consumers/user=alice/reset", "POST"}}) {
    const Reply reply = ask(row.line);
    EXPECT_EQ(reply.status, 405U) << row.line;
    EXPECT_TRUE(reply.says("Allow: " + std::string(row.allow) + "\r\n")) << reply.head;
  }
}

TEST_F(AdminFrontendTest, PagesOfOtherOriginsAreAnsweredWhatTheyMayLinkTo) {
  constexpr std::string_view elsewhere = "Origin: http://evil.example\r\n";
  for (const std::string_view path : {"/v1/status", "/v1/ruleset", "/v1/limits", "/v1/denied", "/metrics"}) {
    EXPECT_EQ(ask("GET " + std::string(path), elsewhere).status, 403U) << path;
  }
  EXPECT_EQ(post("/v1/explain", R"({"path": "/"})", elsewhere).status, 403U);
  EXPECT_EQ(post("/v1/explain", R"({"path": "/"})", "Origin: http://localhost\r\n").status, 200U);
  EXPECT_EQ(post("/v1/consumer", R"({"consumer": "user=alice"})", "Sec-Fetch-Site: cross-site\r\n").status, 403U);
  constexpr std::string_view link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
  EXPECT_EQ(ask("GET /v1/status", link).status, 200U) << "somebody follows a link";
  EXPECT_EQ(post("/v1/explain", R"({"path": "/"})", link).status, 403U) << "a form";
  for (const std::string_view path : {"/", "/healthz", "/readyz", "/openapi.yaml"}) {
    EXPECT_EQ(ask("GET " + std::string(path), elsewhere).status, 200U) << path;
  }
}

TEST_F(AdminFrontendTest, NoAnswerIsTakenForAnotherKindOfContent) {
  for (const std::string_view path :
       {"/", "/healthz", "/metrics", "/openapi.yaml", "/v1/status", "/v1/ruleset", "/v1/nothing", "/v1/history?x=1"}) {
    EXPECT_TRUE(ask("GET " + std::string(path)).says("X-Content-Type-Options: nosniff\r\n")) << path;
  }
  EXPECT_TRUE(post("/v1/explain", "nonsense").says("X-Content-Type-Options: nosniff\r\n"));
}

TEST_F(AdminFrontendTest, HostsThatAreNotOurs) {
  open({.hosts = HostNames({"weir.example"})});
  const auto status = [&](std::string_view host) {
    std::string bytes = send(request("GET /metrics", {}, host));
    return take_reply(bytes).status;
  };
  EXPECT_EQ(status("127.0.0.1:8089"), 200U);
  EXPECT_EQ(status("[::1]:8089"), 200U);
  EXPECT_EQ(status("WEIR.example"), 200U);
  EXPECT_EQ(status("evil.example"), 421U);
}

// Combinations of tokens and requests, with both tokens set.
TEST_F(AdminFrontendTest, TokensOpenWhatTheyAreFor) {
  open({.token = Token("reads"), .admin_token = Token("changes")});
  struct Row {
    std::string_view shown;
    unsigned reading;
    unsigned changing;
  };
  for (const Row& row : std::vector<Row>{{"", 401, 401},
                                         {"X-Weir-Token: reads\r\n", 200, 403},
                                         {"X-Weir-Token: changes\r\n", 200, 200},
                                         {"Authorization: Bearer reads\r\n", 200, 403},
                                         {"authorization: bearer changes\r\n", 200, 200},
                                         {"X-Weir-Token: wrong\r\n", 401, 401},
                                         {"X-Weir-Token:\r\n", 401, 401},
                                         {"Authorization: Basic changes\r\n", 401, 401},
                                         {"Authorization: changes\r\n", 401, 401},
                                         {"X-Weir-Token: wrong\r\nX-Weir-Token: changes\r\n", 200, 200}}) {
    const Reply reading = ask("GET /metrics", row.shown);
    const Reply changing = ask("POST /v1/limits/api/consumers/user=alice/reset", row.shown);
    EXPECT_EQ(reading.status, row.reading) << row.shown;
    EXPECT_EQ(changing.status, row.changing) << row.shown;
    EXPECT_EQ(reading.says("WWW-Authenticate: Bearer\r\n"), row.reading == 401) << row.shown;
    EXPECT_EQ(changing.says("WWW-Authenticate: Bearer\r\n"), row.changing == 401) << row.shown;
  }
}

TEST_F(AdminFrontendTest, WithoutATokenToReadEverybodyReads) {
  open({.admin_token = Token("changes")});
  for (const auto* path :
       {"/metrics", "/v1/status", "/v1/ruleset", "/v1/denied", "/v1/limits/api/consumers/user=alice"}) {
    EXPECT_EQ(ask("GET " + std::string(path)).status, 200U) << path;
  }
  EXPECT_EQ(ask("POST /v1/reload").status, 401U);
}

TEST_F(AdminFrontendTest, WithoutAnAdminTokenWritesAreDisabled) {
  for (const auto* shown : {"", "X-Weir-Token: \r\n", "Authorization: Bearer \r\n", "X-Weir-Token: x\r\n"}) {
    for (const auto* path : {"/v1/reload", "/v1/limits/api/consumers/user=alice/reset"}) {
      const Reply reply = ask("POST " + std::string(path), shown);
      EXPECT_EQ(reply.status, 403U);
      EXPECT_NE(reply.body.find("has no admin token"), std::string::npos);
    }
  }
  EXPECT_TRUE(backend_.reloads.empty());
}

TEST_F(AdminFrontendTest, ChangedOptionsHoldForOpenSessions) {
  EXPECT_EQ(ask("GET /metrics").status, 200U);
  frontend_->change(AdminOptions{.token = Token("t")});
  EXPECT_EQ(ask("GET /metrics").status, 401U);
}

TEST_F(AdminFrontendTest, MalformedRequestsEndTheConnection) {
  std::string bytes = "GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
  net::Output out;
  (void)session_->on_input(bytes, out);
  EXPECT_TRUE(out.closing());
  EXPECT_EQ(take_reply(out.bytes()).status, 400U);
}

}  // namespace
}  // namespace weir::frontend
