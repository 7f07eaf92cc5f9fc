// Evaluating a query with three limits on a warm ruleset allocates nothing.
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
  const auto evaluate_many = [&] {
    int admitted = 0;
    for (int i = 0; i < 1000; ++i) {
      advance(1ms);
      const Verdict verdict = evaluator_->evaluate(asked.query(), now_);
      admitted += verdict.admitted && verdict.outcomes.size() == 3 ? 1 : 0;
    }
    return admitted;
  };
  ASSERT_EQ(evaluate_many(), 1000);
  const std::uint64_t before = allocations.load();
  const int admitted = evaluate_many();
  EXPECT_EQ(allocations.load() - before, 0U);
  EXPECT_EQ(admitted, 1000);
}

TEST_F(AllocationTest, BatchesAllocateNothingEither) {
  load(three_limits);
  const Request request = Request::to("GET /api/v1/1/items").from("203.0.113.1");
  const Asked asked(request);
  const std::vector<Query> queries(64, asked.query());
  std::vector<Verdict> verdicts(64);
  evaluator_->evaluate(queries, now_, verdicts);
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) evaluator_->evaluate(queries, now_, verdicts);
  EXPECT_EQ(allocations.load() - before, 0U);
}

TEST_F(AllocationTest, BatchesOfEveryKindAllocateNothingEither) {
  load(three_limits);
  const auto throttle = *store::ThrottleTable::create(std::size_t{4} << 20, {1, 2});
  const auto evaluator = engine_->new_evaluator({.throttle = throttle.get()});
  const std::vector<NamedQuery> asks = {
      {.limit = "user", .consumer = "user=a-user-with-quite-a-long-name@example.org", .tier = "pro"},
      {.limit = "address", .consumer = "ip=2001:db8::1 + route=/api/v1/{id}/items"},
      {.limit = "all"}};
  const core::Gcra::Limit limit(*Limit::gcra({{1000, Duration(1s)}, 1000}));
  const EvaluationBatchPtr batch = evaluator->new_batch();
  const auto evaluate = [&] {
    batch->clear();
    for (const NamedQuery& ask : asks) batch->add(ask);
    batch->add_throttle(evaluator->seek_throttle("a key that is longer than most"), "a key that is longer than most",
                        limit, Cost{1});
    return batch->submit(now_);
  };
  ASSERT_TRUE(evaluate());
  for (std::size_t i = 0; i < asks.size(); ++i) ASSERT_EQ(batch->error(i), nullptr) << batch->error(i)->message();
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(evaluate());
  EXPECT_EQ(allocations.load() - before, 0U);
}

constexpr auto two_descriptors = R"(
domain: messaging
descriptors:
  - { key: to, rate_limit: { unit: day, requests_per_unit: 1000 } }
  - { key: all, rate_limit: { unit: day, requests_per_unit: 100000 } }
)";

TEST_F(AllocationTest, DescriptorsAllocateNothingEither) {
  load(two_descriptors);
  const std::vector<DescriptorEntry> to{{"to", "a-value-that-is-longer-than-sixteen-bytes"}};
  const std::vector<DescriptorEntry> all{{"all", "x"}};
  const std::vector<DescriptorQuery> asks{{to, Cost{1}, {}}, {all, Cost{1}, {}}};
  std::vector<DescriptorStatus> statuses(2);
  ASSERT_TRUE(evaluator_->evaluate("messaging", asks, now_, statuses));
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(evaluator_->evaluate("messaging", asks, now_, statuses));
  EXPECT_EQ(allocations.load() - before, 0U);
}

}  // namespace
}  // namespace weir::engine
