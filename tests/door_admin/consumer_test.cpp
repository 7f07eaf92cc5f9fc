// One consumer of one limit: inspected and reset.
#include "tests/door_admin/admin_fixture.h"

namespace weir::door {
namespace {

constexpr auto admin = "X-Weir-Token: a\r\n";

TEST_F(AdminDoorTest, ConsumerThatWasNeverSeenHasAll) {
  const Reply reply = ask("GET /v1/limits/api/consumers/user=bob");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body,
            R"({"limit":"api","tier":"free","admitted":true,"reason":"within","retry_after":0,"mode":"enforce",)"
            R"("quota":4,"remaining":4,"reset_after":0,"more_after":null,"consumer":"user=bob"})"
            "\n");
}

TEST_F(AdminDoorTest, ConsumerIsInspectedAsTrafficLeftIt) {
  use(4);
  clock_.advance(250ms);
  const Reply reply = ask("GET /v1/limits/api/consumers/user=alice");
  EXPECT_EQ(reply.body,
            R"({"limit":"api","tier":"free","admitted":false,"reason":"exceeded","retry_after":0.75,)"
            R"("mode":"enforce","quota":4,"remaining":0,"reset_after":3.75,"more_after":0.75,"consumer":"user=alice"})"
            "\n");
}

TEST_F(AdminDoorTest, InspectingChargesNothing) {
  use(1);
  const std::string first = ask("GET /v1/limits/api/consumers/user=alice").body;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask("GET /v1/limits/api/consumers/user=alice").body, first);
}

TEST_F(AdminDoorTest, ConsumerIsInspectedInItsTier) {
  const Reply pro = ask("GET /v1/limits/api/consumers/user=alice?tier=pro");
  EXPECT_NE(pro.body.find(R"("quota":40,"remaining":40,)"), std::string::npos);
  EXPECT_EQ(ask("GET /v1/limits/api/consumers/user=alice?tier=staff").body,
            R"({"limit":"api","tier":"staff","admitted":true,"reason":"uncovered","retry_after":0,"mode":null,)"
            R"("quota":null,"remaining":null,"reset_after":null,"more_after":null,"consumer":"user=alice"})"
            "\n");
}

TEST_F(AdminDoorTest, LimitInShadowTellsWhatItWouldSay) {
  const engine::Query query{.method = "POST", .target = "/login", .ip = "203.0.113.9"};
  for (int i = 0; i < 2; ++i) (void)desk_->judge({&query, 1});
  const Reply reply = ask("GET /v1/limits/login/consumers/203.0.113.9");
  EXPECT_NE(reply.body.find(
                R"("admitted":false,"reason":"exceeded","retry_after":3600,"mode":"shadow","quota":2,"remaining":0,)"),
            std::string::npos)
      << reply.body;
  EXPECT_NE(reply.body.find(R"("consumer":"ip=203.0.113.9")"), std::string::npos);
}

TEST_F(AdminDoorTest, NamesInThePathAreDecoded) {
  EXPECT_EQ(ask("GET /v1/limits/%73ms/consumers/global").status, 200U);
  EXPECT_NE(ask("GET /v1/limits/api/consumers/user=%C3%A4%2F%25").body.find(R"("consumer":"user=ä/%")"),
            std::string::npos);
}

TEST_F(AdminDoorTest, WhatIsNotInThePolicyIsSaid) {
  struct Row {
    std::string_view target;
    unsigned status;
    std::string_view detail;
  };
  const std::vector<Row> rows = {
      {"/v1/limits/apy/consumers/user=alice", 404, "limit 'apy': is not in the policy, did you mean 'api'?"},
      {"/v1/limits/login/consumers/nobody", 400, "consumer: does not fit limit 'login'"},
      {"/v1/limits/api/consumers/alice?tier=por", 400, "tier 'por': is not in the policy, did you mean 'pro'?"},
      {"/v1/limits/api/consumers/alice?teir=pro", 400, "teir: is no parameter of this; there is tier"},
      {"/v1/limits/api/consumers/alice?tier=pro&x=1", 400, "x: is one parameter too many"},
      {"/v1/limits/api/consumers/a%zz", 400, "a % is not followed by two digits"},
  };
  for (const Row& row : rows) {
    const Reply reply = ask("GET " + std::string(row.target));
    EXPECT_EQ(reply.status, row.status) << row.target;
    EXPECT_TRUE(reply.says("Content-Type: application/problem+json\r\n"));
    EXPECT_NE(reply.body.find(row.detail), std::string::npos) << reply.body;
  }
}

TEST_F(AdminDoorTest, LimitOfADomainIsReachedByDescriptorsOnly) {
  const auto ruleset = engine::ruleset_of(
      "domain: mongo\ndescriptors:\n  - key: user\n    rate_limit: { unit: second, requests_per_unit: 3, name: by-user "
      "}\n");
  ASSERT_TRUE(engine_->reload(ruleset, clock_));
  const Reply reply = ask("GET /v1/limits/" + ruleset->limits.front().name + "/consumers/x");
  EXPECT_EQ(reply.status, 400U);
  EXPECT_NE(reply.body.find("is reached by descriptors only"), std::string::npos) << reply.body;
  EXPECT_NE(ask("GET /v1/ruleset").body.find(R"("domain":"mongo","when":null,"consumer_key":null)"), std::string::npos);
}

TEST_F(AdminDoorTest, ResetForgetsOneConsumer) {
  open({.admin_token = Token("a")});
  use(4);
  const Reply reply = ask("POST /v1/limits/api/consumers/alice/reset", admin);
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body, "{\"limit\":\"api\",\"consumer\":\"user=alice\",\"reset\":true}\n");
  EXPECT_NE(ask("GET /v1/limits/api/consumers/user=alice").body.find(R"("remaining":4)"), std::string::npos);
}

TEST_F(AdminDoorTest, ResetOfWhatIsNotThere) {
  open({.admin_token = Token("a")});
  EXPECT_EQ(ask("POST /v1/limits/nothing/consumers/alice/reset", admin).status, 404U);
  EXPECT_EQ(ask("POST /v1/limits/login/consumers/alice/reset", admin).status, 400U);
}

}  // namespace
}  // namespace weir::door
