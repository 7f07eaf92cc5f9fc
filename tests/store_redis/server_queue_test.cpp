// A queue through its store: failures of the server, and the answers of the groups.
#include "store/redis/server_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "store/redis/redis_store.h"
#include "tests/core/uneven_calendar.h"
#include "tests/redis_process.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;

const core::Rule& rule() {
  static const core::Rule plenty = slow_rule(1'000'000);
  return plenty;
}

// Submits until a group is decided; false after a timeout.
bool recovers(StoreVisitor& visitor) {
  return eventually([&] { return visitor.admits(alice, rule()); });
}

bool opens(StoreVisitor& visitor) {
  return eventually([&] {
    static_cast<void>(visitor.failure_of(alice, rule()));
    return visitor.counts().breaker() != BreakerState::closed;
  });
}

TEST(ServerQueue, WithoutAServerItSaysSoAtOnceAndKeepsTrying) {
  RedisProcess server;
  server.kill();
  StoreVisitor visitor(options_for(server.endpoint()));
  EXPECT_TRUE(visitor.submit(alice, rule()).turned_away);
  ASSERT_TRUE(eventually([&] { return visitor.errors(StoreError::unreachable) >= 2; }));
  EXPECT_TRUE(visitor.submit(alice, rule()).turned_away);
  EXPECT_NE(visitor.counts().unavailable_since.value(), 0);
  EXPECT_EQ(visitor.log().size(), 1U) << "one line, however often it is tried";
  server.start();
  ASSERT_TRUE(visitor.is_connected());
  EXPECT_TRUE(visitor.admits(alice, rule()));
  EXPECT_EQ(visitor.counts().unavailable_since.value(), 0);
}

TEST(ServerQueue, AKilledServerIsUnavailableAtOnceAndRecovers) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  ASSERT_TRUE(visitor.admits(alice, rule()));
  server.kill();
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 0; }));
  EXPECT_TRUE(visitor.submit(alice, rule()).turned_away);
  EXPECT_EQ(visitor.errors(StoreError::lost), 1U);
  EXPECT_EQ(visitor.counts().opened.value(), 1U);
  server.start();
  ASSERT_TRUE(visitor.is_connected()) << "without any request";
  EXPECT_EQ(visitor.counts().closed.value(), 2U);
  const auto& fresh = visitor.submit(alice, rule());
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(fresh.checks.at(0).decision.remaining, 999'999U) << "it has started empty";
}

TEST(ServerQueue, WhatIsAtAServerThatIsKilledIsLost) {
  RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  server.pause();
  const auto& sent = visitor.submit(alice, rule());
  ASSERT_TRUE(eventually([&] { return visitor.counts().batches.value() == 1; }));
  const auto& unsent = visitor.submit(alice, rule());
  server.kill();
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(sent.failure, Failure::lost);
  EXPECT_EQ(unsent.failure, Failure::unavailable);
}

TEST(ServerQueue, NoGroupWaitsLongerThanTheTimeoutForAPausedServer) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  ASSERT_TRUE(visitor.admits(alice, rule()));
  server.pause();
  const auto& sent = visitor.submit(alice, rule());
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(sent.failure, Failure::timeout);
  EXPECT_GE(sent.took, 10ms);
  EXPECT_LT(sent.took, 1s) << "the budget, and what a loaded machine adds";
  EXPECT_TRUE(opens(visitor));
  server.resume();
  EXPECT_TRUE(recovers(visitor));
  EXPECT_GE(visitor.counts().late_answers.value() + visitor.errors(StoreError::lost), 1U);
  EXPECT_GE(visitor.errors(StoreError::timeout), 5U);
}

TEST(ServerQueue, ASilentServerIsReconnected) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  server.pause();
  ASSERT_TRUE(opens(visitor));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 0; })) << "after a second";
  server.resume();
  EXPECT_TRUE(recovers(visitor));
}

TEST(ServerQueue, AWrongPasswordIsReported) {
  RedisProcess server({"--requirepass", "right"});
  RedisOptions options = options_for(server.endpoint());
  options.password = "wrong";
  StoreVisitor visitor(options);
  ASSERT_TRUE(eventually([&] { return visitor.errors(StoreError::credentials) >= 1; }));
  EXPECT_TRUE(visitor.submit(alice, rule()).turned_away);
  ASSERT_EQ(visitor.log().size(), 1U);
  EXPECT_NE(visitor.log()[0].find("WRONGPASS"), std::string::npos);
  EXPECT_EQ(visitor.log()[0].find("right"), std::string::npos);
}

TEST(ServerQueue, AServerThatBecomesAReplicaOpensTheBreaker) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  ASSERT_EQ(server.ask({"REPLICAOF", "127.0.0.1", "1"}), "OK");
  EXPECT_EQ(visitor.failure_of(alice, rule()), Failure::refused);
  EXPECT_TRUE(opens(visitor));
  EXPECT_GE(visitor.errors(StoreError::read_only), 5U);
  ASSERT_EQ(server.ask({"REPLICAOF", "NO", "ONE"}), "OK");
  EXPECT_TRUE(recovers(visitor));
}

TEST(ServerQueue, AServerWithoutMemoryRejectsWrites) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "1"}), "OK");
  EXPECT_EQ(visitor.failure_of(alice, rule()), Failure::refused);
  EXPECT_EQ(visitor.errors(StoreError::out_of_memory), 1U);
  EXPECT_EQ(visitor.counts().last_error.get().text.find(server.endpoint().text() + " OOM"), 0U);
  ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "0"}), "OK");
  EXPECT_TRUE(recovers(visitor));
}

TEST(ServerQueue, AForeignValueIsRejectedAndTheRestContinues) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  ASSERT_EQ(server.ask({"RPUSH", alice, "not a state"}), "1");
  EXPECT_EQ(visitor.failure_of(alice, rule()), Failure::refused);
  EXPECT_TRUE(visitor.admits("weir:{api:bob}:gcra", rule()));
}

TEST(ServerQueue, AForeignValueDoesNotAffectTheRestOfItsBatch) {
  const std::string bob = "weir:{api:bob}:gcra";
  RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  for (const bool of_another_type : {false, true}) {
    server.ask({"DEL", alice});
    of_another_type ? server.ask({"RPUSH", alice, "x"}) : server.ask({"SET", alice, "not a state"});
    for (int i = 0; i < 6; ++i) {
      const StoreVisitor::Question* alices = nullptr;
      const StoreVisitor::Question* bobs = nullptr;
      visitor.in_one_turn([&] {
        alices = &visitor.submit(alice, rule());
        bobs = &visitor.submit(bob, rule());
      });
      ASSERT_TRUE(visitor.all_answered());
      EXPECT_EQ(alices->failure, Failure::refused);
      EXPECT_TRUE(bobs->admitted);
    }
  }
  const auto& last = visitor.submit(bob, rule());
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(last.checks.at(0).decision.remaining, 1'000'000U - 13) << "each is charged once";
  EXPECT_EQ(visitor.errors(StoreError::refused), 24U) << "of the batch, and of the ask";
  EXPECT_EQ(visitor.counts().opened.value(), 0U);
}

TEST(ServerQueue, AGroupDoesNotWaitForALateAnswer) {
  RedisProcess server;
  RedisOptions options = options_for(server.endpoint());
  options.timeout = 2s;
  StoreVisitor visitor(options);
  ASSERT_TRUE(visitor.is_connected());
  server.pause();
  visitor.submit(alice, rule());
  ASSERT_TRUE(eventually([&] { return visitor.counts().batches.value() == 1; }));
  visitor.submit(alice, rule());
  EXPECT_TRUE(eventually([&] { return visitor.counts().batches.value() == 2; })) << "without a later request";
  EXPECT_EQ(visitor.errors(StoreError::timeout), 0U);
  server.resume();
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 2U);
}

TEST(ServerQueue, NoGroupWaitsAtAnOpenBreaker) {
  RedisProcess server;
  RedisOptions options = options_for(server.endpoint());
  options.breaker.min_wait = options.breaker.max_wait = 1h;
  StoreVisitor visitor(options);
  ASSERT_TRUE(visitor.is_connected());
  server.kill();
  ASSERT_TRUE(eventually([&] { return visitor.counts().breaker() == BreakerState::open; }));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(visitor.submit(alice, rule()).turned_away);
  EXPECT_EQ(visitor.counts().turned_away.value(), 1000U);
}

TEST(ServerQueue, LinesAreWrittenAtTransitionsOnly) {
  RedisProcess server;
  StoreVisitor visitor(options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  server.kill();
  ASSERT_TRUE(eventually([&] { return visitor.errors(StoreError::unreachable) >= 3; }));
  server.start();
  ASSERT_TRUE(visitor.is_connected());
  const auto log = visitor.log();
  ASSERT_EQ(log.size(), 3U);
  const std::string name = "store: " + server.endpoint().text();
  EXPECT_EQ(log[0], name + " is available");
  EXPECT_EQ(log[1].find("store: unavailable: " + server.endpoint().text()), 0U) << log[1];
  EXPECT_NE(log[1].find("each limit's on_store_failure applies until it is available"), std::string::npos);
  EXPECT_EQ(log[2], name + " is available");
}

// A node whose clock is far off sends windows of another time: a store failure for that limit alone.
TEST(ServerQueue, WindowsOfAnotherTimeAreRejectedAndOthersAreDecided) {
  const RedisProcess server;
  StoreVisitor visitor(patient_options_for(server.endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  const core::UnevenCalendar calendar(std::chrono::hours(24), 1);
  const core::Rule billed = core::compile(*Limit::fixed_window(3, calendar));
  const core::Rule rule = slow_rule(3);
  visitor.in_one_turn([&] {
    visitor.submit("weir:{billed:alice}:fwday", billed);  // by a clock that stands at 1970
    visitor.submit(alice, rule);
  });
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.questions()[0].failure, Failure::refused);
  EXPECT_EQ(visitor.questions()[1].failure, Failure::none);
  EXPECT_TRUE(visitor.questions()[1].admitted);
  EXPECT_EQ(visitor.counts().breaker(), BreakerState::closed);
}

}  // namespace
}  // namespace weir::store::redis
