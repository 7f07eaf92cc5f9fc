// Evenly loaded nodes and a shared store that fails in any order: together they stay within the limit.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "store/outage/outage_store.h"
#include "tests/set_clock.h"
#include "tests/store/groups.h"
#include "tests/store/memory_store.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

constexpr Duration step = 10ms;

// One consumer of one limit, on several nodes.
class Fleet {
 public:
  Fleet(std::uint32_t nodes, const Limit& limit) : count_(nodes) {
    for (std::uint32_t i = 0; i < nodes; ++i) nodes_.push_back(std::make_unique<Node>(*this, limit));
    inner_.now = clock_.now();
  }

  void pass(Duration time) {
    clock_.advance(time);
    inner_.now = clock_.now();
  }
  void set_failing(Failure failure) { inner_.failing = failure; }

  // The number of requests admitted if each node gets `each` requests.
  std::uint64_t ask(std::uint64_t each) {
    std::uint64_t admitted = 0;
    for (std::uint64_t i = 0; i < each; ++i) {
      for (const auto& node : nodes_) {
        Check check = node->states.check("alice");
        check.key = "alice";  // the same for all of them
        Submitted group({check});
        node->store.submit(group);
        admitted += group.admitted ? 1 : 0;
      }
    }
    return admitted;
  }

 private:
  struct Node {
    Node(Fleet& fleet, const Limit& limit)
        : states(limit), store(fleet.inner_, fleet.clock_, 10ms, has_charges, &fleet.count_) {
      states.divided();
    }
    BoundStates states;
    std::atomic<bool> has_charges{false};
    OutageStore store;
  };

  SetClock clock_{Instant{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h}};
  MemoryStore inner_;
  std::atomic<std::uint32_t> count_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

const std::vector<Failure> ways{Failure::none, Failure::unavailable, Failure::timeout, Failure::lost, Failure::refused};
// What is admitted during these failures is charged to the store later. In the other failures the store may already
// have charged it, although this one does not.
const std::vector<Failure> charged_later{Failure::none, Failure::unavailable, Failure::refused};
const std::vector<Failure> has_done_nothing{Failure::unavailable, Failure::refused};

// The store's burst, those of all shares, and the refill. When the store is back, one request per node may be admitted
// before the other nodes have charged what they admitted.
RC_GTEST_PROP(OutageFleet, StaysWithinTheRateOfABucketHoweverTheStoreFails, ()) {
  const auto nodes = *rc::gen::inRange<std::uint32_t>(2, 9);
  const auto burst = *rc::gen::inRange<std::uint64_t>(nodes, 60);
  const auto rate = *rc::gen::inRange<std::uint64_t>(1, 400);  // per second
  Fleet fleet(nodes, *Limit::token_bucket({{rate, Duration(1s)}, burst}));
  const auto alternates = *rc::gen::arbitrary<bool>();  // the store fails in every other phase
  std::uint64_t admitted = 0;
  Duration passed{};
  for (int phase = 0; phase < 12; ++phase) {
    const bool answers = alternates && phase % 2 == 1;
    fleet.set_failing(answers ? Failure::none : *rc::gen::elementOf(alternates ? has_done_nothing : charged_later));
    const int steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
      fleet.pass(step);
      passed += step;
      admitted += fleet.ask(3);
    }
    const std::uint64_t refilled = rate * static_cast<std::uint64_t>(passed.count()) / 1'000'000 + 1;
    RC_ASSERT(admitted <= 2 * burst + refilled + nodes * static_cast<std::uint64_t>(phase + 1));
  }
}

RC_GTEST_PROP(OutageFleet, AdmitsAWindowsLimitTwiceAtMostHoweverTheStoreFails, ()) {
  const auto nodes = *rc::gen::inRange<std::uint32_t>(2, 9);
  const auto limit = *rc::gen::inRange<std::uint64_t>(nodes, 100);
  Fleet fleet(nodes, *Limit::fixed_window({limit, Duration(1h)}));
  std::uint64_t admitted = 0;
  for (int phase = 0; phase < 12; ++phase) {
    fleet.set_failing(*rc::gen::elementOf(ways));
    admitted += fleet.ask(*rc::gen::inRange<std::uint64_t>(0, 30));
    RC_ASSERT(admitted <= 2 * limit);
  }
}

// From the first failure on, what the store admits counts on the shares: nothing is admitted twice, except one request
// per node before the others have charged what they admitted.
RC_GTEST_PROP(OutageFleet, AdmitsAWindowsLimitOnceWhereTheStoreFailedBefore, ()) {
  const auto nodes = *rc::gen::inRange<std::uint32_t>(2, 9);
  const auto each = *rc::gen::inRange<std::uint64_t>(1, 20);
  Fleet fleet(nodes, *Limit::fixed_window({each * nodes, Duration(1h)}));
  fleet.set_failing(Failure::refused);
  std::uint64_t admitted = fleet.ask(1);
  for (int phase = 0; phase < 12; ++phase) {
    fleet.set_failing(*rc::gen::elementOf(charged_later));
    admitted += fleet.ask(*rc::gen::inRange<std::uint64_t>(0, 5));
  }
  RC_ASSERT(admitted < (each + 1) * nodes);
}

TEST(OutageFleet, AdmitsTheLimitInAnOutageFromTheStart) {
  for (const std::uint32_t nodes : {2U, 3U, 4U, 16U}) {
    Fleet fleet(nodes, *Limit::fixed_window({nodes * 5, Duration(1h)}));
    fleet.set_failing(Failure::unavailable);
    EXPECT_EQ(fleet.ask(50), nodes * 5U);
  }
}

}  // namespace
}  // namespace weir::store
