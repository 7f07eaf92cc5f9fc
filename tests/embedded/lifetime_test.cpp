// Reloads, receipts, snapshots and memory of an engine.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/embedded/embedded_fixture.h"
#include "tests/temporary_folder.h"

namespace weir::embedded {
namespace {

std::string burst_of(int burst) {
  return "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: token_bucket, rate: 1/s, burst: " +
         std::to_string(burst) + "}]}";
}

TEST_F(EmbeddedTest, ReloadAppliesNewNumbersToTheUsageAsItStands) {
  load(burst_of(5));
  EXPECT_EQ(passing("/", 4), 4);
  reload(burst_of(10));
  EXPECT_EQ(passing("/", 20), 6);
  reload(burst_of(2));
  EXPECT_FALSE(send("/"));
}

TEST_F(EmbeddedTest, ReloadThatFailsKeepsTheActivePolicy) {
  load(burst_of(5), std::size_t{1} << 20);
  EXPECT_EQ(passing("/", 4), 4);
  std::string many = "version: 1\nlimits:\n";
  for (int i = 0; i < 2'000; ++i) {
    many += "  - { name: l" + std::to_string(i) + ", routes: [/r" + std::to_string(i) +
            "], consumer_key: ip, algorithm: gcra, rate: 1/s }\n";
  }
  const auto refused = engine_->reload(policy_of(many));
  ASSERT_FALSE(refused) << "there is no room for so many tables in a mebibyte";
  EXPECT_FALSE(refused.error().message().empty());
  EXPECT_EQ(passing("/", 4), 1);
}

TEST_F(EmbeddedTest, WhatIsReservedIsSettledOnce) {
  load("{version: 1, limits: [{name: tokens, consumer_key: user, algorithm: fixed_window, rate: 1000/h}]}");
  const Query query{.user = "alice", .cost = Cost{800}};
  const auto left = [&] {
    return engine_->evaluate({.user = "alice", .cost = Cost{0}, .peek = true}).decision.remaining;
  };
  const Engine::Reservation reserved = engine_->reserve(query, 5min);
  ASSERT_TRUE(reserved);
  ASSERT_TRUE(reserved.receipt);
  EXPECT_EQ(reserved.ends, clock_->now() + 5min);
  EXPECT_EQ(left(), 200U);
  EXPECT_FALSE(engine_->reserve(query).receipt) << "a denial has none";
  const Engine::Settlement settled = engine_->settle(reserved.receipt, Cost{120});
  EXPECT_TRUE(settled);
  ASSERT_EQ(settled.limits.size(), 1U);
  EXPECT_EQ(settled.limits[0].limit, "tokens");
  EXPECT_EQ(settled.limits[0].decision.remaining, 880U);
  const Engine::Settlement again = engine_->settle(reserved.receipt, Cost{0});
  EXPECT_FALSE(again);
  EXPECT_EQ(again.limits[0].result, ReceiptResult::ended);
  EXPECT_EQ(left(), 880U);
}

TEST_F(EmbeddedTest, ReserveUnderAnIdIsTheSameOne) {
  load("{version: 1, limits: [{name: tokens, consumer_key: user, algorithm: fixed_window, rate: 1000/h}]}");
  const Query query{.user = "alice", .cost = Cost{300}};
  const auto first = engine_->reserve(query, 5min, "job 7");
  const auto second = engine_->reserve(query, 5min, "job 7");
  EXPECT_EQ(first.receipt, second.receipt);
  EXPECT_TRUE(engine_->extend(second.receipt, 10min));
  EXPECT_TRUE(engine_->release(second.receipt));
  EXPECT_EQ(engine_->evaluate({.user = "alice", .cost = Cost{0}, .peek = true}).decision.remaining, 1000U);
  EXPECT_FALSE(engine_->release(Engine::Receipt()));
}

TEST_F(EmbeddedTest, ReportIsChargedOnceAndNeverDenied) {
  load("{version: 1, limits: [{name: tokens, consumer_key: user, algorithm: fixed_window, rate: 10/h}]}");
  const Query query{.user = "alice", .cost = Cost{8}};
  EXPECT_TRUE(engine_->report(query, "call 1"));
  EXPECT_EQ(engine_->report(query, "call 1").limits[0].result, ReceiptResult::repeated);
  EXPECT_TRUE(engine_->report(query, "call 2"));
  EXPECT_FALSE(engine_->evaluate({.user = "alice", .cost = Cost{1}}));
}

TEST_F(EmbeddedTest, ConcurrentRequestIsHeldUntilItIsReleased) {
  load(R"(
version: 1
limits:
  - { name: running, consumer_key: ip, algorithm: concurrency, limit: 2, lease: 30s }
  - { name: rate, consumer_key: ip, algorithm: fixed_window, rate: 100/min }
)");
  EXPECT_EQ(send("/").reason, Reason::needs_receipt);
  EXPECT_EQ(send("/").status(), 403U);
  const Query query{.ip = "203.0.113.7"};
  const auto first = engine_->hold(query);
  const auto second = engine_->hold(query);
  ASSERT_TRUE(first && second);
  const auto third = engine_->hold(query);
  EXPECT_FALSE(third);
  EXPECT_EQ(third.verdict.limit, "running");
  EXPECT_EQ(fields_of(third.verdict).at("RateLimit-Policy"), R"("running";q=2;qu="concurrent-requests")");
  EXPECT_TRUE(engine_->release(first.receipt));
  EXPECT_TRUE(engine_->hold(query));
  clock_->advance(30s);
  EXPECT_TRUE(engine_->hold(query)) << "a hold that is not released ends with its lease";
  EXPECT_FALSE(engine_->release(second.receipt));
}

TEST_F(EmbeddedTest, ReceiptsAndStatesAreRestored) {
  const TemporaryFolder folder;
  load("{version: 1, limits: [{name: tokens, consumer_key: ip, algorithm: fixed_window, rate: 10/h}]}");
  const auto reserved = engine_->reserve({.ip = "203.0.113.7", .cost = Cost{6}}, 5min);
  ASSERT_TRUE(engine_->save(folder.path()));
  engine_.reset();
  const Policy policy =
      policy_of("{version: 1, limits: [{name: tokens, consumer_key: ip, algorithm: fixed_window, rate: 10/h}]}");
  auto restored = Engine::restore(policy, folder.path(), {.clock = clock_});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_TRUE(restored->problems.empty());
  EXPECT_EQ(restored->engine.evaluate({.ip = "203.0.113.7"}).decision.remaining, 3U);
  EXPECT_TRUE(restored->engine.settle(reserved.receipt, Cost{1}));
  EXPECT_EQ(restored->engine.evaluate({.ip = "203.0.113.7"}).decision.remaining, 7U);
}

TEST_F(EmbeddedTest, DamagedSnapshotIsReportedAndTheLimitStartsEmpty) {
  const TemporaryFolder folder;
  load(burst_of(5));
  EXPECT_EQ(passing("/", 5), 5);
  ASSERT_TRUE(engine_->save(folder.path()));
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.is_regular_file()) std::filesystem::resize_file(file, file.file_size() / 2);
  }
  auto restored = Engine::restore(policy_of(burst_of(5)), folder.path(), {.clock = clock_});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_FALSE(restored->problems.empty());
  EXPECT_TRUE(restored->engine.evaluate({.ip = "203.0.113.7"}));
}

TEST_F(EmbeddedTest, MemoryStaysWithinTheBudgetAndEveryConsumerIsLimited) {
  constexpr std::size_t budget = std::size_t{1} << 20;
  load("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: fixed_window, rate: 3/h}]}", budget);
  EXPECT_EQ(passing("/", 5), 3);
  for (int i = 0; i < 100'000; ++i) {
    const std::string ip =
        "10." + std::to_string(i >> 16) + "." + std::to_string(i >> 8 & 255) + "." + std::to_string(i & 255);
    (void)send("/", ip).admitted;
  }
  EXPECT_LE(engine_->usage().bytes, budget);
  EXPECT_GT(engine_->usage().overflowed, 0U);
  EXPECT_FALSE(send("/")) << "a known consumer is not forgotten in a flood";
  const auto too_small = Engine::create(policy_of(burst_of(5)), {.memory_budget = 10, .clock = clock_});
  EXPECT_FALSE(too_small);
}

TEST_F(EmbeddedTest, CountsAreByLimitAndRouteOverReloads) {
  constexpr auto policy = R"(
version: 1
limits:
  - { name: live, routes: [/x], consumer_key: ip, algorithm: fixed_window, rate: 2/h }
  - { name: tried, routes: [/x], consumer_key: ip, algorithm: fixed_window, rate: 1/h, mode: shadow }
)";
  load(policy);
  EXPECT_EQ(passing("/x", 2), 2);
  reload(policy);
  EXPECT_EQ(passing("/x", 2), 0);
  const auto counts = engine_->counts();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].limit, "live");
  EXPECT_EQ(counts[0].route, "/x");
  EXPECT_EQ(counts[0].admitted, 2U);
  EXPECT_EQ(counts[0].denied, 2U);
  EXPECT_EQ(counts[1].limit, "tried");
  EXPECT_EQ(counts[1].admitted, 1U);
  EXPECT_EQ(counts[1].would_deny, 3U);
}

TEST_F(EmbeddedTest, EngineMovesWithItsStates) {
  load(burst_of(2));
  EXPECT_EQ(passing("/", 2), 2);
  Engine moved = std::move(*engine_);
  EXPECT_FALSE(moved.evaluate({.ip = "203.0.113.7"}));
}

}  // namespace
}  // namespace weir::embedded
