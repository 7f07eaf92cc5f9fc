// Verdicts of the public API: their content, and the lifetime of their views.
#include <array>
#include <vector>

#include "tests/embedded/embedded_fixture.h"

namespace weir::embedded {
namespace {

constexpr auto two_limits = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: api-by-user
    routes: [/api/**]
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 1/s
    burst: 3
    tier_overrides: { pro: { burst: 10 } }
  - { name: everybody, routes: [/api/**], consumer_key: global, algorithm: fixed_window, rate: 100/min }
)";

TEST_F(EmbeddedTest, DeniedVerdictHasTheLimitAndTheRetryAfter) {
  load(two_limits);
  EXPECT_EQ(passing("/api/items", 3), 3);
  const Verdict denied = send("/api/items");
  EXPECT_FALSE(denied);
  EXPECT_EQ(denied.status(), 429U);
  EXPECT_EQ(denied.reason, Reason::exceeded);
  EXPECT_EQ(name_of(denied.reason), "exceeded");
  EXPECT_EQ(denied.limit, "api-by-user");
  EXPECT_EQ(denied.route, "/api/**");
  EXPECT_EQ(denied.tier, "free");
  EXPECT_EQ(denied.decision.limit, 3U);
  EXPECT_EQ(denied.decision.remaining, 0U);
  EXPECT_EQ(denied.retry_after, Duration(1s));
  EXPECT_EQ(denied.at, clock_->now());
  clock_->advance(*denied.retry_after - 1us);
  EXPECT_FALSE(send("/api/items"));
  clock_->advance(1us);
  EXPECT_TRUE(send("/api/items"));
}

TEST_F(EmbeddedTest, AddressThatCannotBeReadIsLimitedTogetherWithAllOthers) {
  load(two_limits);
  const auto passes_from = [&](std::string_view ip) {
    return engine_->evaluate({.path = "/api/items", .ip = ip}).admitted;
  };
  for (const std::string_view ip : {"192.0.2.7", "192.0.2.7:51234", "[192.0.2.7]:51235"}) EXPECT_TRUE(passes_from(ip));
  EXPECT_FALSE(passes_from("192.0.2.7:51236"));
  for (const std::string_view ip : {"foo", "@", " 192.0.2.7"}) EXPECT_TRUE(passes_from(ip));
  EXPECT_FALSE(passes_from("bar"));
}

TEST_F(EmbeddedTest, FieldsAndProblemAreThoseOfTheServer) {
  load(two_limits);
  const auto admitted = fields_of(send("/api/items"));
  EXPECT_EQ(admitted.at("RateLimit-Policy"), R"("api-by-user";q=3;w=3)");
  EXPECT_EQ(admitted.at("RateLimit"), R"("api-by-user";r=2;t=1)");
  EXPECT_EQ(admitted.at("X-RateLimit-Remaining"), "2");
  EXPECT_EQ(admitted.count("Retry-After"), 0U);
  EXPECT_TRUE(send("/api/items").problem().empty());
  EXPECT_TRUE(send("/api/items"));
  const Verdict denied = send("/api/items");
  EXPECT_EQ(fields_of(denied).at("Retry-After"), "1");
  EXPECT_EQ(denied.problem(),
            R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
            R"("title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,)"
            R"("detail":"Too many requests: the limit api-by-user is exceeded. Try again in 1 second.",)"
            R"("violated-policies":["api-by-user"],"limit":3,"retry_after":1,"reset_at":"2033-05-18T03:33:23Z"})");
}

TEST_F(EmbeddedTest, FieldsAreChosen) {
  load(two_limits);
  EXPECT_EQ(passing("/api/items", 3), 3);
  const Verdict denied = send("/api/items");
  const auto fields =
      fields_of(denied, {.rate_limit = false, .x_reset_as_epoch = true, .legacy_fields = true, .more_retry_after = 5s});
  EXPECT_EQ(fields.count("RateLimit"), 0U);
  EXPECT_EQ(fields.at("X-RateLimit-Reset"), "2000000003");
  EXPECT_EQ(fields.at("RateLimit-Reset"), "3");
  EXPECT_EQ(fields.at("Retry-After"), "6");
  EXPECT_EQ(fields.size(), 7U);
  const HeaderFields none(denied, {.rate_limit = false, .x_rate_limit = false});
  EXPECT_EQ(none.size(), 1U) << "Retry-After is always there";
}

TEST_F(EmbeddedTest, UncoveredRequestPassesWithoutFields) {
  load(two_limits);
  const Verdict verdict = send("/health");
  EXPECT_TRUE(verdict);
  EXPECT_EQ(verdict.status(), 200U);
  EXPECT_EQ(verdict.reason, Reason::uncovered);
  EXPECT_TRUE(verdict.limit.empty());
  EXPECT_EQ(verdict.route, "other");
  EXPECT_TRUE(verdict.fields().empty());
}

TEST_F(EmbeddedTest, IdentityOfTheProgramIsBelievedAndThatOfAClientIsNot) {
  load(two_limits);
  const std::array<Header, 1> claim{{{"X-Plan", "pro"}}};
  EXPECT_EQ(engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .headers = claim}).tier, "free");
  EXPECT_EQ(engine_->evaluate({.path = "/api/x", .ip = "127.0.0.1", .headers = claim}).tier, "pro");
  EXPECT_EQ(engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .user = "alice", .tier = "pro"}).decision.limit,
            10U);
}

TEST_F(EmbeddedTest, CostIsTheCallersWhereThePolicyWritesNone) {
  load(two_limits);
  EXPECT_EQ(engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .cost = Cost{2}}).decision.remaining, 1U);
  const Verdict never = engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .cost = Cost{4}});
  EXPECT_FALSE(never);
  EXPECT_EQ(never.retry_after, std::nullopt);
  EXPECT_EQ(fields_of(never).count("Retry-After"), 0U);
}

TEST_F(EmbeddedTest, PeekChargesNothing) {
  load(two_limits);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .peek = true}));
  EXPECT_EQ(send("/api/x", "203.0.113.9").decision.remaining, 2U);
}

TEST_F(EmbeddedTest, WaitingNeverHelpsIsForbidden) {
  load(R"(
version: 1
limits:
  - { name: users-only, routes: [/private/**], consumer_key: [user, api_key], missing: deny, algorithm: gcra, rate: 1/s }
)");
  const Verdict denied = send("/private/x");
  EXPECT_EQ(denied.status(), 403U);
  EXPECT_EQ(denied.reason, Reason::key_missing);
  EXPECT_TRUE(denied.fields().empty());
  EXPECT_NE(denied.problem().find("This request has no user or api_key"), std::string::npos) << denied.problem();
  EXPECT_NE(denied.problem().find(R"("status":403)"), std::string::npos);
}

TEST_F(EmbeddedTest, WarningIsAFieldOfAnAdmittedAnswer) {
  load(R"(
version: 1
limits:
  - { name: soft, consumer_key: ip, algorithm: fixed_window, rate: 1/min, warn_first: { count: 1, per: 1h } }
)");
  EXPECT_EQ(send("/").reason, Reason::within);
  const Verdict warned = send("/");
  EXPECT_TRUE(warned);
  EXPECT_EQ(warned.reason, Reason::warned);
  EXPECT_EQ(fields_of(warned).at("X-RateLimit-Warning"), "soft");
  EXPECT_FALSE(send("/"));
}

TEST_F(EmbeddedTest, QueuedCallerHasADelay) {
  load("{version: 1, limits: [{name: q, consumer_key: ip, algorithm: leaky_bucket, rate: 1/s, queue: 2}]}");
  EXPECT_EQ(send("/").delay, Duration::zero());
  EXPECT_EQ(send("/").delay, Duration(1s));
  EXPECT_FALSE(engine_->evaluate({.ip = "203.0.113.7", .max_wait = 500ms})) << "a caller that cannot wait";
  EXPECT_EQ(send("/").delay, Duration(2s));
}

TEST_F(EmbeddedTest, AllLimitsThatDenyAreInTheProblem) {
  load(R"(
version: 1
limits:
  - { name: one, consumer_key: ip, algorithm: fixed_window, rate: 1/min }
  - { name: two, consumer_key: ip, algorithm: fixed_window, rate: 1/h }
)");
  EXPECT_TRUE(send("/"));
  const Verdict denied = send("/");
  EXPECT_EQ(denied.limit, "two") << "it has the longest wait";
  EXPECT_NE(denied.problem().find(R"("violated-policies":["two","one"])"), std::string::npos) << denied.problem();
}

TEST_F(EmbeddedTest, VerdictOutlivesTheReloadAndTheEngine) {
  load(two_limits);
  EXPECT_EQ(passing("/api/items", 3), 3);
  const Verdict denied = send("/api/items");
  const std::string problem = denied.problem();
  reload("{version: 1, limits: [{name: other, consumer_key: ip, algorithm: gcra, rate: 1/s}]}");
  EXPECT_EQ(send("/api/items").limit, "other");
  engine_.reset();
  const Verdict copy = denied;  // NOLINT(performance-unnecessary-copy-initialization): a copy holds what it views
  EXPECT_EQ(copy.limit, "api-by-user");
  EXPECT_EQ(copy.route, "/api/**");
  EXPECT_EQ(copy.problem(), problem);
  EXPECT_EQ(fields_of(copy).at("Retry-After"), "1");
}

TEST(EmbeddedVerdict, UnevaluatedVerdictIsADenial) {
  const Verdict verdict;
  EXPECT_FALSE(verdict);
  EXPECT_EQ(verdict.status(), 503U);
  EXPECT_EQ(name_of(verdict.reason), "not_evaluated");
  EXPECT_TRUE(verdict.fields().empty());
  EXPECT_NE(verdict.problem().find(R"("status":503)"), std::string::npos) << verdict.problem();
}

TEST_F(EmbeddedTest, BatchIsEvaluatedInItsOrder) {
  load(two_limits);
  std::vector<Query> queries(200, Query{.path = "/api/items", .ip = "203.0.113.7"});
  for (std::size_t i = 0; i < queries.size(); i += 2) queries[i].path = "/health";
  std::vector<Verdict> verdicts(queries.size() + 1);
  engine_->evaluate(queries, verdicts);
  std::size_t passed = 0;
  for (std::size_t i = 1; i < queries.size(); i += 2) {
    EXPECT_EQ(verdicts[i].admitted, i < 6) << i;
    EXPECT_EQ(verdicts[i].limit, "api-by-user");
    passed += verdicts[i - 1].admitted ? 1U : 0U;
  }
  EXPECT_EQ(passed, 100U);
  EXPECT_EQ(verdicts.back().reason, Reason::not_evaluated) << "there were fewer queries";
  std::vector<Verdict> few(3);
  engine_->evaluate(queries, few);
  EXPECT_EQ(few[2].reason, Reason::uncovered);
}

TEST_F(EmbeddedTest, LimitIsEvaluatedByItsName) {
  load(two_limits);
  const auto verdict = engine_->evaluate_limit({.limit = "api-by-user", .consumer = "user=alice", .cost = Cost{3}});
  ASSERT_TRUE(verdict) << verdict.error().message();
  EXPECT_TRUE(verdict->admitted);
  EXPECT_FALSE(engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .user = "alice"})) << "the same counter";
  EXPECT_FALSE(engine_->evaluate_limit({.limit = "api-by-usr", .consumer = "user=alice"}));
  ASSERT_TRUE(engine_->reset("api-by-user", "user=alice"));
  EXPECT_TRUE(engine_->evaluate({.path = "/api/x", .ip = "203.0.113.9", .user = "alice"}));
  EXPECT_FALSE(engine_->reset("no-such-limit", "user=alice"));
}

TEST_F(EmbeddedTest, DescriptorsAreEvaluatedTogether) {
  load(R"(
domain: messaging
descriptors:
  - { key: to, rate_limit: { name: per-number, unit: minute, requests_per_unit: 1 } }
  - { key: all, rate_limit: { unit: hour, requests_per_unit: 100 } }
  - { key: banned, rate_limit: { unit: hour, requests_per_unit: 0 } }
)");
  const DescriptorEntry to{"to", "alice"};
  const DescriptorEntry all{"all", "yes"};
  const std::array<Descriptor, 2> both{Descriptor{{&to, 1}}, Descriptor{{&all, 1}, Cost{5}}};
  // The text is destroyed before the verdict is read.
  auto domain = std::make_unique<std::string>("messaging");
  EXPECT_TRUE(engine_->evaluate_descriptors(*domain, both));
  const Verdict denied = engine_->evaluate_descriptors(*domain, both);
  const Verdict passed = engine_->evaluate_descriptors(*domain, std::span(both).subspan(1));
  domain.reset();
  EXPECT_EQ(denied.status(), 429U);
  EXPECT_EQ(denied.limit, "per-number");
  EXPECT_EQ(fields_of(denied).at("RateLimit-Policy"), R"("per-number";q=1;w=60)");
  EXPECT_NE(denied.problem().find(R"("violated-policies":["per-number"])"), std::string::npos) << denied.problem();
  EXPECT_EQ(passed.decision.remaining, 90U) << "a denial charges nothing";
  EXPECT_EQ(passed.limit, "messaging") << "a limit without a name has its domain's";
  const DescriptorEntry banned{"banned", "x"};
  const Descriptor ban{{&banned, 1}};
  EXPECT_EQ(engine_->evaluate_descriptors("messaging", {&ban, 1}).status(), 403U);
  EXPECT_EQ(engine_->evaluate_descriptors("unknown", both).reason, Reason::uncovered);
}

}  // namespace
}  // namespace weir::embedded
