// The requests of the page other than the stream.
#include "frontend/admin/live_json.h"
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

bool has(const Reply& reply, std::string_view part) {
  return reply.body.find(part) != std::string::npos;
}

TEST_F(AdminFrontendTest, HistoryIsColumns) {
  backend_.history_now.seconds = {
      {.at = noon, .span = 1s, .requests = 4, .evaluated = 3, .denied_requests = 1, .counts = {3, 1, 0}, .p50 = 1e-6},
      {.at = noon + 1s, .span = 1s}};
  backend_.history_now.limit = {{3, 1, 0}, {0, 0, 0}};
  EXPECT_EQ(ask("GET /v1/history?limit=api").body,
            R"({"at":["2026-01-05T12:00:00Z","2026-01-05T12:00:01Z"],"seconds":[1,1],"requests":[4,0],)"
            R"("evaluated":[3,0],"denied_requests":[1,0],)"
            R"("decisions":[3,0],"denied":[1,0],"shadow_denied":[0,0],"p50":[1e-06,null],"p99":[null,null],)"
            R"("connections":[0,0],"used":[0,0],"resident":[0,0],"store":["local","local"],)"
            R"("limit":{"limit":"api","decisions":[3,0],"denied":[1,0],"shadow_denied":[0,0]}})"
            "\n");
  EXPECT_TRUE(has(ask("GET /v1/history"), R"("limit":null})"));
  EXPECT_EQ(ask("GET /v1/history?limit=nothing").status, 404U);
  EXPECT_EQ(ask("GET /v1/history?since=1").status, 400U);
}

TEST_F(AdminFrontendTest, LimitsHaveTheirNumbersAndWhatTheyDid) {
  LimitFigures figures{.traffic = {10, 4, 0}, .by_route = {{"GET /api/{rest}", {10, 4, 0}}}, .consumers = 3};
  figures.total[static_cast<std::size_t>(engine::Event::admitted)] = 6;
  figures.headroom.counts[0] = 4;
  figures.states = {.entries = 3, .bytes = 64, .budget = 128, .overflowed = 1};
  figures.top_denied = {{"api", "user:9f3c0d12ab34ef56", 4, 1}};
  figures.spike = observe::Spikes::Lasting{noon, {500.5, 90, 60}};
  figures.recent = {{4, 1, 0}, {6, 3, 0}};
  const LimitsReport report{.span = 60s, .throttle = {2, 1, 0}, .limits = {{"api", figures}}};
  const Reply all{200, "", limits_json(engine_->bindings()->ruleset(), report)};
  EXPECT_TRUE(
      all.body.starts_with(R"({"seconds":60,"more":0,"throttle":{"decisions":2,"denied":1},"limits":[{"name":"api",)"))
      << all.body;
  for (const auto* part :
       {R"("numbers":{"free":"60/min, burst 4","pro":"600/min, burst 40","staff":"unlimited"},"mode":"enforce")",
        R"("traffic":{"decisions":10,"denied":4,"shadow_denied":0},"denied_share":0.4,"shadow_share":0,)",
        R"("by_route":[{"route":"GET /api/{rest}","decisions":10,"denied":4,"shadow_denied":0}])",
        R"("headroom":{"bounds":[0,0.01,0.05,0.1,0.25,0.5,0.75,1],"counts":[4,0,0,0,0,0,0,0]})",
        R"("states":{"entries":3,"bytes":64,"budget":128,"overflowed":1},"consumers":3,"candidate":null)",
        R"("top_denied":[{"consumer":"user:9f3c0d12ab34ef56","count":4,"error":1}])",
        R"("spike":{"since":"2026-01-05T12:00:00Z","rate":500.5,"past":90,"seconds":60})",
        R"("recent":{"decisions":[4,6],"denied":[1,3],"shadow_denied":[0,0]})",
        R"("candidate":{"algorithm":"fixed_window","numbers":)", R"("denied_share":null)", R"("recent":null)"}) {
    EXPECT_TRUE(has(all, part)) << part << "\n" << all.body;
  }
}

TEST_F(AdminFrontendTest, LimitsAreAskedForAndAnsweredLater) {
  EXPECT_EQ(send(request("GET /v1/limits")), "");
  ASSERT_EQ(backend_.limits_read.size(), 1U);
  EXPECT_EQ(backend_.limits_asked, std::make_tuple(std::string(), std::size_t{5}, std::size_t{60}));
}

TEST_F(AdminFrontendTest, OneLimitHasMore) {
  EXPECT_EQ(ask("GET /v1/limits/nothing").status, 404U);
  EXPECT_TRUE(backend_.limits_read.empty());
  EXPECT_EQ(send(request("GET /v1/limits/sms")), "");
  EXPECT_EQ(backend_.limits_asked, std::make_tuple(std::string("sms"), std::size_t{50}, std::size_t{600}));
  const policy::Ruleset& ruleset = engine_->bindings()->ruleset();
  EXPECT_TRUE(limit_json(ruleset, ruleset.limits[2], {}).starts_with(R"({"seconds":0,"limit":{"name":"sms",)"));
}

TEST_F(AdminFrontendTest, EventsAreTheNewestFirst) {
  backend_.notices_now.add({.kind = observe::Notice::Kind::start, .message = "began", .at = noon});
  backend_.notices_now.add({.kind = observe::Notice::Kind::reload,
                            .level = observe::Level::error,
                            .message = "policy.yaml:1:1: <script>alert(1)</script>",
                            .at = noon + 1s});
  EXPECT_EQ(ask("GET /v1/events?count=1").body,
            R"({"events":[{"id":2,"at":"2026-01-05T12:00:01Z","kind":"reload","level":"error","limit":null,)"
            R"("consumer":null,"message":"policy.yaml:1:1: \u003cscript\u003ealert(1)\u003c/script\u003e"}]})"
            "\n");
  EXPECT_EQ(ask("GET /v1/events?count=1001").status, 400U);
  EXPECT_EQ(ask("GET /v1/events?count=0").status, 400U);
}

TEST_F(AdminFrontendTest, ClusterOfANodeByItselfIsNull) {
  backend_.status_now = {.version = "1.2.3", .policy = {.digest = "d1"}};
  EXPECT_EQ(ask("GET /v1/cluster").body, R"({"node":{"version":"1.2.3","digest":"d1"},"store":null})"
                                         "\n");
}

TEST_F(AdminFrontendTest, ClusterHasTheStoreAsThisNodeSeesIt) {
  backend_.status_now.store = AdminStatus::Store{.kind = "redis", .servers = 1, .connected = 1, .breaker = "closed"};
  StoreReport report{.topology = "single", .opened = 2, .decisions = {9, 0, 0, 1, 0, 0}};
  report.round_trip.counts[1] = 4;  // from 50 to 100 us
  report.batch_size.counts[0] = 2;
  report.batch_size.sum = 2;
  report.slices = {{"api", 3, 24}};
  report.errors = {{"timeout", 5}};
  backend_.store_now = report;
  const Reply reply = ask("GET /v1/cluster");
  for (const auto* part :
       {R"("store":{"kind":"redis")", R"("topology":"single","opened":2,"round_trip":{"p50":7.5e-05,)",
        R"("batch_size":{"mean":1,)",
        R"("decisions":{"shared":9,"leased":0,"approximate":0,"local":1,"open":0,"closed":0})",
        R"("slices":[{"limit":"api","slices":3,"units":24}],"errors":{"timeout":5})"}) {
    EXPECT_TRUE(has(reply, part)) << part << "\n" << reply.body;
  }
}

TEST_F(AdminFrontendTest, ExplainEqualsTheCommandAndChargesNothing) {
  const Reply reply = post("/v1/explain", R"({"path":"/api/x","headers":{"X-User-Id":"al<b>","X-Plan":["pro"]}})");
  EXPECT_EQ(reply.status, 200U) << reply.body;
  for (const auto* part :
       {R"("request":{"method":"GET","target":"/api/x","route":"GET /api/**"})", R"("user":"al\u003cb\u003e")",
        R"("tier":"pro")", R"({"name":"api","line":4,"covers":true,"route":"GET /api/**",)",
        R"({"name":"login","line":11,"covers":false,"why_not":"none of its routes matches"})"}) {
    EXPECT_TRUE(has(reply, part)) << part << "\n" << reply.body;
  }
  for (int i = 0; i < 10; ++i) (void)post("/v1/explain", R"({"path":"/api/x","user":"alice"})");
  EXPECT_TRUE(has(ask("GET /v1/limits/api/consumers/user=alice"), R"("remaining":4)"));
}

TEST_F(AdminFrontendTest, BodiesThatAreWrong) {
  struct Row {
    std::string_view path, body, says;
  };
  for (const Row& row :
       std::vector<Row>{{"/v1/explain", "", "body: must be a JSON object"},
                        {"/v1/explain", "[]", "body: must be a JSON object"},
                        {"/v1/explain", "{}", "path: missing: a path such as /login"},
                        {"/v1/explain", R"({"path":"login"})", "path: missing: a path such as /login"},
                        {"/v1/explain", R"({"path":"/","ip":"nobody"})", "ip: not an IP address"},
                        {"/v1/explain", R"({"path":"/","cost":-1})", "cost: must be a whole number"},
                        {"/v1/explain", R"({"path":1})", "path: must be a string"},
                        {"/v1/explain", R"({"path":"/","path":"/"})", "duplicate field"},
                        {"/v1/explain", R"({"path":"/","verb":"GET"})", "unknown field; valid fields: method, path"},
                        {"/v1/explain", R"({"path":"/","headers":{"a":1}})", "headers, 'a': must be a string"},
                        {"/v1/explain", R"({"path":"/","headers":[]})", "headers: must be an object of strings"},
                        {"/v1/consumer", R"({"limit":"api"})", "consumer: missing"},
                        {"/v1/consumer", R"({"consumer":"a","limits":"api"})",
                         "unknown field; valid fields: consumer, tier, limit"}}) {
    const Reply reply = post(row.path, row.body);
    EXPECT_EQ(reply.status, 400U) << row.body;
    EXPECT_TRUE(has(reply, row.says)) << reply.body;
  }
}

TEST_F(AdminFrontendTest, ConsumerIsLookedUpAtEveryLimitThatItCanHave) {
  use(3);
  const Reply reply = post("/v1/consumer", R"({"consumer":"user=alice"})");
  EXPECT_TRUE(reply.body.starts_with(R"({"hash":"named:user=alice","limits":[{"limit":"api","tier":"free",)"))
      << reply.body;
  for (const auto* part : {R"("quota":4,"remaining":1,)", R"("consumer":"user=alice","words":"60/min, burst 4)",
                           R"("since":null,"blocked":null}],"others":[{"limit":"login","why":)", R"({"limit":"sms")"}) {
    EXPECT_TRUE(has(reply, part)) << part << "\n" << reply.body;
  }
  EXPECT_TRUE(reply.body.ends_with("]}\n"));
  EXPECT_EQ(reply.body.find('\n'), reply.body.size() - 1);
  EXPECT_TRUE(backend_.changes.empty());
}

TEST_F(AdminFrontendTest, ConsumerCanBeLookedUpAtOneLimitAndTier) {
  EXPECT_TRUE(has(post("/v1/consumer", R"({"consumer":"user=alice","limit":"api","tier":"pro"})"), R"("quota":40)"));
  EXPECT_EQ(post("/v1/consumer", R"({"consumer":"user=alice","limit":"login"})").status, 400U);
  EXPECT_EQ(post("/v1/consumer", R"({"consumer":"user=alice","limit":"nothing"})").status, 404U);
}

// A consumer with named parts is looked up only at limits that would count a request with these parts.
TEST_F(AdminFrontendTest, ConsumerIsLookedUpByThePartsThatAreGiven) {
  ASSERT_TRUE(engine_->reload(match::ruleset_of(R"(
version: 1
limits:
  - { name: user, consumer_key: user, algorithm: gcra, rate: 1/s }
  - { name: key, consumer_key: api_key, algorithm: gcra, rate: 1/s }
  - { name: either, consumer_key: [api_key, user], algorithm: gcra, rate: 1/s }
  - { name: both, consumer_key: ip+user, algorithm: gcra, rate: 1/s }
  - { name: login, routes: [POST /login], consumer_key: ip+route, algorithm: gcra, rate: 1/s }
  - { name: named, consumer_key: "header:X-Login-Name", algorithm: gcra, rate: 1/s }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1/s }
)"),
                              clock_));
  struct Row {
    std::string consumer;
    std::vector<std::string> found;  // `limit consumer`
  };
  for (const Row& row : std::vector<Row>{
           {"user=x", {"user user=x", "either user=x"}},
           {"api_key=x", {"key api_key=x", "either api_key=x"}},
           {"user=x + api_key=y", {"user user=x", "key api_key=y", "either api_key=y"}},
           {"user=x + ip=192.0.2.1", {"user user=x", "either user=x", "both ip=192.0.2.1 + user=x"}},
           {"ip=192.0.2.1 + route=POST /login", {"login ip=192.0.2.1 + route=POST /login"}},
           {"header:x-login-NAME=x", {"named header:x-login-name=x"}},
           {"global", {"all global"}},
           {"ip=192.0.2.1", {}},
           {"user=x + y + user=z", {"user user=x + y + user=z", "either user=x + y + user=z"}},
           {"globalist", {"user user=globalist", "key api_key=globalist", "named header:x-login-name=globalist"}},
       }) {
    const std::string body = post("/v1/consumer", R"({"consumer":")" + row.consumer + "\"}").body;
    std::vector<std::string> found;
    const std::string limits = body.substr(0, body.find(R"("others":)"));
    for (std::size_t at = 0; (at = limits.find(R"({"limit":")", at)) != std::string::npos; ++at) {
      const std::size_t name = at + 10;
      const std::size_t consumer = limits.find(R"("consumer":")", at) + 12;
      found.push_back(limits.substr(name, limits.find('"', name) - name) + " " +
                      limits.substr(consumer, limits.find('"', consumer) - consumer));
    }
    EXPECT_EQ(found, row.found) << row.consumer << "\n" << body;
  }
  EXPECT_TRUE(has(post("/v1/consumer", R"({"consumer":"user=x"})"),
                  R"({"limit":"both","why":"is keyed by ip=... + user=..."})"));
}

TEST_F(AdminFrontendTest, TheStartOfCountingIsReportedWhereTheStateHasIt) {
  const auto since = [&](std::string_view algorithm) {
    const std::string body =
        post("/v1/consumer", R"({"consumer":"user=alice","limit":")" + std::string(algorithm) + "\"}").body;
    const std::size_t at = body.find(R"("since":)") + 8;
    return body.substr(at, body.find(R"(,"blocked")", at) - at);
  };
  ASSERT_TRUE(engine_->reload(match::ruleset_of(R"(
version: 1
limits:
  - { name: fixed_window, consumer_key: user, algorithm: fixed_window, rate: 5/h }
  - { name: sliding_window_log, consumer_key: user, algorithm: sliding_window_log, rate: 5/h }
  - { name: sliding_window_counter, consumer_key: user, algorithm: sliding_window_counter, rate: 5/h }
  - { name: token_bucket, consumer_key: user, algorithm: token_bucket, rate: 5/h, burst: 5 }
)"),
                              clock_));
  struct Row {
    Duration later;  // time since the previous row
    bool uses;
    std::array<std::string_view, 3> since;  // `since` of each window, in order
  };
  const std::string_view nothing = "null";
  for (const Row& row : {
           Row{0s, false, {nothing, nothing, nothing}},
           Row{10min, true, {R"("2026-01-05T12:00:00Z")", R"("2026-01-05T12:10:00Z")", R"("2026-01-05T12:00:00Z")"}},
           Row{10min, true, {R"("2026-01-05T12:00:00Z")", R"("2026-01-05T12:10:00Z")", R"("2026-01-05T12:00:00Z")"}},
           // The previous window counts by its share, and so do charges less than an hour old.
           Row{45min, false, {nothing, R"("2026-01-05T12:10:00Z")", R"("2026-01-05T12:00:00Z")"}},
           Row{10min, true, {R"("2026-01-05T13:00:00Z")", R"("2026-01-05T12:20:00Z")", R"("2026-01-05T12:00:00Z")"}},
           Row{50min, false, {nothing, R"("2026-01-05T13:15:00Z")", R"("2026-01-05T13:00:00Z")"}},
           Row{2h, false, {nothing, nothing, nothing}},
       }) {
    clock_.advance(row.later);
    const engine::Query query{.method = "GET", .path = "/", .user = "alice"};
    if (row.uses) (void)context_->evaluator().evaluate(query, clock_.now());
    EXPECT_EQ(since("fixed_window"), row.since[0]);
    EXPECT_EQ(since("sliding_window_log"), row.since[1]);
    EXPECT_EQ(since("sliding_window_counter"), row.since[2]);
    EXPECT_EQ(since("token_bucket"), "null") << "it keeps when it is full again, and not when it was last full";
  }
}

// A blocked consumer has nothing remaining, regardless of its charges.
TEST_F(AdminFrontendTest, BlockedConsumerHasTheBeginningOfItsBlock) {
  ASSERT_TRUE(engine_->reload(match::ruleset_of(R"(
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: sliding_window_log, rate: 1/h, penalty: { after: 1, within: 1h, block: 2h } }
)"),
                              clock_));
  const engine::Query query{.method = "GET", .path = "/", .user = "alice"};
  for (int i = 0; i < 2; ++i) {
    clock_.advance(1min);
    (void)context_->evaluator().evaluate(query, clock_.now());
  }
  clock_.advance(1min);
  EXPECT_TRUE(has(post("/v1/consumer", R"({"consumer":"user=alice"})"),
                  R"("since":null,"blocked":{"since":"2026-01-05T12:02:00Z","expires_after":7140})"));
}

TEST_F(AdminFrontendTest, ResetByBodyClearsTheCounterAndIsReported) {
  open({.admin_token = Token("a")});
  use(4);
  const Reply reply = post("/v1/consumer/reset", R"({"limit":"api","consumer":"user=alice"})", "X-Weir-Token: a\r\n");
  EXPECT_EQ(reply.status, 200U) << reply.body;
  EXPECT_TRUE(has(ask("GET /v1/limits/api/consumers/user=alice"), R"("remaining":4)"));
  ASSERT_EQ(backend_.changes.size(), 1U);
  EXPECT_EQ(backend_.changes[0].what, "reset");
  EXPECT_EQ(backend_.changes[0].limit, "api");
  EXPECT_EQ(backend_.changes[0].consumer, "named:user=alice");
  EXPECT_EQ(backend_.changes[0].outcome, "done");
}

TEST_F(AdminFrontendTest, ResetsByPathAreReportedEvenIfTheyFail) {
  open({.admin_token = Token("a")});
  EXPECT_EQ(ask("POST /v1/limits/api/consumers/user=alice/reset", "X-Weir-Token: a\r\n").status, 200U);
  EXPECT_EQ(ask("POST /v1/limits/nothing/consumers/user=alice/reset", "X-Weir-Token: a\r\n").status, 404U);
  EXPECT_EQ(post("/v1/consumer/reset", R"({"consumer":"alice"})", "X-Weir-Token: a\r\n").status, 400U);
  ASSERT_EQ(backend_.changes.size(), 2U);
  EXPECT_EQ(backend_.changes[0].outcome, "done");
  EXPECT_EQ(backend_.changes[1].outcome, "failed");
  EXPECT_EQ(backend_.changes[1].limit, "") << "a name that the policy does not have may be anybody's";
  EXPECT_EQ(backend_.changes[1].consumer, "");
}

TEST_F(AdminFrontendTest, ResetsByBodyAskForTheAdminToken) {
  open({.token = Token("r"), .admin_token = Token("a")});
  const auto* const body = R"({"limit":"api","consumer":"user=alice"})";
  EXPECT_EQ(post("/v1/consumer/reset", body).status, 401U);
  EXPECT_EQ(post("/v1/consumer/reset", body, "X-Weir-Token: r\r\n").status, 403U);
  EXPECT_TRUE(backend_.changes.empty());
}

// Values of clients and operators are returned without markup.
TEST_F(AdminFrontendTest, MarkupComesBackEscaped) {
  open({.admin_token = Token("a")});
  const std::string planted = "<script>alert(1)</script>&";
  const std::string in_path = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%26";
  const std::vector<Reply> replies{
      post("/v1/consumer", R"({"consumer":"user=)" + planted + "\"}"),
      post("/v1/consumer", R"({"consumer":")" + planted + R"(","limit":")" + planted + "\"}"),
      post("/v1/consumer", R"({"consumer":"alice","tier":")" + planted + "\"}"),
      post("/v1/consumer", R"({")" + planted + R"(":"alice"})"),
      post("/v1/consumer/reset", R"({"consumer":"user=)" + planted + R"(","limit":"api"})", "X-Weir-Token: a\r\n"),
      post("/v1/explain", R"({"path":"/)" + planted + R"(","method":")" + planted + R"(","user":")" + planted + "\"}"),
      post("/v1/explain", R"({"path":"/","tier":")" + planted + R"(","headers":{")" + planted + R"(":"x"}})"),
      ask("GET /v1/history?limit=" + in_path),
      ask("GET /v1/limits/" + in_path),
      ask("GET /v1/limits/" + in_path + "/consumers/" + in_path),
      ask("GET /v1/limits/api/consumers/user=" + in_path),
      ask("GET /v1/events?" + in_path + "=1"),
      ask("GET /" + in_path)};
  for (const Reply& reply : replies) {
    EXPECT_EQ(reply.body.find('<'), std::string::npos) << reply.body;
    EXPECT_EQ(reply.body.find('&'), std::string::npos) << reply.body;
  }
}

}  // namespace
}  // namespace weir::frontend
