#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "store/redis/redis_store.h"
#include "tests/redis_process.h"
#include "tests/store_redis/redis_cluster.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::store::redis {
namespace {

std::string user(int number) {
  return "weir:{api:user-" + std::to_string(number) + "}:gcra";
}

class RedisClusterStore : public testing::Test {
 protected:
  // Shared by all tests: it takes seconds to start. Each test uses its own keys.
  static void SetUpTestSuite() { cluster = new RedisCluster; }
  static void TearDownTestSuite() {
    delete cluster;
    cluster = nullptr;
  }

  // A key of the i-th server.
  static std::string key_of(std::size_t server) {
    for (;; ++next) {
      if (cluster->master_of(user(next)) == server) return user(next++);
    }
  }

  static inline RedisCluster* cluster = nullptr;
  static inline int next = 0;
};

TEST_F(RedisClusterStore, FindsTheOtherMastersFromOne) {
  StoreVisitor visitor(options_for((*cluster)[1].endpoint()));
  ASSERT_TRUE(visitor.is_connected());
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = slow_rule(1);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string key = key_of(i);
    EXPECT_TRUE(visitor.admits(key, rule));
    EXPECT_FALSE(visitor.admits(key, rule));
    EXPECT_EQ((*cluster)[i].ask({"EXISTS", key}), "1");
  }
  EXPECT_EQ(visitor.all_errors(), 0U);
  EXPECT_EQ(visitor.counts().sent_again.value(), 0U);
}

TEST_F(RedisClusterStore, ASeedThatIsDownIsPassedOver) {
  RedisProcess gone;
  gone.kill();
  RedisOptions options = options_for(gone.endpoint());
  options.servers.push_back((*cluster)[0].endpoint());
  StoreVisitor visitor(options);
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() >= 3; }));
  const core::Rule rule = slow_rule(1);
  EXPECT_TRUE(eventually([&] { return visitor.admits(key_of(2), rule); }));
}

TEST_F(RedisClusterStore, AsksOfManySlotsLeaveInOneBatchForEachServer) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = slow_rule(1);
  visitor.in_one_turn([&] {
    for (std::size_t i = 0; i < 30; ++i) visitor.submit(key_of(i % 3), rule);
  });
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 30U);
  EXPECT_EQ(visitor.counts().batches.value(), 3U);
}

TEST_F(RedisClusterStore, KeysOfSeveralServersAreAllOrNothing) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule mine = slow_rule(3);
  const core::Rule everyones = slow_rule(5);
  const std::string global = key_of(2);
  const std::string alice = key_of(0);
  const std::string bob = key_of(1);
  const auto both = [&](const std::string& who) {
    return std::vector<store::Check>{check_of(who, mine), check_of(global, everyones)};
  };
  visitor.in_one_turn([&] {
    for (int i = 0; i < 10; ++i) visitor.submit(both(alice));
  });
  ASSERT_TRUE(visitor.all_answered());
  const std::size_t admitted = visitor.admitted();
  EXPECT_EQ(admitted, 3U);
  EXPECT_TRUE(eventually([&] {
    const auto& look = visitor.submit({check_of(global, everyones, 0)}, store::Operation::look);
    return visitor.all_answered() && look.checks.at(0).decision.remaining == 5 - admitted;
  })) << "what was charged for nothing is given back";
  EXPECT_GE(visitor.counts().refunds.value(), 1U);
  EXPECT_EQ(visitor.counts().lost_refunds.value(), 0U);

  const auto& denied = visitor.submit({check_of(bob, mine), check_of(global, everyones, 6)});
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_FALSE(denied.admitted);
  ASSERT_TRUE(denied.decided);
  EXPECT_TRUE(denied.checks[0].decision.admitted);
  EXPECT_EQ(denied.checks[0].decision.remaining, 3U) << "uncharged";
  EXPECT_FALSE(denied.checks[1].decision.admitted);
  EXPECT_EQ(denied.checks[0].key, bob) << "the checks are back in their places";
  EXPECT_EQ(denied.checks[1].key, global);
}

TEST_F(RedisClusterStore, TheReceiptsOfALogLieInItsSlot) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = core::compile(*Limit::sliding_window_log({10, std::chrono::hours(1)}));
  const core::Rule full = slow_rule(1);
  const std::string log = key_of(1);
  const auto has_receipts = [&] { return (*cluster)[1].ask({"EXISTS", log + ":r"}) == "1"; };
  core::ReceiptUse use{.id = {0, 1}, .lasts = std::chrono::minutes(1), .actual = Cost{1}};
  store::Check check = check_of(log, rule, 4);
  check.receipt = &use;
  visitor.submit({check});
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_TRUE(has_receipts());
  const auto& settled = visitor.submit({check}, store::Operation::settle);
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_EQ(settled.checks[0].decision.remaining, 9U);
  EXPECT_FALSE(has_receipts());

  const auto& denied = visitor.submit({check, check_of(key_of(2), full, 2)});
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_FALSE(denied.admitted);
  EXPECT_TRUE(eventually([&] {
    const auto& look = visitor.submit({check_of(log, rule, 0)}, store::Operation::look);
    return visitor.all_answered() && look.checks.at(0).decision.remaining == 9 && !has_receipts();
  })) << "what was reserved for nothing is released by its receipt";
}

TEST_F(RedisClusterStore, AGlobalLimitIsNeverExceededAcrossServers) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule mine = slow_rule(2);
  const core::Rule everyones = slow_rule(20);
  const std::string global = key_of(1);
  std::vector<std::string> users;
  for (std::size_t i = 0; i < 15; ++i) users.push_back(key_of(i % 3));
  for (int round = 0; round < 20; ++round) {
    visitor.in_one_turn([&] {
      for (const std::string& who : users) {
        visitor.submit({check_of(who, mine), check_of(global, everyones)});
      }
    });
  }
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_LE(visitor.admitted(), 20U);
  // When all refunds are done, the rest of the limit is available: nothing was lost.
  ASSERT_TRUE(eventually([&] {
    for (const std::string& who : users) visitor.submit({check_of(who, mine), check_of(global, everyones)});
    return visitor.all_answered() && visitor.admitted() >= 20;
  }));
  EXPECT_EQ(visitor.admitted(), 20U);
}

TEST_F(RedisClusterStore, AMovedSlotIsFollowedWithItsState) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = slow_rule(2);
  const std::string key = key_of(0);
  ASSERT_TRUE(visitor.admits(key, rule));
  cluster->begin_move(key, 1);
  cluster->move_key(key, 1);
  cluster->end_move(key, 1);
  EXPECT_TRUE(visitor.admits(key, rule));
  EXPECT_FALSE(visitor.admits(key, rule));
  EXPECT_EQ(visitor.counts().sent_again.value(), 1U) << "then the way is known";
  EXPECT_EQ(visitor.counts().opened.value(), 0U);
}

TEST_F(RedisClusterStore, WhileASlotMovesItsKeysAreFoundOnEitherSide) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = slow_rule(2);
  const std::string tag = key_of(2);
  const std::string moved = tag + ":moved";
  const std::string staying = tag + ":staying";
  const std::string fresh = tag + ":fresh";
  ASSERT_TRUE(visitor.admits(moved, rule));
  ASSERT_TRUE(visitor.admits(staying, rule));
  cluster->begin_move(tag, 0);
  cluster->move_key(moved, 0);
  visitor.in_one_turn([&] {
    for (const std::string& key : {moved, staying, fresh}) visitor.submit(key, rule);
  });
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 5U);
  EXPECT_FALSE(visitor.admits(moved, rule)) << "its first charge has moved with it";
  EXPECT_FALSE(visitor.admits(staying, rule));
  EXPECT_TRUE(visitor.admits(fresh, rule));
  EXPECT_FALSE(visitor.admits(fresh, rule));
  cluster->move_key(staying, 0);
  cluster->end_move(tag, 0);
  EXPECT_FALSE(visitor.admits(staying, rule));
  EXPECT_EQ(visitor.counts().opened.value(), 0U);
}

TEST_F(RedisClusterStore, SlotsThatMoveUnderLoadCostNothingAndGrantNothing) {
  StoreVisitor visitor(patient_options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = slow_rule(100);
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(key_of(1));
  int rounds = 0;
  bool moving = true;
  visitor.when_answered = [&](StoreVisitor::Question& question) {
    if (moving || rounds < 100 * 20 * 3) {
      ++rounds;
      visitor.submit(std::string(question.checks[0].key), rule);
    }
  };
  visitor.in_one_turn([&] {
    for (const std::string& key : keys) {
      for (int i = 0; i < 3; ++i) visitor.submit(key, rule);
    }
  });
  ASSERT_TRUE(eventually([&] {
    int answered = 0;
    visitor.on_loop([&] { answered = rounds; });
    return answered >= 20 * 3;
  })) << "all keys are there";
  for (const std::string& key : keys) {
    cluster->begin_move(key, 2);
    cluster->move_key(key, 2);
    cluster->end_move(key, 2);
  }
  visitor.on_loop([&] { moving = false; });
  ASSERT_TRUE(visitor.all_answered());
  EXPECT_EQ(visitor.admitted(), 20U * 100U);
  EXPECT_EQ(visitor.counts().opened.value(), 0U);
  EXPECT_GT(visitor.counts().sent_again.value(), 0U);
}

TEST_F(RedisClusterStore, APausedMasterAffectsOnlyItsOwnSlots) {
  StoreVisitor visitor(options_for((*cluster)[0].endpoint()));
  ASSERT_TRUE(eventually([&] { return visitor.counts().connected.value() == 3; }));
  const core::Rule rule = slow_rule(1'000'000);
  const std::string lost = key_of(2);
  const std::string kept = key_of(0);
  ASSERT_TRUE(eventually([&] { return visitor.admits(lost, rule) && visitor.admits(kept, rule); }));
  (*cluster)[2].pause();
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(visitor.failure_of(lost, rule));
    return visitor.counts().breaker() != BreakerState::closed;
  }));
  EXPECT_TRUE(visitor.admits(kept, rule));
  EXPECT_TRUE(visitor.submit({check_of(lost, rule), check_of(kept, rule)}).turned_away);
  (*cluster)[2].resume();
  EXPECT_TRUE(eventually([&] { return visitor.admits(lost, rule); }));
}

}  // namespace
}  // namespace weir::store::redis
