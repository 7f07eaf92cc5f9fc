// The read-only paths of the admin frontend.
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

TEST_F(AdminFrontendTest, MetricsAreThePageOfTheBackend) {
  const Reply reply = ask("GET /metrics");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_TRUE(reply.says("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_TRUE(reply.says("Cache-Control: no-store\r\n"));
  EXPECT_EQ(reply.body, "# TYPE weir_up gauge\nweir_up 1\n");
}

TEST_F(AdminFrontendTest, MetricsTakeAnyParameter) {
  EXPECT_EQ(ask("GET /metrics?name[]=weir_up").status, 200U);
}

TEST_F(AdminFrontendTest, StatusOfAServerThatHasJustStarted) {
  backend_.status_now = {
      .version = "1.2.3", .started_at = noon, .policy = {.digest = "d1", .loaded_at = noon, .limits = 3}};
  const Reply reply = ask("GET /v1/status");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_TRUE(reply.says("Content-Type: application/json\r\n"));
  EXPECT_EQ(
      reply.body,
      R"({"version":"1.2.3","serving":true,"started_at":"2026-01-05T12:00:00Z",)"
      R"("policy":{"file":null,"digest":"d1","loaded_at":"2026-01-05T12:00:00Z","limits":3},)"
      R"("last_reload":null,"listeners":[],"traffic":{"seconds":0,"requests":0,"evaluated":0,"denied_requests":0,"limits":[]},)"
      R"("memory":{"used":0,"budget":0},"state":{"directory":null,"hash_key_id":null},)"
      R"("last_snapshot":null,"candidates":[]})"
      "\n");
}

TEST_F(AdminFrontendTest, StatusOfAServerWithAHistory) {
  health_.set_serving(false);
  backend_.status_now = {.version = "1.2.3",
                         .state = {"/var/lib/weir", "k1"},
                         .traffic = {60s, 9, 8, 3, {{"api", {8, 2, 0}}, {"trial", {4, 0, 1}}}},
                         .started_at = noon,
                         .policy = {"policy \"a\".yaml", "d2", noon + 1h, 1},
                         .last_reload = AdminStatus::Reload{noon + 2h, "policy.yaml:3:1: no"},
                         .listeners = {{"http", {"127.0.0.1:8080", "unix:/run/w"}, 7}, {"admin", {"[::1]:8089"}, 1}},
                         .memory = {1024, 4096},
                         .last_snapshot = AdminStatus::Snapshot{noon + 3h + 1500ms, ""},
                         .candidates = {{"api", 10, 2, 1}}};
  EXPECT_EQ(ask("GET /v1/status").body,
            R"({"version":"1.2.3","serving":false,"started_at":"2026-01-05T12:00:00Z",)"
            R"("policy":{"file":"policy \"a\".yaml","digest":"d2","loaded_at":"2026-01-05T13:00:00Z","limits":1},)"
            R"("last_reload":{"at":"2026-01-05T14:00:00Z","applied":false,"error":"policy.yaml:3:1: no"},)"
            R"("listeners":[{"name":"http","listen":["127.0.0.1:8080","unix:/run/w"],"connections":7},)"
            R"({"name":"admin","listen":["[::1]:8089"],"connections":1}],)"
            R"("traffic":{"seconds":60,"requests":9,"evaluated":8,"denied_requests":3,"limits":[)"
            R"({"limit":"api","decisions":8,"denied":2,"shadow_denied":0},)"
            R"({"limit":"trial","decisions":4,"denied":0,"shadow_denied":1}]},)"
            R"("memory":{"used":1024,"budget":4096},"state":{"directory":"/var/lib/weir","hash_key_id":"k1"},)"
            R"("last_snapshot":{"at":"2026-01-05T15:00:01Z","error":null},)"
            R"("candidates":[{"limit":"api","agreed":10,"newly_denied":2,"newly_admitted":1}]})"
            "\n");
}

TEST_F(AdminFrontendTest, StatusOfAStoreThatNodesShare) {
  const auto store_json = [&](const AdminStatus::Store& store) {
    backend_.status_now.store = store;
    const std::string body = ask("GET /v1/status").body;
    return body.substr(body.find(",\"store\":"));
  };
  EXPECT_EQ(store_json({.kind = "redis",
                        .urls = {"redis://weir:*****@10.0.0.1:6379/0"},
                        .servers = 1,
                        .connected = 1,
                        .breaker = "closed"}),
            R"(,"store":{"kind":"redis","urls":["redis://weir:*****@10.0.0.1:6379/0"],"servers":1,"connected":1,)"
            R"("breaker":"closed","unavailable_since":null,"last_error":null,"holder":null,"nodes":1,"heartbeats":[]}})"
            "\n");
  EXPECT_EQ(
      store_json(
          {.kind = "redis",
           .urls = {"redis://a:6379/0", "redis://b:6379/0"},
           .servers = 3,
           .connected = 2,
           .breaker = "open",
           .unavailable_since = noon,
           .failed_at = noon + 1h,
           .error = "10.0.0.1:6379: refused",
           .holder = "5be0cd19137e",
           .nodes = 2,
           .heartbeats = {{.name = "a", .version = "0.2.0", .policy = "875f", .last_seen_ago = 400ms, .is_self = true},
                          {.name = "b", .version = "0.2.0", .policy = "5ab1", .last_seen_ago = 2s, .differs = true}}}),
      R"(,"store":{"kind":"redis","urls":["redis://a:6379/0","redis://b:6379/0"],"servers":3,"connected":2,)"
      R"("breaker":"open","unavailable_since":"2026-01-05T12:00:00Z",)"
      R"("last_error":{"at":"2026-01-05T13:00:00Z","error":"10.0.0.1:6379: refused"},"holder":"5be0cd19137e","nodes":2,"heartbeats":[)"
      R"({"name":"a","version":"0.2.0","policy":"875f","last_seen_ago":0.4,"self":true,"differs":false},)"
      R"({"name":"b","version":"0.2.0","policy":"5ab1","last_seen_ago":2,"self":false,"differs":true}]}})"
      "\n");
}

TEST_F(AdminFrontendTest, ActiveRuleset) {
  const Reply reply = ask("GET /v1/ruleset");
  EXPECT_EQ(reply.status, 200U);
  const std::string digest = engine_->bindings()->ruleset().digest;
  EXPECT_EQ(
      reply.body,
      R"({"digest":")" + digest +
          R"(","tiers":{"header":"x-plan","names":["free","pro","staff"]},"limits":[)"
          R"({"name":"api","routes":["GET /api/**","POST /api/search"],"domain":null,"when":null,)"
          R"("consumer_key":"[user, api_key]","missing":"skip","algorithm":"token_bucket",)"
          R"("numbers":{"free":"60/min, burst 4","pro":"600/min, burst 40","staff":"unlimited"},"mode":"enforce",)"
          R"("usage":null,"candidate":null,"warn_first":null,"penalty":null},)"
          R"({"name":"login","routes":["POST /login"],"domain":null,"when":"anonymous","consumer_key":"ip",)"
          R"("missing":"skip","algorithm":"fixed_window","numbers":{"free":"2/h","pro":"2/h","staff":"2/h"},)"
          R"("mode":"shadow","usage":null,"candidate":{"algorithm":"fixed_window",)"
          R"("numbers":{"free":"1/h","pro":"1/h","staff":"1/h"}},"warn_first":null,"penalty":null},)"
          R"({"name":"sms","routes":["POST /sms"],"domain":null,"when":null,"consumer_key":"global","missing":"skip",)"
          R"("algorithm":"gcra","numbers":{"free":"1/s, burst 1","pro":"1/s, burst 1","staff":"1/s, burst 1"},)"
          R"("mode":"enforce","usage":null,"candidate":null,"warn_first":{"count":2,"per":3600},)"
          R"("penalty":{"after":10,"within":60,"block":600}}]})"
          "\n");
}

TEST_F(AdminFrontendTest, RulesetFollowsAReload) {
  ASSERT_TRUE(engine_->reload(match::ruleset_of("version: 1\nlimits: []\n"), clock_));
  EXPECT_NE(ask("GET /v1/ruleset").body.find(R"("limits":[])"), std::string::npos);
}

TEST_F(AdminFrontendTest, DeniedConsumersAreTheFirstTwentyUnlessAskedOtherwise) {
  backend_.denied = {{"login", "ip:0b77", 12, 2}, {"api", "user:9f3c", 5, 0}};
  EXPECT_EQ(ask("GET /v1/denied").body, R"({"denied":[{"limit":"login","consumer":"ip:0b77","count":12,"error":2},)"
                                        R"({"limit":"api","consumer":"user:9f3c","count":5,"error":0}]})"
                                        "\n");
  EXPECT_EQ(backend_.asked_for, 20U);
  EXPECT_EQ(ask("GET /v1/denied?count=1").body,
            R"({"denied":[{"limit":"login","consumer":"ip:0b77","count":12,"error":2}]})"
            "\n");
}

TEST_F(AdminFrontendTest, CountsThatAreNone) {
  for (const auto* count : {"", "0", "-1", "x", "1001", "5x", "99999999999999999999", "%20", "+5"}) {
    const Reply reply = ask("GET /v1/denied?count=" + std::string(count));
    EXPECT_EQ(reply.status, 400U) << count;
    EXPECT_NE(reply.body.find("count: must be a whole number from 1 to 1000"), std::string::npos) << count;
  }
}

TEST_F(AdminFrontendTest, HealthRequiresNoToken) {
  open({.token = Token("t"), .admin_token = Token("a")});
  EXPECT_EQ(ask("GET /healthz").body, "ok\n");
  EXPECT_EQ(ask("GET /readyz").body, "ok\n");
  health_.set_serving(false);
  EXPECT_EQ(ask("GET /healthz").status, 200U);
  EXPECT_EQ(ask("GET /readyz").status, 503U);
}

TEST_F(AdminFrontendTest, HeadHasTheHeadersOfGetAndNoBody) {
  const Reply reply = ask("HEAD /metrics");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_TRUE(reply.says("Content-Length: " + std::to_string(backend_.metrics().size()) + "\r\n"));
  EXPECT_EQ(ask("HEAD /nothing").status, 404U);
}

TEST_F(AdminFrontendTest, PipelinedRequestsAreAnsweredInOrder) {
  std::string bytes = send(request("GET /healthz") + request("GET /nothing") + request("GET /metrics"));
  EXPECT_EQ(take_reply(bytes).body, "ok\n");
  EXPECT_EQ(take_reply(bytes).status, 404U);
  EXPECT_EQ(take_reply(bytes).body, backend_.metrics());
  EXPECT_EQ(bytes, "");
}

}  // namespace
}  // namespace weir::frontend
