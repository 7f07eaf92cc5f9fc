// Evaluation allocates nothing in the steady state. If an allocation fails, nothing is thrown and no request is
// admitted because of it.
#include "tests/allocations.h"
#include "tests/embedded/embedded_fixture.h"

namespace weir::embedded {
namespace {

constexpr auto three_limits = R"(
version: 1
limits:
  - name: user
    routes: ["/api/v1/{id}/items"]
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 1000/s
    burst: 100
    candidate: { algorithm: sliding_window_counter }
  - { name: address, consumer_key: ip+route, algorithm: sliding_window_counter, rate: 100000/min }
  - { name: a-limit-with-a-name-of-more-than-fifteen-letters, consumer_key: ip, algorithm: gcra, rate: 1000/s }
)";

const Query long_query{.path = "/api/v1/4711/items?page=2", .ip = "203.0.113.9", .user = "somebody@example.org"};

TEST_F(EmbeddedTest, JudgingAndWritingFieldsAllocatesNothing) {
  load(three_limits);
  const auto evaluate_many = [&] {
    std::size_t written = 0;
    for (int i = 0; i < 100; ++i) {
      clock_->advance(10ms);
      const Verdict verdict = engine_->evaluate(long_query);
      written += verdict ? verdict.fields().size() : 0;
    }
    return written;
  };
  ASSERT_EQ(evaluate_many(), 500U);
  const std::uint64_t before = allocations.load();
  EXPECT_EQ(evaluate_many(), 500U);
  EXPECT_EQ(allocations.load() - before, 0U);
}

TEST_F(EmbeddedTest, BatchesAllocateNothingEither) {
  load(three_limits);
  const std::vector<Query> queries(200, long_query);
  std::vector<Verdict> verdicts(queries.size());
  engine_->evaluate(queries, verdicts);
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 10; ++i) engine_->evaluate(queries, verdicts);
  EXPECT_EQ(allocations.load() - before, 0U);
}

// Fails each allocation of a call in turn, until none is left.
TEST_F(EmbeddedTest, OutOfMemoryIsADenialAndTheNextCallIsEvaluated) {
  const Policy policy = policy_of(three_limits);
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 0; nth < 10'000; ++nth) {
    auto engine = *Engine::create(policy, {.memory_budget = std::size_t{1} << 20, .clock = clock_});
    fail_in = nth;
    const Verdict verdict = engine.evaluate(long_query);
    const bool all_were_there = fail_in.exchange(no_failure) != no_failure;
    if (all_were_there) {
      EXPECT_TRUE(verdict);
      EXPECT_GT(failed, 10U);
      return;
    }
    ++failed;
    EXPECT_FALSE(verdict) << nth;
    EXPECT_EQ(verdict.reason, Reason::no_memory) << nth;
    EXPECT_EQ(verdict.status(), 503U);
    EXPECT_TRUE(engine.evaluate(long_query)) << nth;
  }
  FAIL() << "a call has fewer allocations";
}

TEST_F(EmbeddedTest, OutOfMemoryWhileReadingAPolicyIsAnError) {
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 0; nth < 100'000; nth += 1 + nth / 20) {
    failed_without_throwing = false;
    fail_in = nth;
    const auto policy = Policy::parse(three_limits);
    if (fail_in.exchange(no_failure) != no_failure) {
      EXPECT_TRUE(policy);
      EXPECT_GT(failed, 10U);
      return;
    }
    ++failed;
    EXPECT_TRUE(!policy || failed_without_throwing) << nth;
  }
  FAIL() << "a policy has fewer allocations";
}

}  // namespace
}  // namespace weir::embedded
