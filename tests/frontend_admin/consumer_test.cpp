// Inspecting and resetting one consumer at one limit.
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend::consumer_tests {
namespace {

constexpr auto admin = "X-Weir-Token: a\r\n";

TEST_F(AdminFrontendTest, ConsumerThatWasNeverSeenHasAll) {
  const Reply reply = ask("GET /v1/limits/api/consumers/user=bob");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(
      reply.body,
      R"({"limit":"api","tier":"free","admitted":true,"reason":"within","retry_after":0,)"
      R"("algorithm":"token_bucket","mode":"enforce","quota":4,"remaining":4,"reset_after":0,"more_after":null,"consistency":"exact","used":0,"leased":0,)"
      R"("holders":0,"slices":[],"open":0,"open_units":0,"receipts":[],"candidate":null,"override":null,"block":null,"consumer":"user=bob"})"
      "\n");
}

TEST_F(AdminFrontendTest, ConsumerIsInspectedAsTrafficLeftIt) {
  use(4);
  clock_.advance(250ms);
  const Reply reply = ask("GET /v1/limits/api/consumers/user=alice");
  EXPECT_EQ(
      reply.body,
      R"({"limit":"api","tier":"free","admitted":false,"reason":"exceeded","retry_after":0.75,)"
      R"("algorithm":"token_bucket","mode":"enforce","quota":4,"remaining":0,"reset_after":3.75,"more_after":0.75,"consistency":"exact",)"
      R"("used":4,"leased":0,"holders":0,"slices":[],"open":0,"open_units":0,"receipts":[],"candidate":null,)"
      R"("override":null,"block":null,"consumer":"user=alice"})"
      "\n");
}

// A blocked consumer has nothing remaining and is not charged.
TEST_F(AdminFrontendTest, ABlockedConsumerStillShowsItsUsage) {
  const auto ruleset = match::ruleset_of(R"(
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: fixed_window, rate: 5/h, penalty: { after: 1, within: 1h, block: 1h } }
)");
  ASSERT_TRUE(engine_->reload(ruleset, clock_));
  const engine::Query query{.method = "GET", .path = "/", .user = "alice", .cost = Cost{3}};
  for (int i = 0; i < 2; ++i) (void)context_->evaluator().evaluate(query, clock_.now());
  const std::string body = ask("GET /v1/limits/api/consumers/user=alice").body;
  EXPECT_NE(body.find(R"("reason":"blocked",)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("quota":5,"remaining":0,)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("used":3,"leased":0,)"), std::string::npos) << body;
}

TEST_F(AdminFrontendTest, InspectingChargesNothing) {
  use(1);
  const std::string first = ask("GET /v1/limits/api/consumers/user=alice").body;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask("GET /v1/limits/api/consumers/user=alice").body, first);
}

TEST_F(AdminFrontendTest, ConsumerIsInspectedInItsTier) {
  const Reply pro = ask("GET /v1/limits/api/consumers/user=alice?tier=pro");
  EXPECT_NE(pro.body.find(R"("quota":40,"remaining":40,)"), std::string::npos);
  EXPECT_EQ(
      ask("GET /v1/limits/api/consumers/user=alice?tier=staff").body,
      R"({"limit":"api","tier":"staff","admitted":true,"reason":"uncovered","retry_after":0,)"
      R"("algorithm":null,"mode":null,"quota":null,"remaining":null,"reset_after":null,"more_after":null,"consistency":null,"used":null,)"
      R"("leased":null,"holders":null,"slices":null,"open":null,"open_units":null,"receipts":null,"candidate":null,)"
      R"("override":null,"block":null,"consumer":"user=alice"})"
      "\n");
}

TEST_F(AdminFrontendTest, ShadowLimitReportsItsOwnDecision) {
  const engine::Query query{.method = "POST", .path = "/login", .ip = "203.0.113.9"};
  for (int i = 0; i < 2; ++i) (void)context_->evaluator().evaluate(query, clock_.now());
  const Reply reply = ask("GET /v1/limits/login/consumers/203.0.113.9");
  EXPECT_NE(reply.body.find(R"("admitted":false,"reason":"exceeded","retry_after":3600,"algorithm":"fixed_window",)"
                            R"("mode":"shadow","quota":2,"remaining":0,)"),
            std::string::npos)
      << reply.body;
  EXPECT_NE(reply.body.find(R"("consumer":"ip=203.0.113.9")"), std::string::npos);
}

TEST_F(AdminFrontendTest, NamesInThePathAreDecoded) {
  EXPECT_EQ(ask("GET /v1/limits/%73ms/consumers/global").status, 200U);
  EXPECT_NE(ask("GET /v1/limits/api/consumers/user=%C3%A4%2F%25").body.find(R"("consumer":"user=ä/%")"),
            std::string::npos);
}

TEST_F(AdminFrontendTest, WhatIsNotInThePolicyIsSaid) {
  struct Row {
    std::string_view target;
    unsigned status;
    std::string_view detail;
  };
  const std::vector<Row> rows = {
      {"/v1/limits/apy/consumers/user=alice", 404,
       "limit 'apy': unknown, did you mean 'api'? Valid limits: api, login, sms"},
      {"/v1/limits/api/consumers/alice", 400, "consumer: ambiguous: write 'user=alice' or 'api_key=alice'"},
      {"/v1/limits/login/consumers/nobody", 400, "consumer: does not match the key of limit 'login'"},
      {"/v1/limits/api/consumers/user=alice?tier=por", 400, "tier 'por': unknown, did you mean 'pro'?"},
      {"/v1/limits/api/consumers/user=alice?teir=pro", 400, "teir: unknown parameter; valid parameters: tier"},
      {"/v1/limits/api/consumers/user=alice?tier=pro&x=1", 400, "x: unexpected parameter; send only tier"},
      {"/v1/limits/api/consumers/a%zz", 400, "invalid percent-encoding"},
  };
  for (const Row& row : rows) {
    const Reply reply = ask("GET " + std::string(row.target));
    EXPECT_EQ(reply.status, row.status) << row.target;
    EXPECT_TRUE(reply.says("Content-Type: application/problem+json\r\n"));
    EXPECT_NE(reply.body.find(row.detail), std::string::npos) << reply.body;
  }
}

TEST_F(AdminFrontendTest, LimitOfADomainIsReachedByDescriptorsOnly) {
  const auto ruleset = match::ruleset_of(
      "domain: mongo\ndescriptors:\n  - key: user\n    rate_limit: { unit: second, requests_per_unit: 3, name: by-user "
      "}\n");
  ASSERT_TRUE(engine_->reload(ruleset, clock_));
  const Reply reply = ask("GET /v1/limits/" + ruleset->limits.front().name + "/consumers/x");
  EXPECT_EQ(reply.status, 400U);
  EXPECT_NE(reply.body.find("is reached by descriptors only"), std::string::npos) << reply.body;
  EXPECT_NE(ask("GET /v1/ruleset").body.find(R"("domain":"mongo","when":null,"consumer_key":null)"), std::string::npos);
}

TEST_F(AdminFrontendTest, ResetForgetsOneConsumer) {
  open({.admin_token = Token("a")});
  use(4);
  EXPECT_EQ(ask("POST /v1/limits/api/consumers/alice/reset", admin).status, 400U) << "or an API key called alice";
  EXPECT_NE(ask("GET /v1/limits/api/consumers/user=alice").body.find(R"("remaining":0)"), std::string::npos);
  const Reply reply = ask("POST /v1/limits/api/consumers/user=alice/reset", admin);
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body,
            R"({"limit":"api","consumer":"user=alice","reset":true,"out":{"units":0,"holders":0,"expires_after":0}})"
            "\n");
  EXPECT_NE(ask("GET /v1/limits/api/consumers/user=alice").body.find(R"("remaining":4)"), std::string::npos);
}

TEST_F(AdminFrontendTest, ResetOfWhatIsNotThere) {
  open({.admin_token = Token("a")});
  EXPECT_EQ(ask("POST /v1/limits/nothing/consumers/alice/reset", admin).status, 404U);
  EXPECT_EQ(ask("POST /v1/limits/login/consumers/alice/reset", admin).status, 400U);
}

TEST_F(AdminFrontendTest, ResetOfAStateThatOthersShareIsAConflict) {
  auto small = engine::Engine::create(
      match::ruleset_of("version: 1\nlimits:\n  - { name: api, consumer_key: user, algorithm: gcra, rate: 1/h }\n"),
      {.memory_budget = std::size_t{1} << 20, .hash_key = {1, 2}});
  ASSERT_TRUE(small);
  session_.reset();
  frontend_.reset();
  context_.emplace(**small, clock_, Settings{});
  open({.admin_token = Token("a")});
  int last = 0;
  while ((*small)->bindings()->tables().overflowed() == 0) {
    const std::string user = std::to_string(last++);
    const engine::Query query{.ip = "203.0.113.1", .user = user};
    (void)context_->evaluator().evaluate(query, clock_.now());
  }
  const Reply reply = ask("POST /v1/limits/api/consumers/" + std::to_string(last - 1) + "/reset", admin);
  EXPECT_EQ(reply.status, 409U);
  EXPECT_NE(reply.body.find("shares a state with other consumers because memory is full"), std::string::npos)
      << reply.body;
  session_.reset();
  frontend_.reset();
  context_.reset();
}

class AdminDescriptorTest : public AdminFrontendTest {
 protected:
  AdminDescriptorTest() {
    const auto ruleset = match::ruleset_of(R"(
domain: edge
descriptors:
  - key: address
    rate_limit: { unit: hour, requests_per_unit: 2, name: by-address }
    descriptors:
      - { key: path, value: /health, rate_limit: { unlimited: true } }
  - { key: trial, shadow_mode: true, rate_limit: { unit: hour, requests_per_unit: 1 } }
)");
    EXPECT_TRUE(engine_->reload(ruleset, clock_));
    open({.admin_token = Token("a")});
  }

  void send_descriptor(std::string_view key, std::string_view value) {
    const engine::DescriptorEntry entry{key, value};
    const engine::DescriptorQuery ask{.entries = {&entry, 1}, .limit_override = {}};
    engine::DescriptorStatus status;
    (void)context_->evaluator().evaluate("edge", {&ask, 1}, clock_.now(), {&status, 1});
  }
};

TEST_F(AdminDescriptorTest, IsInspectedAsTrafficLeftIt) {
  EXPECT_EQ(
      ask("GET /v1/domains/edge/descriptor?address=a%3Db").body,
      R"({"domain":"edge","limit":"by-address","tier":"default","admitted":true,"reason":"within","retry_after":0,)"
      R"("algorithm":"fixed_window","mode":"enforce","quota":2,"remaining":2,"reset_after":0,"more_after":null,"consistency":"exact","used":0,)"
      R"("leased":0,"holders":0,"slices":[],"open":0,"open_units":0,"receipts":[],"candidate":null,)"
      R"("override":null,"block":null,"consumer":"address=a=b"})"
      "\n");
  for (int i = 0; i < 2; ++i) send_descriptor("address", "a=b");
  clock_.advance(600s);
  const std::string left = ask("GET /v1/domains/edge/descriptor?address=a%3Db").body;
  EXPECT_NE(left.find(R"("admitted":false,"reason":"exceeded","retry_after":3000,)"
                      R"("algorithm":"fixed_window","mode":"enforce","quota":2,)"
                      R"("remaining":0,"reset_after":3000,"more_after":3000,)"),
            std::string::npos)
      << left;
  EXPECT_EQ(ask("GET /v1/domains/edge/descriptor?address=a%3Db").body, left) << "it charges nothing";
}

TEST_F(AdminDescriptorTest, InShadowAndUnlimited) {
  send_descriptor("trial", "x");
  EXPECT_NE(ask("GET /v1/domains/edge/descriptor?trial=x").body.find(R"("admitted":false,"reason":"exceeded",)"),
            std::string::npos);
  EXPECT_NE(ask("GET /v1/domains/edge/descriptor?trial=x").body.find(R"("mode":"shadow","quota":1,"remaining":0)"),
            std::string::npos);
  EXPECT_EQ(
      ask("GET /v1/domains/edge/descriptor?address=a&path=%2Fhealth").body,
      R"({"domain":"edge","limit":null,"tier":"default","admitted":true,"reason":"uncovered","retry_after":0,)"
      R"("algorithm":null,"mode":null,"quota":null,"remaining":null,"reset_after":null,"more_after":null,)"
      R"("consistency":null,"used":null,"leased":null,"holders":null,"slices":null,"open":null,"open_units":null,)"
      R"("receipts":null,"candidate":null,)"
      R"("override":null,"block":null,"consumer":"address=a + path=/health"})"
      "\n");
}

TEST_F(AdminDescriptorTest, IsReset) {
  for (int i = 0; i < 2; ++i) send_descriptor("address", "a");
  EXPECT_EQ(ask("POST /v1/domains/edge/descriptor/reset?address=a").status, 401U);
  const Reply reply = ask("POST /v1/domains/edge/descriptor/reset?address=a", admin);
  EXPECT_EQ(reply.body,
            R"({"domain":"edge","consumer":"address=a","reset":true,"out":{"units":0,"holders":0,"expires_after":0}})"
            "\n");
  EXPECT_NE(ask("GET /v1/domains/edge/descriptor?address=a").body.find(R"("remaining":2)"), std::string::npos);
}

TEST_F(AdminDescriptorTest, WhatHasNoLimitIsSaid) {
  struct Row {
    std::string_view line;
    unsigned status;
    std::string_view detail;
  };
  const std::vector<Row> rows = {
      {"GET /v1/domains/edgy/descriptor?address=a", 404, "domain 'edgy': unknown; valid domains: edge"},
      {"GET /v1/domains/edge/descriptor?adress=a", 404, "limits exist for 'address', 'address + path=/health'"},
      {"POST /v1/domains/edge/descriptor/reset?adress=a", 404, "has no limit in domain 'edge'"},
      {"GET /v1/domains/edge/descriptor", 400, "descriptor: missing"},
  };
  for (const Row& row : rows) {
    const Reply reply = ask(row.line, admin);
    EXPECT_EQ(reply.status, row.status) << row.line;
    EXPECT_NE(reply.body.find(row.detail), std::string::npos) << reply.body;
  }
}

}  // namespace
}  // namespace weir::frontend::consumer_tests
