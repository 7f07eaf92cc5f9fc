#include "observe/recorder.h"

#include <array>
#include <span>
#include <vector>

#include "tests/observe/recorder_fixture.h"

namespace weir::observe {
namespace {

constexpr auto by_user = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: login, routes: ["POST /login/{id}"], consumer_key: [user, ip], algorithm: fixed_window, rate: 4/h }
)";

constexpr auto shadow_and_global = R"(
version: 1
limits:
  - { name: quiet, consumer_key: ip, algorithm: fixed_window, rate: 1/h, mode: shadow }
  - { name: all, consumer_key: global, algorithm: fixed_window, rate: 2/h }
)";

constexpr auto domain = R"(
domain: messaging
descriptors:
  - { key: to, rate_limit: { unit: day, requests_per_unit: 2, name: per-number } }
)";

std::uint64_t bucket(const HeadroomHistogram::Totals& totals, std::uint64_t bound) {
  const auto at = std::ranges::find(headroom_scale.bounds, bound) - headroom_scale.bounds.begin();
  return totals.counts[static_cast<std::size_t>(at)];
}

TEST_F(RecorderTest, HeadroomIsWhatIsLeftAfterTheDecision) {
  load(by_user);
  for (int i = 0; i < 6; ++i) passes(Request::to("POST /login/1").by("alice"));
  const auto headroom = totals().headroom.at("login");
  EXPECT_EQ(bucket(headroom, 750'000), 1U);
  EXPECT_EQ(bucket(headroom, 500'000), 1U);
  EXPECT_EQ(bucket(headroom, 250'000), 1U);
  EXPECT_EQ(bucket(headroom, 0), 3U) << "the last that was admitted, and two denied";
  EXPECT_EQ(headroom.count(), 6U);
  EXPECT_EQ(headroom.sum, 1'500'000U);
}

TEST_F(RecorderTest, BucketBoundsHoldExactly) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: fixed_window, rate: 300/h}]}");
  passes(Request::to("GET /").costing(297));  // leaves 3: one hundredth
  EXPECT_EQ(bucket(totals().headroom.at("a"), 10'000), 1U);
  passes(Request::to("GET /").from("203.0.113.2").costing(296));  // leaves a little more
  EXPECT_EQ(bucket(totals().headroom.at("a"), 10'000), 1U);
  EXPECT_EQ(bucket(totals().headroom.at("a"), 50'000), 1U);
}

TEST_F(RecorderTest, HeadroomGoesOnOverAReload) {
  load(by_user);
  passes(Request::to("POST /login/1").by("alice"));
  reload(
      "{version: 1, limits: [{name: first, consumer_key: ip, algorithm: gcra, rate: 1/s}, "
      "{name: login, consumer_key: ip, algorithm: gcra, rate: 1/s}]}");
  passes(Request::to("POST /login/1"));
  EXPECT_EQ(totals().headroom.at("login").count(), 2U);
  EXPECT_EQ(totals().headroom.at("first").count(), 1U);
}

TEST_F(RecorderTest, TimeOfABatchIsSharedOutEvenly) {
  load(by_user);
  SteppingWatch::step = 4us;
  send_batch(Request::to("GET /"), 8);
  const auto durations = totals().durations;
  EXPECT_EQ(durations.counts[2], 8U) << "500 ns each";
  EXPECT_EQ(durations.count(), 8U);
  EXPECT_EQ(durations.sum, 4000U);
}

TEST_F(RecorderTest, BatchesAreCountedBySize) {
  load(by_user);
  for (const std::size_t size : {1U, 1U, 3U, 64U, 5000U}) send_batch(Request::to("GET /"), size);
  const auto batches = totals().batches;
  EXPECT_EQ(batches.counts[0], 2U);
  EXPECT_EQ(batches.counts[2], 1U);
  EXPECT_EQ(batches.counts[6], 1U);
  EXPECT_EQ(batches.counts[11], 1U);
  EXPECT_EQ(batches.sum, 5069U);
}

TEST_F(RecorderTest, PeeksAreNotRecorded) {
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: fixed_window, rate: 1/h}]}");
  passes(Request::to("GET /"));
  EXPECT_FALSE(passes(Request::to("GET /").only_looking()));
  EXPECT_EQ(totals().durations.count(), 1U);
  EXPECT_EQ(totals().batches.count(), 1U);
  EXPECT_EQ(totals().headroom.at("a").count(), 1U);
  EXPECT_TRUE(denied().empty());
  EXPECT_EQ(logged(), "");
}

TEST_F(RecorderTest, DenialIsLoggedAndCounted) {
  load(by_user);
  for (int i = 0; i < 5; ++i) passes(Request::to("POST /login/7").by("alice").from("203.0.113.9"));
  const std::string name = "user:" + names_.hash_of("alice");
  EXPECT_EQ(denied(), (std::vector<DeniedConsumer>{{"login", name, 1, 0}}));
  EXPECT_EQ(logged(), R"({"time":"2026-01-05T12:00:00.000000Z","event":"denied","reason":"exceeded","limit":"login",)"
                      R"("method":"POST","route":"POST /login/{id}","tier":"free","consumer":")" +
                          name + R"(","ip":"203.0.113.0/24","cost":1,"retry_after":3600,"quota":4,"remaining":0})" +
                          "\n");
}

TEST_F(RecorderTest, NothingOfTheClientIsLogged) {
  load(by_user);
  for (int i = 0; i < 5; ++i) {
    passes(Request::to("POST /login/4711?token=secret").by("alice").from("203.0.113.9").with("Cookie", "crumb"));
  }
  const std::string line = logged();
  ASSERT_NE(line, "");
  for (const char* secret : {"alice", "4711", "secret", "203.0.113.9", "crumb"}) {
    EXPECT_EQ(line.find(secret), std::string::npos) << secret;
  }
}

TEST_F(RecorderTest, DenialCarriesTheIdsOfItsRequest) {
  load(by_user);
  const Request request = Request::to("POST /login/7")
                              .by("alice")
                              .with("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                              .with("X-Request-Id", "r-1");
  for (int i = 0; i < 5; ++i) passes(request);
  EXPECT_NE(logged().find(R"(,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","request_id":"r-1"})"), std::string::npos)
      << logged();
}

TEST_F(RecorderTest, IdsThatAreNoneAreNotWritten) {
  load(by_user);
  const Request request = Request::to("POST /login/7").by("alice").with("X-Request-Id", "<script>alert(1)</script>");
  for (int i = 0; i < 5; ++i) passes(request);
  EXPECT_EQ(logged().find("script"), std::string::npos);
}

TEST_F(RecorderTest, ShadowLimitIsNotRecordedAsADenial) {
  load(shadow_and_global);
  for (int i = 0; i < 3; ++i) passes(Request::to("GET /"));
  EXPECT_EQ(denied(), (std::vector<DeniedConsumer>{{"all", "global", 1, 0}}));
  EXPECT_EQ(totals().headroom.at("quiet").count(), 3U);
}

TEST_F(RecorderTest, MissingKeyIsLoggedWithoutAConsumer) {
  load("{version: 1, limits: [{name: a, consumer_key: user, missing: deny, algorithm: gcra, rate: 1/s}]}");
  EXPECT_FALSE(passes(Request::to("GET /")));
  EXPECT_NE(logged().find(R"("reason":"key_missing","limit":"a","method":"GET","route":"other")"), std::string::npos);
  EXPECT_EQ(logged().find("consumer"), std::string::npos);
  EXPECT_NE(logged().find(R"("retry_after":null)"), std::string::npos);
  EXPECT_TRUE(denied().empty());
}

TEST_F(RecorderTest, DescriptorsAreRecordedLikeQueries) {
  load(domain);
  EXPECT_TRUE(ask({{"to", "1"}}, "messaging"));
  EXPECT_TRUE(ask({{"to", "1"}}, "messaging"));
  EXPECT_FALSE(ask({{"to", "1"}}, "messaging"));
  const std::string name = "to:" + names_.hash_of("1");
  EXPECT_EQ(denied(), (std::vector<DeniedConsumer>{{"per-number", name, 1, 0}}));
  EXPECT_EQ(logged(), R"({"time":"2026-01-05T12:00:00.000000Z","event":"denied","reason":"exceeded",)"
                      R"("limit":"per-number","consumer":")" +
                          name + R"(","cost":1,"retry_after":43200,"quota":2,"remaining":0})" + "\n");
  EXPECT_EQ(totals().headroom.at("per-number").count(), 3U);
  EXPECT_EQ(totals().durations.count(), 3U);
}

TEST_F(RecorderTest, LooksAtDescriptorsAreNotRecorded) {
  load(domain);
  const std::vector<engine::DescriptorEntry> entries{{"to", "1"}};
  const std::vector<engine::DescriptorQuery> peeks{{.entries = entries, .hits = Cost{0}, .limit_override = {}}};
  std::vector<engine::DescriptorStatus> statuses(1);
  EXPECT_TRUE(evaluator_->evaluate("messaging", peeks, now_, statuses));
  EXPECT_EQ(totals().durations.count(), 0U);
  EXPECT_EQ(totals().headroom.at("per-number").count(), 0U);
  EXPECT_TRUE(engine_->totals().by_limit_and_route.empty());
}

TEST_F(RecorderTest, TimeOfDescriptorsThatWereEvaluatedTogetherIsSharedOutEvenly) {
  load(domain);
  SteppingWatch::step = 4us;
  const std::vector<engine::DescriptorEntry> entries{{"to", "1"}};
  const std::vector<engine::DescriptorQuery> asks{{.entries = entries, .hits = Cost{1}, .limit_override = {}}};
  const std::vector<engine::DescriptorQuery> peeks{{.entries = entries, .hits = Cost{0}, .limit_override = {}}};
  const engine::EvaluationBatchPtr batch = evaluator_->new_batch();
  batch->add("messaging", asks);
  batch->add("messaging", peeks);
  batch->add("unknown", asks);
  batch->add("messaging", asks);
  batch->add("messaging", asks);
  EXPECT_TRUE(batch->submit(now_));
  EXPECT_EQ(denied().size(), 1U) << "the last, by those before it";
  EXPECT_EQ(totals().headroom.at("per-number").count(), 3U);
  EXPECT_EQ(totals().durations.count(), 3U) << "neither the peek nor the unknown domain";
  EXPECT_EQ(totals().durations.sum, 3000U) << "the peek had its share";
  EXPECT_EQ(totals().batches.sum, 3U);
  EXPECT_EQ(totals().batches.count(), 1U);
}

TEST_F(RecorderTest, QuestionsByNameAreRecordedLikeQueries) {
  load(by_user);
  const std::array<engine::NamedQuery, 7> asks{{{.limit = "login", .consumer = "user=bob"},
                                                {.limit = "login", .consumer = "user=bob"},
                                                {.limit = "login", .consumer = "user=bob"},
                                                {.limit = "login", .consumer = "user=bob"},
                                                {.limit = "login", .consumer = "user=bob"},
                                                {.limit = "login", .consumer = "user=bob", .peek = true},
                                                {.limit = "unknown", .consumer = "user=bob"}}};
  const engine::EvaluationBatchPtr batch = evaluator_->new_batch();
  for (const engine::NamedQuery& ask : asks) batch->add(ask);
  EXPECT_TRUE(batch->submit(now_));
  const std::string name = "user:" + names_.hash_of("bob");
  EXPECT_EQ(denied(), (std::vector<DeniedConsumer>{{"login", name, 1, 0}}));
  EXPECT_NE(logged().find(R"("limit":"login","route":"other","tier":"free","consumer":")" + name + R"(","cost":1,)"),
            std::string::npos)
      << logged();
  EXPECT_EQ(totals().headroom.at("login").count(), 5U);
  EXPECT_EQ(totals().durations.count(), 5U) << "neither the peek nor what was not evaluated";
}

TEST_F(RecorderTest, UnknownDomainIsNotRecorded) {
  load(domain);
  EXPECT_TRUE(ask({{"to", "1"}}, "unknown"));
  EXPECT_EQ(totals().durations.count(), 0U);
}

}  // namespace
}  // namespace weir::observe
