// Approximate limits on several nodes, with an in-memory store that can be slow or unavailable, on test clocks.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/leased/leased_store.h"
#include "store/shared/shared_terms.h"
#include "tests/store/memory_store.h"
#include "weir/limit.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;

constexpr Duration sync = 100ms;

class ApproximateNode final : public Callback {
 public:
  ApproximateNode(MemoryStore& shared, const Limit& limit, std::uint64_t id, std::uint32_t nodes)
      : shared_(shared), holder_(std::make_shared<SliceHolder>(id)), store_(shared, [this] { return ticks(); }) {
    holder_->nodes.store(nodes);
    table_ = std::make_shared<SliceTable>(SliceTable::Options{.rule = core::compile(limit),
                                                              .capacity = limit.capacity(),
                                                              .approximate = {{limit, sync}},
                                                              .max_unleased = 0,
                                                              .max_keys = 16,
                                                              .holder = holder_});
    states_.rule = table_->rule();
    terms_.slices = table_.get();
    states_.shared = &terms_;
    exact_.rule = core::compile(limit);
  }

  void answered(Group& group) override {
    ++answers;
    last = group;
  }

  // Asks the approximate limit and, if `beside` is set, a second, exact one in the same group.
  bool ask(std::uint64_t cost = 1, std::uint64_t beside = 0) {
    Group& group = *groups_.emplace_back(std::make_unique<Group>());
    group.callback = this;
    group.checks.push_back(check(states_, "k", cost));
    if (beside > 0) group.checks.push_back(check(exact_, "exact", beside));
    store_.submit(group);
    return last.admitted;
  }
  std::uint64_t admitted_of(std::uint64_t requests) {
    std::uint64_t admitted = 0;
    on_share = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
      if (!ask()) continue;
      ++admitted;
      if (path() == Path::share) ++on_share;
    }
    return admitted;
  }

  std::uint64_t exactly_admitted_of(std::uint64_t requests) {
    Group group;
    group.callback = this;
    group.checks.push_back(check(exact_, "k", 1));
    std::uint64_t admitted = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
      store_.submit(group);
      admitted += group.admitted ? 1U : 0U;
    }
    return admitted;
  }

  [[nodiscard]] Path path() const { return last.checks[0].path; }
  [[nodiscard]] SliceTable::Ticks ticks() const { return shared_.now.time_since_epoch().count() - 1'000'000'000; }
  [[nodiscard]] SliceCounts& counts() { return holder_->counts; }
  SliceHolder& holder() { return *holder_; }
  SliceTable& table() { return *table_; }
  void tick() { store_.tick(); }

  static constexpr table::KeyHash key{0x1234'5678'9abc'def0U};
  Group last;
  std::size_t answers = 0;
  std::uint64_t on_share = 0;  // units of the last admission that the share covered

 private:
  static Check check(const States& states, std::string name, std::uint64_t cost) {
    Check check = check_of(std::move(name), states.rule, cost);
    check.states = &states;
    check.hash = key;
    return check;
  }

  MemoryStore& shared_;
  std::shared_ptr<SliceHolder> holder_;
  LeasedStore store_;
  std::shared_ptr<SliceTable> table_;
  SharedTerms terms_;
  States states_;
  States exact_;
  std::vector<std::unique_ptr<Group>> groups_;
};

// Nodes that share a limit, ticked as time passes.
struct ApproximateNodes {
  ApproximateNodes(const Limit& limit, std::uint32_t count) {
    for (std::uint32_t id = 1; id <= count; ++id)
      nodes.push_back(std::make_unique<ApproximateNode>(shared, limit, id << 8, count));
  }
  void pass(Duration time) {
    constexpr Duration step = 5ms;
    for (; time > Duration::zero(); time -= step) {
      shared.now += std::min(step, time);
      for (auto& node : nodes) node->tick();
    }
  }
  // The number of units that one node admits if it keeps asking until it is denied for a long time.
  std::uint64_t spend_all(std::size_t node) {
    std::uint64_t admitted = 0;
    for (int round = 0; round < 40; ++round) {
      admitted += nodes[node]->admitted_of(200);
      pass(sync / 8);
    }
    return admitted;
  }
  ApproximateNode& operator[](std::size_t i) { return *nodes[i]; }

  MemoryStore shared;
  std::vector<std::unique_ptr<ApproximateNode>> nodes;
};

std::vector<Limit> each_algorithm(std::uint64_t capacity, Duration fill) {
  const BucketNumbers bucket{{capacity, fill}, capacity};
  return {*Limit::token_bucket(bucket), *Limit::gcra(bucket), *Limit::leaky_bucket(bucket),
          *Limit::fixed_window({capacity, fill}), *Limit::sliding_window_counter({capacity, fill})};
}

TEST(Approximate, NoRequestWaitsForASlowStore) {
  ApproximateNodes cluster(*Limit::token_bucket({{1'000, 100s}, 1'000}), 4);
  cluster.shared.holds = true;
  EXPECT_EQ(cluster[0].admitted_of(100), 1'000U / (4 * 4)) << "the allowance, and then denials";
  EXPECT_EQ(cluster[0].answers, 100U);
  EXPECT_EQ(cluster[0].path(), Path::approximate);
  cluster.shared.deliver_all();
  EXPECT_GE(cluster[0].admitted_of(100), 60U) << "on the slice";
}

TEST(Approximate, OneNodeGetsAllThatIsLeft) {
  for (const Limit& limit : each_algorithm(1'000, 1h)) {
    ApproximateNodes cluster(limit, 4);
    EXPECT_NEAR(static_cast<double>(cluster.spend_all(0)), 1'000, 2);
    EXPECT_FALSE(cluster[0].ask());
    EXPECT_EQ(cluster[0].table().max_excess(), 0U);
  }
}

// The worst case: each node spends its allowance before the store answers.
TEST(Approximate, AtMostAQuarterIsAdmittedBeyondTheLimit) {
  for (const Limit& limit : each_algorithm(1'000, 1h)) {
    ApproximateNodes cluster(limit, 5);
    EXPECT_NEAR(static_cast<double>(cluster.spend_all(0)), 1'000, 2);
    cluster.shared.holds = true;
    std::uint64_t over = 0;
    for (std::size_t i = 1; i < 5; ++i) over += cluster[i].admitted_of(1'000);
    EXPECT_EQ(over, 4U * 50U);
    cluster.shared.holds = false;
    cluster.shared.deliver_all();
    for (int round = 0; round < 50; ++round) {
      cluster.pass(sync);
      for (auto& node : cluster.nodes) EXPECT_LE(node->admitted_of(10), round < 4 ? 0U : 1U);
    }
    std::uint64_t max_excess = 0;
    for (auto& node : cluster.nodes) max_excess = std::max(max_excess, node->table().max_excess());
    EXPECT_GE(max_excess, 190U);
    EXPECT_LE(max_excess, 200U);
  }
}

TEST(Approximate, WhatFoundRoomIsNotTheLastAllowance) {
  ApproximateNodes cluster(*Limit::fixed_window({1'000, 1h}), 4);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(cluster[0].ask()) << "a consumer that comes seldom is never denied";
    cluster.pass(20 * sync);
  }
  EXPECT_EQ(cluster[0].counts().unasked.load(), 20U);
  EXPECT_EQ(cluster[0].table().out().slices, 0U) << "unused units are returned";
}

TEST(Approximate, WhatFoundNoneIsForAWindowOrATimeToFill) {
  for (const Limit& limit : each_algorithm(1'000, 1'000s)) {
    ApproximateNodes cluster(limit, 2);
    EXPECT_GE(cluster.spend_all(0), 1'000U);
    cluster.shared.holds = true;
    EXPECT_EQ(cluster[1].admitted_of(2'000), 125U);
    cluster.shared.holds = false;
    cluster.shared.deliver_all();
    cluster.shared.holds = true;
    cluster.shared.now += 900s;
    EXPECT_EQ(cluster[1].admitted_of(2'000), 0U);
    cluster.shared.now += limit.algorithm() == Algorithm::sliding_window_counter ? 1'200s : 200s;
    EXPECT_EQ(cluster[1].admitted_of(2'000), 125U + 500U) << "its share, too: the store has not answered for long";
    EXPECT_EQ(cluster[1].on_share, 500U);
  }
}

// Steady demand of twice the limit, unevenly distributed over the nodes.
TEST(Approximate, SteadyDemandIsHeldWithinOnePercent) {
  for (const Limit& limit : each_algorithm(1'000, 1s)) {
    ApproximateNodes cluster(limit, 4);
    ApproximateNodes exact(limit, 1);
    std::uint64_t admitted = 0;
    std::uint64_t by_exact = 0;
    const auto demand = [&](int milliseconds) {
      for (int i = 0; i < milliseconds; i += 5) {
        cluster.pass(5ms);
        exact.pass(5ms);
        for (std::size_t n = 0; n < 4; ++n) admitted += cluster[n].admitted_of(n + 1);  // 10 of them, twice the limit
        by_exact += exact[0].exactly_admitted_of(10);
      }
    };
    demand(3'000);
    admitted = by_exact = 0;
    demand(20'000);
    EXPECT_GE(admitted, by_exact * 99 / 100) << static_cast<int>(limit.algorithm());
    EXPECT_LE(admitted, by_exact * 101 / 100) << static_cast<int>(limit.algorithm());
  }
}

TEST(Approximate, AnAbsentStoreLeavesEachNodeItsShare) {
  for (const Limit& limit : each_algorithm(1'000, 100s)) {
    ApproximateNodes cluster(limit, 5);
    cluster.shared.failing = Failure::unavailable;
    EXPECT_EQ(cluster[0].admitted_of(2'000), 50U + 200U) << "the allowance, and a fifth";
    EXPECT_EQ(cluster[0].path(), Path::share);
    cluster.shared.failing = Failure::none;
    cluster.pass(8 * sync);
    const std::uint64_t others = cluster.spend_all(1);
    EXPECT_GE(others, 740U);
    EXPECT_LE(others, 750U + 14U) << "what was admitted is charged, and 10 units return per second";
  }
}

// A slice is usable for three syncs: two round trips must fit, or there is a gap before the next slice.
TEST(Approximate, AStoreThatIsTooSlowForItsSlicesLeavesEachNodeItsShare) {
  for (const Duration round_trip : {sync * 8 / 5, sync * 2, sync * 5 / 2, sync * 4}) {
    ApproximateNodes cluster(*Limit::token_bucket({{1'000, 100s}, 1'000}), 1);
    ApproximateNode& node = cluster[0];
    cluster.shared.holds = true;
    ASSERT_EQ(node.admitted_of(1'000), 250U);
    for (int lost = 0; lost < 2; ++lost) {  // after two messages there is no allowance left
      while (cluster.shared.waiting() == 0) cluster.pass(5ms);
      cluster.shared.fail(Failure::timeout);
    }
    for (int answers = 0; answers < 5; ++answers) {
      while (cluster.shared.waiting() == 0) {
        cluster.pass(5ms);
        EXPECT_TRUE(node.ask());
      }
      for (Duration waited{}; waited < round_trip; waited += 5ms) {
        EXPECT_TRUE(node.ask()) << round_trip.count() << " us, after " << waited.count();
        cluster.pass(5ms);
      }
      cluster.shared.deliver();
    }
  }
}

// The slice expired before its answer arrived, but the store is healthy.
TEST(Approximate, AnAnswerAtTheEndOfAWindowIsNotLate) {
  for (const Limit& limit : {*Limit::fixed_window({1'000, 10s}), *Limit::sliding_window_counter({1'000, 10s})}) {
    ApproximateNodes cluster(limit, 4);
    EXPECT_EQ(cluster.spend_all(0), 1'000U);
    const Duration left = 10s - cluster.shared.now.time_since_epoch() % 10s;
    cluster.pass(left - 2ms);
    cluster.shared.holds = true;
    EXPECT_FALSE(cluster[0].ask());
    ASSERT_EQ(cluster.shared.waiting(), 1U);
    cluster.shared.now += 1ms;
    cluster.shared.deliver();
    EXPECT_FALSE(cluster[0].ask());
  }
}

// What was sent and not answered may have been charged, so it is not charged again.
TEST(Approximate, WhatMayHaveBeenChargedIsNotChargedAgain) {
  ApproximateNodes cluster(*Limit::fixed_window({1'000, 1h}), 5);
  cluster.shared.holds = true;
  EXPECT_TRUE(cluster[0].ask());
  cluster.shared.fail(Failure::timeout);
  cluster.shared.holds = false;
  cluster.pass(8 * sync);
  EXPECT_EQ(cluster.spend_all(1), 1'000U);
  cluster.shared.holds = true;
  EXPECT_EQ(cluster[0].admitted_of(100), 49U) << "it is off the allowance";
}

TEST(Approximate, WhatAnotherLimitDeniesIsPutBack) {
  ApproximateNodes cluster(*Limit::token_bucket({{1, 1h}, 100}), 1);
  EXPECT_TRUE(cluster[0].ask(1, 100)) << "without a grant; the exact limit is exhausted";
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(cluster[0].ask(1, 1));
  EXPECT_EQ(cluster.spend_all(0), 99U);
}

// For a table that has returned all its slices: after a reload, or at shutdown.
TEST(Approximate, WhatIsPutBackAfterAReloadGoesToTheStore) {
  ApproximateNodes cluster(*Limit::token_bucket({{1, 1h}, 100}), 1);
  ApproximateNode& node = cluster[0];
  ASSERT_TRUE(node.ask(1, 100)) << "without a grant; the exact limit is exhausted";
  while (node.table().out().units > 1) ASSERT_TRUE(node.ask());
  cluster.shared.holds = true;
  (void)node.ask(1, 1);
  ASSERT_EQ(node.table().out().units, 0U) << "the last one is spent until the exact limit is decided";
  node.table().retire();
  node.tick();
  cluster.shared.holds = false;
  cluster.shared.deliver_all();
  ASSERT_FALSE(node.last.admitted);
  node.tick();
  EXPECT_EQ(node.table().out().units, 0U);
}

TEST(Approximate, TooLittleForSoManyNodesIsDecidedExactly) {
  ApproximateNodes cluster(*Limit::token_bucket({{1, 1h}, 100}), 2);
  cluster[0].holder().nodes.store(26);
  cluster.shared.holds = true;
  (void)cluster[0].ask();
  EXPECT_EQ(cluster[0].answers, 0U);
  cluster.shared.deliver_all();
  EXPECT_EQ(cluster[0].answers, 1U);
  EXPECT_TRUE(cluster[0].last.admitted);
}

TEST(Approximate, ADenialSaysWhenToComeBack) {
  ApproximateNodes cluster(*Limit::token_bucket({{1'000, 1s}, 1'000}), 2);
  (void)cluster.spend_all(0);
  (void)cluster[0].admitted_of(1'000);
  ASSERT_FALSE(cluster[0].ask());
  const Duration wait = *cluster[0].last.checks[0].decision.retry_after;
  EXPECT_GT(wait, Duration::zero());
  EXPECT_LE(wait, 2 * sync);
  cluster.pass(wait + 5ms);
  EXPECT_TRUE(cluster[0].ask());
  ASSERT_FALSE(cluster[0].ask(1'001));
  EXPECT_FALSE(cluster[0].last.checks[0].decision.retry_after);
}

TEST(Approximate, ConsumersThatDoNotComeAnyMoreAreForgotten) {
  ApproximateNodes cluster(*Limit::token_bucket({{1'000, 1s}, 1'000}), 2);
  EXPECT_TRUE(cluster[0].ask());
  cluster.pass(20 * sync);
  EXPECT_EQ(cluster[0].table().keys(), 0U);
}

}  // namespace
}  // namespace weir::store
