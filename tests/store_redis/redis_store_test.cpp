#include "store/redis/redis_store.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/redis_process.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

std::string key(int number) {
  return "weir:{api:user-" + std::to_string(number) + "}:gcra";
}

TEST(RedisStore, AdmitsTheBurstAndNotOneMore) {
  const RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(3);
  EXPECT_TRUE(visitor.admits(key(1), rule));
  EXPECT_TRUE(visitor.admits(key(1), rule, 2));
  EXPECT_FALSE(visitor.admits(key(1), rule));
  EXPECT_TRUE(visitor.admits(key(2), rule)) << "another consumer";
}

TEST(RedisStore, AsksOfOneTurnLeaveAsOneBatch) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(3);
  visitor.in_one_turn([&] {
    for (int i = 0; i < 10; ++i) visitor.submit(key(i), rule);
  });
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 10U);
  EXPECT_EQ(visitor.counts().batches.value(), 1U);
  EXPECT_EQ(visitor.counts().evaluations.value(), 10U);
  base::Histogram<batch_size_scale>::Totals sizes;
  visitor.counts().batch_size.add_to(sizes);
  EXPECT_EQ(sizes.sum, 10U);
}

TEST(RedisStore, EqualAsksAreOneEvaluationAndEachHasItsOwnNumbers) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(7);
  visitor.in_one_turn([&] {
    for (int i = 0; i < 10; ++i) visitor.submit(key(1), rule);
  });
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.counts().evaluations.value(), 1U);
  for (std::size_t i = 0; i < 10; ++i) {
    const auto& question = visitor.questions()[i];
    EXPECT_EQ(question.admitted, i < 7) << i;
    EXPECT_EQ(question.checks[0].decision.remaining, i < 7 ? 6 - i : 0U) << i;
  }
}

TEST(RedisStore, WhileABatchIsInFlightTheNextCollects) {
  RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(100);
  server.pause();
  visitor.submit(key(0), rule);
  ASSERT_TRUE(eventually([&] { return visitor.counts().batches.value() == 1; }));
  for (int i = 1; i <= 20; ++i) visitor.submit(key(i), rule);  // one turn each
  server.resume();
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 21U);
  EXPECT_EQ(visitor.counts().batches.value(), 2U);
}

TEST(RedisStore, ALargeBatchDoesNotWaitForTheOneThatIsOut) {
  RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(100);
  server.pause();
  visitor.submit(key(0), rule);
  ASSERT_TRUE(eventually([&] { return visitor.counts().batches.value() == 1; }));
  visitor.in_one_turn([&] {
    for (int i = 1; i <= 64; ++i) visitor.submit(key(i), rule);
  });
  EXPECT_TRUE(eventually([&] { return visitor.counts().batches.value() == 2; }));
  server.resume();
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 65U);
}

TEST(RedisStore, SeveralLimitsAreAllOrNothing) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule wide = slow_rule(10);
  const core::Rule narrow = slow_rule(1);
  const auto both = [&] { return std::vector<store::Check>{check_of(key(1), wide), check_of(key(2), narrow)}; };
  visitor.submit(both());
  const auto& denied = visitor.submit(both());
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 1U);
  EXPECT_EQ(denied.checks[0].decision.remaining, 9U);
  EXPECT_FALSE(denied.checks[1].decision.admitted);
}

TEST(RedisStore, LooksSettlesAndForgets) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(5);
  const auto& charged = visitor.submit(key(1), rule, 4);
  ASSERT_TRUE(visitor.all_answered());
  const auto left = [&] {
    const auto& look = visitor.submit({check_of(key(1), rule, 0)}, store::Operation::look);
    EXPECT_TRUE(visitor.all_answered());
    return look.checks.at(0).decision.remaining;
  };
  EXPECT_EQ(left(), 1U);
  visitor.settle(key(1), rule,
                 {.reserved = Cost{4}, .actual = Cost{1}, .charged = core::charged_by(charged.checks[0].decision)});
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(left(), 4U);
  visitor.submit({check_of(key(1), rule)}, store::Operation::forget);
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(left(), 5U);
}

TEST(RedisStore, AFlushedScriptIsLoadedAgainQuietly) {
  const RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(10);
  ASSERT_EQ(server.ask({"SCRIPT", "FLUSH"}), "OK");
  EXPECT_TRUE(visitor.admits(key(1), rule));
  EXPECT_TRUE(visitor.admits(key(1), rule));
  EXPECT_EQ(visitor.counts().sent_again.value(), 1U);
  EXPECT_EQ(visitor.all_errors(), 0U);
  EXPECT_EQ(visitor.counts().opened.value(), 0U);
}

TEST(RedisStore, AGroupSubmittedFromACallbackIsAnswered) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(1000);
  int left = 100;
  visitor.when_answered = [&](StoreVisitor::Question&) {
    if (left-- > 0) visitor.submit(key(1), rule);
  };
  visitor.submit(key(1), rule);
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 101U);
}

TEST(RedisStore, WhatIsOutWhenItEndsIsAnswered) {
  RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(10);
  server.pause();
  const auto& sent = visitor.submit(key(1), rule);
  ASSERT_TRUE(eventually([&] { return visitor.counts().batches.value() == 1; }));
  const auto& unsent = visitor.submit(key(2), rule);
  visitor.destroy();
  server.resume();
  EXPECT_TRUE(sent.answered);
  EXPECT_EQ(sent.failure, Failure::lost);
  EXPECT_TRUE(unsent.answered);
  EXPECT_EQ(unsent.failure, Failure::unavailable);
}

TEST(RedisStore, KnowsTheClockOfTheServer) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::Rule rule = slow_rule(10);
  // One answer may measure exactly 0 us.
  bool is_measured = false;
  for (int i = 1; i <= 100 && !is_measured; ++i) {
    ASSERT_TRUE(visitor.admits(key(i), rule));
    is_measured = visitor.counts().clock_offset.value() != 0;
  }
  EXPECT_TRUE(is_measured);
  EXPECT_LT(std::abs(visitor.counts().clock_offset.value()), 1'000'000);
}

TEST(RedisStore, SaysThatAServerMayEvict) {
  const RedisProcess server({"--maxmemory-policy", "allkeys-lru"});
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  EXPECT_EQ(visitor.counts().evicting.value(), 1);
  ASSERT_EQ(visitor.log().size(), 2U);
  EXPECT_EQ(visitor.log()[0], "store: " + server.endpoint().text() + " is available");
  EXPECT_EQ(visitor.log()[1], "store: " + server.endpoint().text() +
                                  " may evict keys, which resets limits; set its maxmemory-policy to noeviction");
}

TEST(RedisStore, SeveralServersWithoutAClusterAreRejected) {
  const RedisProcess one;
  const RedisProcess other;
  RedisOptions options = options_for(one.endpoint());
  options.servers.push_back(other.endpoint());
  StoreVisitor visitor(options);
  ASSERT_TRUE(eventually([&] { return !visitor.log().empty(); }));
  EXPECT_NE(visitor.log()[0].find("is not part of a cluster; configure one url, or those of one cluster"),
            std::string::npos);
  const core::Rule rule = slow_rule(10);
  EXPECT_EQ(visitor.failure_of(key(1), rule), Failure::unavailable);
}

}  // namespace
}  // namespace weir::store::redis
