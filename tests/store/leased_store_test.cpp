// Slices of a limit on several nodes, with an in-memory store and test clocks.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/leased/leased_store.h"
#include "store/shared/shared_terms.h"
#include "tests/store/memory_store.h"
#include "weir/limit.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;

constexpr Duration lease = 1s;

// A process with one limit on a shared store.
class Node final : public Callback {
 public:
  Node(MemoryStore& shared, const Limit& limit, std::uint64_t id)
      : shared_(shared),
        holder_(std::make_shared<SliceHolder>(id)),
        table_(std::make_shared<SliceTable>(SliceTable::Options{.rule = core::compile(limit),
                                                                .capacity = limit.capacity(),
                                                                .lease = lease,
                                                                .min_requests = 1,
                                                                .max_keys = 16,
                                                                .holder = holder_})),
        store_(shared, [this] { return shared_.now.time_since_epoch().count() - skew_; }) {
    states_.rule = table_->rule();
    terms_.slices = table_.get();
    states_.shared = &terms_;
    exact_.rule = core::compile(limit);
  }

  void answered(Group& group) override {
    ++answers;
    last = group;
  }

  // Asks the leased limit and, if `beside` is set, a second, exact one in the same group.
  bool ask(std::uint64_t cost = 1, std::uint64_t beside = 0, Operation operation = Operation::decide) {
    Group& group = *groups_.emplace_back(std::make_unique<Group>());
    group.operation = operation;
    group.callback = this;
    holdings = {};
    group.checks.push_back(check(states_, "k", cost));
    group.checks[0].holdings = &holdings;
    if (beside > 0) group.checks.push_back(check(exact_, "exact", beside));
    store_.submit(group);
    return last.admitted;
  }

  std::uint64_t admitted_of(std::uint64_t requests) {
    std::uint64_t admitted = 0;
    for (std::uint64_t i = 0; i < requests; ++i) admitted += ask() ? 1U : 0U;
    return admitted;
  }

  [[nodiscard]] std::uint64_t rest() const { return table_->rest(key, ticks()); }
  [[nodiscard]] SliceTable::Ticks ticks() const { return shared_.now.time_since_epoch().count() - skew_; }
  [[nodiscard]] SliceCounts& counts() { return holder_->counts; }
  LeasedStore& store() { return store_; }
  SliceTable& table() { return *table_; }
  void tick() {
    for (int i = 0; i < 16; ++i) {
      shared_.now += lease / 128;
      store_.tick();
    }
  }

  static constexpr table::KeyHash key{0x1234'5678'9abc'def0U};
  Group last;
  Holdings holdings;  // result of the last look or reset
  std::size_t answers = 0;

  // Gives units back and returns what remains.
  std::uint64_t give_back(std::uint64_t units) {
    Group& group = *groups_.emplace_back(std::make_unique<Group>());
    group.operation = Operation::settle;
    group.callback = this;
    group.checks.push_back(check(states_, "k", 1));
    const core::Charged charged{.at = shared_.now, .full_at = shared_.now + std::chrono::hours(1)};
    group.settlement = core::Settlement{Cost{units}, Cost{0}, charged};
    store_.submit(group);
    EXPECT_TRUE(last.admitted);
    return last.checks[0].decision.remaining;
  }

 private:
  static Check check(const States& states, std::string name, std::uint64_t cost) {
    Check check = check_of(std::move(name), states.rule, cost);
    check.states = &states;
    check.hash = key;
    return check;
  }

  MemoryStore& shared_;
  const std::int64_t skew_ = 1'000'000'000;
  std::shared_ptr<SliceHolder> holder_;
  std::shared_ptr<SliceTable> table_;
  LeasedStore store_;
  SharedTerms terms_;
  States states_;
  States exact_;
  std::vector<std::unique_ptr<Group>> groups_;
};

Limit bucket(std::uint64_t rate, std::uint64_t burst) {
  return *Limit::token_bucket({{rate, 1s}, burst});
}

TEST(Leased, MostDecisionsNeedNoTrip) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 1);
  EXPECT_EQ(node.admitted_of(100), 100U);
  shared.failing = Failure::unavailable;  // from here on this process decides
  const std::uint64_t rest = node.rest();
  EXPECT_GT(rest, 20U);
  EXPECT_EQ(node.admitted_of(rest), rest);
  EXPECT_EQ(node.last.checks[0].path, Path::slice);
  EXPECT_FALSE(node.ask());
  EXPECT_EQ(node.last.failure, Failure::unavailable);
}

TEST(Leased, TheLimitIsNeverPassedByAnyNumberOfNodes) {
  for (const Limit& limit :
       {bucket(1, 1'000), *Limit::gcra({{1, 1s}, 1'000}), *Limit::leaky_bucket(BucketNumbers{{1, 1s}, 1'000}),
        *Limit::fixed_window({1'000, 1h}), *Limit::sliding_window_counter({1'000, 1h})}) {
    MemoryStore shared;
    std::vector<std::unique_ptr<Node>> nodes;
    for (std::uint64_t id = 1; id <= 4; ++id) nodes.push_back(std::make_unique<Node>(shared, limit, id));
    std::uint64_t admitted = 0;
    for (int round = 0; round < 1'000; ++round) {
      for (auto& node : nodes) admitted += node->admitted_of(1);
    }
    EXPECT_LE(admitted, 1'000U);
    EXPECT_GE(admitted, 990U) << "what is out is soon spent";
  }
}

// If slices were charged in advance and clamped, two bursts would pass here.
TEST(Leased, AnExpiredSliceIsCharged) {
  MemoryStore shared;
  const Limit limit = bucket(1, 1'000);
  Node gone(shared, limit, 1);
  gone.admitted_of(200);
  const std::uint64_t out = gone.rest();
  ASSERT_GT(out, 0U);
  Node other(shared, limit, 2);
  EXPECT_LE(other.admitted_of(2'000), 1'000 - 200 - out);
  shared.now += lease;
  EXPECT_LE(other.admitted_of(2'000), 1U + 1U) << "what expired counts as used; a second refills one";
}

TEST(Leased, UnusedUnitsAreReturned) {
  MemoryStore shared;
  const Limit limit = bucket(1, 1'000);
  Node idle(shared, limit, 1);
  idle.admitted_of(200);
  ASSERT_GT(idle.rest(), 0U);
  shared.now += lease / 2;
  idle.tick();
  EXPECT_EQ(idle.rest(), 0U);
  EXPECT_GE(idle.counts().returns, 1U);
  Node other(shared, limit, 2);
  EXPECT_EQ(other.admitted_of(2'000), 800U);
}

TEST(Leased, AtAReloadAndAtTheEndAllGoesBack) {
  MemoryStore shared;
  const Limit limit = bucket(1, 1'000);
  Node reloaded(shared, limit, 1);
  Node stopped(shared, limit, 2);
  reloaded.admitted_of(100);
  stopped.admitted_of(100);
  reloaded.table().retire();
  reloaded.tick();
  stopped.store().give_back_all();
  EXPECT_TRUE(stopped.store().idle());
  EXPECT_EQ(reloaded.rest() + stopped.rest(), 0U);
  Node other(shared, limit, 3);
  EXPECT_EQ(other.admitted_of(2'000), 800U);
}

TEST(Leased, ASliceIsSpentForThreeQuartersOfItsTime) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 1);
  node.admitted_of(100);
  ASSERT_GT(node.rest(), 0U);
  shared.failing = Failure::unavailable;
  shared.now += lease * 3 / 4 - 1us;
  EXPECT_TRUE(node.ask());
  shared.now += 1us;
  EXPECT_FALSE(node.ask());
  EXPECT_EQ(node.last.failure, Failure::unavailable);
}

// While a message is in flight, only what it keeps is spent; what was spent since is deducted from the total in the
// answer.
TEST(Leased, WhatIsSpentWhileAMessageIsInFlightIsNotSpentAgain) {
  MemoryStore shared;
  const Limit limit = bucket(1, 1'000);
  Node node(shared, limit, 1);
  std::uint64_t admitted = node.admitted_of(50);
  shared.holds = true;
  for (int i = 0; i < 2'000; ++i) {
    const std::size_t before = node.answers;
    node.ask();
    admitted += node.answers > before && node.last.admitted ? 1U : 0U;
  }
  shared.holds = false;
  while (shared.waiting() > 0) {
    const std::size_t before = node.answers;
    shared.deliver();
    admitted += node.answers > before && node.last.admitted ? 1U : 0U;
  }
  admitted += node.admitted_of(2'000);
  EXPECT_EQ(admitted, 1'000U);
}

TEST(Leased, AMessageThatIsLostCostsAtMostWhatItGranted) {
  MemoryStore shared;
  const Limit limit = bucket(1, 1'000);
  Node node(shared, limit, 1);
  std::uint64_t admitted = node.admitted_of(50);
  shared.holds = true;
  while (shared.waiting() == 0) admitted += node.ask() ? 1U : 0U;
  shared.fail(Failure::timeout);
  shared.holds = false;
  EXPECT_EQ(node.counts().unanswered, 1U);
  admitted += node.admitted_of(3'000);
  shared.now += lease;
  admitted += node.admitted_of(3'000);
  EXPECT_LE(admitted, 1'000U + 2U);
}

TEST(Leased, BesideAnExactLimitAllOrNothingHolds) {
  MemoryStore shared;
  Node node(shared, bucket(1, 100), 1);
  ASSERT_TRUE(node.ask(1, 90));
  node.admitted_of(20);
  const std::uint64_t rest = node.rest();
  ASSERT_GT(rest, 0U);
  EXPECT_FALSE(node.ask(1, 20)) << "the exact limit has 10 left";
  EXPECT_EQ(node.rest(), rest) << "what was spent is back";
  EXPECT_EQ(node.last.checks.size(), 2U);
  EXPECT_FALSE(node.last.checks[1].decision.admitted);
  EXPECT_TRUE(node.ask(1, 10));
  EXPECT_EQ(node.rest(), rest - 1);
}

TEST(Leased, ALookTellsWhatThisNodeCouldAdmit) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 1);
  node.admitted_of(100);
  EXPECT_TRUE(node.ask(0, 0, Operation::look));
  EXPECT_EQ(node.last.checks[0].decision.remaining, 900U);
  Node other(shared, bucket(1, 1'000), 2);
  EXPECT_TRUE(other.ask(0, 0, Operation::look));
  EXPECT_EQ(other.last.checks[0].decision.remaining, 900U - node.rest())
      << "the slice of the first node is not available";
}

// Used, held and remaining units add up to the limit; the holders are listed.
TEST(Leased, ALookTellsWhatIsInTheStoreAndWhatIsOut) {
  for (const Limit& limit :
       {bucket(1, 1'000), *Limit::fixed_window({1'000, 1h}), *Limit::sliding_window_counter({1'000, 1h})}) {
    MemoryStore shared;
    Node one(shared, limit, 10);
    Node two(shared, limit, 20);
    one.admitted_of(100);
    two.admitted_of(50);
    Node third(shared, limit, 30);
    EXPECT_TRUE(third.ask(0, 0, Operation::look));
    const Holdings& seen = third.holdings;
    ASSERT_TRUE(seen.known);
    EXPECT_EQ(seen.at, shared.now);
    EXPECT_EQ(seen.used + seen.leased_units() + third.last.checks[0].decision.remaining, 1'000U);
    ASSERT_EQ(seen.slices.size(), 2U);
    EXPECT_EQ(seen.slices[0].holder, 10U);
    EXPECT_GE(seen.slices[0].units, one.rest()) << "what it spent since is not reported yet";
    EXPECT_EQ(seen.slices[1].holder, 20U);
    EXPECT_GT(core::micros(shared.now) + 1'000'000, seen.slices[1].until - 1);
    shared.now += lease;
    EXPECT_TRUE(third.ask(0, 0, Operation::look));
    EXPECT_TRUE(third.holdings.slices.empty()) << "what has expired is used";
    EXPECT_EQ(third.holdings.used + third.last.checks[0].decision.remaining, 1'000U);
  }
}

TEST(Leased, HoldingsOfAnUnavailableStoreAreUnknown) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 1);
  shared.failing = Failure::unavailable;
  node.ask(0, 0, Operation::look);
  EXPECT_FALSE(node.holdings.known);
}

// A request that fits into the slice and the store together is decided by the store, with the slice returned.
TEST(Leased, ALookSaysWhatADecisionWouldSay) {
  for (const std::uint64_t cost : {1U, 10U, 600U, 899U, 900U, 901U, 1'000U}) {
    MemoryStore shared;
    Node node(shared, bucket(1, 1'000), 1);
    node.admitted_of(100);
    ASSERT_GT(node.rest(), 0U);
    const bool told = node.ask(cost, 0, Operation::look);
    EXPECT_EQ(told, cost <= 900) << cost;
    EXPECT_EQ(node.ask(cost), told) << cost;
  }
}

TEST(Leased, AResetTellsWhatOthersMayStillSpend) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 10);
  Node other(shared, bucket(1, 1'000), 20);
  node.admitted_of(100);
  other.admitted_of(50);
  const std::uint64_t out = other.rest();
  ASSERT_GT(out, 0U);
  node.ask(0, 0, Operation::forget);
  ASSERT_TRUE(node.holdings.known);
  std::uint64_t of_others = 0;
  for (const core::Slice& slice : node.holdings.slices) of_others += slice.holder == 20 ? slice.units : 0;
  EXPECT_GE(of_others, out);
  EXPECT_EQ(node.rest(), 0U);
  EXPECT_EQ(other.rest(), out) << "it runs out";
  node.ask(0, 0, Operation::look);
  EXPECT_TRUE(node.holdings.slices.empty());
  EXPECT_EQ(node.holdings.used, 0U);
}

// Only charged units are given back, never those of other holders: so nothing is admitted twice.
TEST(Leased, WhatIsGivenBackIsWhatWasCharged) {
  MemoryStore shared;
  Node holder(shared, *Limit::fixed_window({1'000, 1h}), 10);
  holder.admitted_of(100);
  Node node(shared, *Limit::fixed_window({1'000, 1h}), 20);
  node.ask(0, 0, Operation::look);
  const Holdings before = node.holdings;
  const std::uint64_t left = node.last.checks[0].decision.remaining;
  ASSERT_GT(before.leased_units(), 0U);
  EXPECT_EQ(node.give_back(3), left + 3);
  EXPECT_EQ(node.give_back(1'000), left + before.used) << "no more than was charged";
  node.ask(0, 0, Operation::look);
  EXPECT_EQ(node.holdings.used, 0U);
  EXPECT_EQ(node.holdings.slices, before.slices) << "leased units stay leased";
}

TEST(Leased, WhatIsLeftAfterGivingBackHasTheNodesOwnSliceInIt) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 1);
  node.admitted_of(100);
  node.ask(0, 0, Operation::look);
  const std::uint64_t left = node.last.checks[0].decision.remaining;
  EXPECT_EQ(node.give_back(1), left + 1);
}

// Denials are counted even without a message, and when this process repeats a remembered denial.
TEST(Leased, DenialsWhileOthersHoldEnoughAreCounted) {
  MemoryStore shared;
  Node holder(shared, bucket(1, 100), 10);
  holder.admitted_of(20);
  ASSERT_GT(holder.rest(), 4U);
  Node node(shared, bucket(1, 100), 20);
  while (node.ask()) {
  }
  EXPECT_EQ(node.counts().contended_denials, 1U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(node.ask());
  EXPECT_EQ(node.counts().contended_denials, 4U) << "decided here";
  shared.now += lease / 64;
  EXPECT_FALSE(node.ask());
  EXPECT_EQ(node.counts().contended_denials, 5U) << "asked without a message";
  EXPECT_FALSE(node.ask(100));
  EXPECT_EQ(node.counts().contended_denials, 5U) << "the other slices would not have been enough";
}

TEST(Leased, DenialsOfAnExhaustedLimitAreNotContended) {
  MemoryStore shared;
  Node node(shared, bucket(1, 100), 10);
  EXPECT_EQ(node.admitted_of(200), 100U);
  EXPECT_EQ(node.counts().contended_denials, 0U);
}

TEST(Leased, WhatIsForgottenIsNotSpent) {
  MemoryStore shared;
  Node node(shared, bucket(1, 1'000), 1);
  node.admitted_of(100);
  node.ask(0, 0, Operation::forget);
  EXPECT_EQ(node.rest(), 0U);
  EXPECT_EQ(node.admitted_of(2'000), 1'000U);
}

// A lone client that returns at `retry_after` is admitted, one microsecond earlier it is not.
TEST(Leased, TheWaitOfALoneClientIsTrue) {
  MemoryStore shared;
  Node node(shared, bucket(10, 100), 1);
  EXPECT_EQ(node.admitted_of(200), 100U);
  const Duration wait = *node.last.checks[0].decision.retry_after;
  EXPECT_EQ(wait, 100ms);
  const Instant told = shared.now;
  shared.now = told + wait - 1us;
  EXPECT_FALSE(node.ask());
  shared.now = told + wait;
  EXPECT_TRUE(node.ask());
}

TEST(Leased, ADenialIsRememberedForAMoment) {
  MemoryStore shared;
  Node node(shared, bucket(1, 8), 1);
  node.admitted_of(20);
  const std::uint64_t asked = node.counts().messages;
  shared.failing = Failure::unavailable;
  EXPECT_FALSE(node.ask());
  EXPECT_EQ(node.last.failure, Failure::none) << "decided here";
  shared.now += lease / 64;
  EXPECT_FALSE(node.ask());
  EXPECT_EQ(node.last.failure, Failure::unavailable);
  EXPECT_EQ(node.counts().messages, asked);
}

// A group that the store still decides has spent 3, and a renewal that keeps them is sent in the meantime.
class LeasedBeside : public testing::Test {
 protected:
  // What remains when everything is done and returned. Nothing refills.
  std::uint64_t left_with_beside(const Limit& limit, std::uint64_t beside, int renewals) {
    MemoryStore shared;
    Node node(shared, limit, 1);
    admitted = node.admitted_of(100);
    EXPECT_EQ(admitted, 100U);
    shared.holds = true;
    node.ask(3, beside);
    for (int i = 0; i < renewals; ++i) {
      const std::uint64_t before = node.counts().renewals;
      while (node.counts().renewals == before && node.rest() > 0) admitted += node.ask() ? 1U : 0U;
      EXPECT_GT(node.counts().renewals, before);
      shared.deliver_last();
    }
    const std::uint64_t rest = node.rest();
    shared.holds = false;
    shared.deliver_all();
    is_admitted = node.last.admitted;
    EXPECT_EQ(node.rest(), rest + (is_admitted ? 0 : 3));
    node.store().give_back_all();
    node.ask(0, 0, Operation::look);
    return node.last.checks[0].decision.remaining;
  }

  std::uint64_t admitted = 0;
  bool is_admitted = false;
};

TEST_F(LeasedBeside, WhatIsPutBackIsNotLostToARenewal) {
  for (const Limit& limit : {bucket(1, 1'000), *Limit::fixed_window({1'000, 1h})}) {
    for (const int renewals : {0, 1, 3}) {
      const std::uint64_t left = left_with_beside(limit, 5'000, renewals);
      EXPECT_EQ(left, 1'000U - admitted) << renewals;
      EXPECT_FALSE(is_admitted);
    }
  }
}

TEST_F(LeasedBeside, WhatIsUsedIsReportedWithTheNextMessage) {
  for (const int renewals : {0, 1, 3}) {
    const std::uint64_t left = left_with_beside(bucket(1, 1'000), 1, renewals);
    EXPECT_EQ(left, 1'000U - admitted - 3) << renewals;
    EXPECT_TRUE(is_admitted);
  }
}

// Granted units are reported, returned, expired, or still held.
TEST(Leased, UnitsAreConserved) {
  MemoryStore shared;
  const Limit limit = bucket(100, 1'000);
  Node one(shared, limit, 1);
  Node other(shared, limit, 2);
  for (int round = 0; round < 50; ++round) {
    one.admitted_of(30);
    other.admitted_of(static_cast<std::uint64_t>(round % 7));
    shared.now += 100ms;
    one.store().tick();
    other.store().tick();
  }
  one.store().give_back_all();
  other.store().give_back_all();
  for (Node* node : {&one, &other}) {
    const SliceCounts& counts = node->counts();
    EXPECT_EQ(counts.granted, counts.reported + counts.returned + counts.expired);
    EXPECT_GT(counts.granted, 0U);
  }
}

}  // namespace
}  // namespace weir::store
