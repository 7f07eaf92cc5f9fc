// Judging a query with three limits on a warm ruleset allocates nothing.
#include "tests/allocations.h"
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

using AllocationTest = EngineTest;

constexpr auto three_limits = R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: user
    routes: ["/api/v1/{id}/items"]
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 1000/s
    burst: 100
    tier_overrides: { pro: { burst: 200 } }
    candidate: { algorithm: sliding_window_counter }
  - { name: address, consumer_key: ip+route, algorithm: sliding_window_counter, rate: 100000/min }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1000000/s }
)";

TEST_F(AllocationTest, WarmQueryWithThreeLimitsAllocatesNothing) {
  load(three_limits);
  const Request request = Request::to("GET /api/v1/4711/items?page=2")
                              .from("10.0.0.1")
                              .with("X-User-Id", "alice@example.org")
                              .with("X-Plan", "pro")
                              .with("X-Forwarded-For", "1.2.3.4, 203.0.113.9");
  const Asked asked(request);
  const auto judge_many = [&] {
    int admitted = 0;
    for (int i = 0; i < 1000; ++i) {
      advance(1ms);
      const Verdict verdict = judge_->judge(asked.query(), now_);
      admitted += verdict.admitted && verdict.outcomes.size() == 3 ? 1 : 0;
    }
    return admitted;
  };
  ASSERT_EQ(judge_many(), 1000);
  const std::uint64_t before = allocations.load();
  const int admitted = judge_many();
  EXPECT_EQ(allocations.load() - before, 0U);
  EXPECT_EQ(admitted, 1000);
}

TEST_F(AllocationTest, BatchesAllocateNothingEither) {
  load(three_limits);
  const Request request = Request::to("GET /api/v1/1/items").from("203.0.113.1");
  const Asked asked(request);
  const std::vector<Query> queries(64, asked.query());
  std::vector<Verdict> verdicts(64);
  judge_->judge(queries, now_, verdicts);
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) judge_->judge(queries, now_, verdicts);
  EXPECT_EQ(allocations.load() - before, 0U);
}

TEST_F(AllocationTest, QuestionsByNameAllocateNothingEither) {
  load(three_limits);
  const std::vector<NamedAsk> asks = {
      {.limit = "user", .consumer = "user=a-user-with-quite-a-long-name@example.org", .tier = "pro"},
      {.limit = "address", .consumer = "ip=2001:db8::1 + route=/api/v1/{id}/items"},
      {.limit = "all"}};
  std::vector<Result<Verdict>> verdicts(asks.size());
  judge_->judge(asks, now_, verdicts);
  for (const auto& verdict : verdicts) ASSERT_TRUE(verdict) << verdict.error().message();
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) judge_->judge(asks, now_, verdicts);
  EXPECT_EQ(allocations.load() - before, 0U);
}

}  // namespace
}  // namespace weir::engine
