// Batches on a store that answers later: callbacks, their order, and the policy that applies.
#include "engine/evaluation_batch.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/engine/shared_engine.h"

namespace weir::engine {
namespace {

using store::Failure;

struct WaitingEngine : SharedEngine {
  explicit WaitingEngine(std::string_view text = six_per_minute) : SharedEngine(text) { store.holds = true; }

  // Submits one request and owns the data that it refers to.
  void submit(const Request& request) {
    asked.push_back(std::make_unique<Asked>(request));
    batch->clear();
    batch->add(asked.back()->query());
    EXPECT_FALSE(batch->submit());
    batch->on_done([this] { ++calls; });
  }

  std::vector<std::unique_ptr<Asked>> asked;
  int calls = 0;
};

TEST(EvaluationBatch, IsDoneWhenTheStoreHasAnswered) {
  WaitingEngine shared;
  shared.submit(Request::to("GET /"));
  EXPECT_TRUE(shared.batch->in_flight());
  EXPECT_EQ(shared.store.waiting(), 1U);
  EXPECT_EQ(shared.calls, 0);
  shared.store.deliver();
  EXPECT_EQ(shared.calls, 1);
  ASSERT_FALSE(shared.batch->in_flight());
  EXPECT_TRUE(shared.batch->verdict(0).admitted);
  EXPECT_EQ(shared.batch->verdict(0).decision.remaining, 9U);
  EXPECT_EQ(shared.path(Path::store), 1U);
}

TEST(EvaluationBatch, KeysNameTheLimitAndTheConsumer) {
  WaitingEngine shared;
  shared.submit(Request::to("GET /").from("192.0.2.7"));
  EXPECT_EQ(shared.store.groups().front()->checks.at(0).key, "weir:{api:ip:9:192.0.2.7}:tb");
  shared.store.deliver_all();
}

TEST(EvaluationBatch, RequestThatNoLimitCoversIsDoneAtOnce) {
  WaitingEngine shared(R"(
version: 1
limits:
  - { name: api, routes: [/api], consumer_key: ip, algorithm: token_bucket, rate: 6/min }
)");
  EXPECT_EQ(shared.send(Request::to("GET /other")).reason, Reason::uncovered);
  EXPECT_FALSE(shared.batch->in_flight());
}

TEST(EvaluationBatch, CallbackIsCalledOnceWhenAllOfItIsDone) {
  WaitingEngine shared;
  const Asked asked(Request::to("GET /"));
  int calls = 0;
  for (int i = 0; i < 12; ++i) shared.batch->add(asked.query());
  ASSERT_FALSE(shared.batch->submit());
  shared.batch->on_done([&] { ++calls; });
  EXPECT_EQ(shared.store.waiting(), 12U);
  while (shared.store.waiting() > 1) shared.store.deliver();
  EXPECT_EQ(calls, 0);
  shared.store.deliver();
  EXPECT_EQ(calls, 1);
  int admitted = 0;
  for (std::size_t i = 0; i < 12; ++i) admitted += shared.batch->verdict(i).admitted ? 1 : 0;
  EXPECT_EQ(admitted, 10);
}

TEST(EvaluationBatch, AnswersMayComeInAnyOrder) {
  WaitingEngine shared;
  const Asked one(Request::to("GET /").from("192.0.2.1").costing(3));
  const Asked other(Request::to("GET /").from("192.0.2.2").costing(4));
  shared.batch->add(one.query());
  shared.batch->add(other.query());
  ASSERT_FALSE(shared.batch->submit());
  while (shared.store.waiting() > 0) shared.store.deliver_last();
  ASSERT_FALSE(shared.batch->in_flight());
  EXPECT_EQ(shared.batch->verdict(0).decision.remaining, 7U);
  EXPECT_EQ(shared.batch->verdict(1).decision.remaining, 6U);
}

TEST(EvaluationBatch, SomeOfItMayFailAndTheRestIsDecidedByTheStore) {
  WaitingEngine shared;
  const Asked one(Request::to("GET /").from("192.0.2.1"));
  const Asked other(Request::to("GET /").from("192.0.2.2"));
  shared.batch->add(one.query());
  shared.batch->add(other.query());
  ASSERT_FALSE(shared.batch->submit());
  shared.store.fail(Failure::timeout);
  EXPECT_TRUE(shared.batch->in_flight());
  shared.store.deliver();
  ASSERT_FALSE(shared.batch->in_flight());
  EXPECT_EQ(shared.batch->verdict(0).decision.limit, 5U) << "the share";
  EXPECT_EQ(shared.batch->verdict(1).decision.limit, 10U);
}

// A batch gives the same results as its requests one after the other. Here the second starts a block.
TEST(EvaluationBatch, OnTablesARequestSeesWhatFollowedFromTheOnesBeforeIt) {
  const auto engine = *Engine::create(
      ruleset_of("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: token_bucket, rate: 1/h, burst: 4, "
                 "penalty: {after: 1, within: 1min, block: 10min}}]}"),
      {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
  const auto evaluator = engine->new_evaluator();
  const Asked small(Request::to("GET /"));
  const Asked large(Request::to("GET /").costing(4));
  const std::vector<Query> queries{small.query(), large.query(), small.query()};
  std::vector<Verdict> verdicts(3);
  evaluator->evaluate(queries, Instant{1'700'000'000s}, verdicts);
  EXPECT_EQ(verdicts[0].reason, Reason::within);
  EXPECT_EQ(verdicts[1].reason, Reason::exceeded);
  EXPECT_EQ(verdicts[2].reason, Reason::blocked);
}

TEST(EvaluationBatch, ReleasedInFlightItEndsWithoutACallback) {
  WaitingEngine shared;
  {
    const Asked asked(Request::to("GET /"));
    EvaluationBatchPtr batch = shared.evaluator->new_batch();
    batch->add(asked.query());
    ASSERT_FALSE(batch->submit());
    batch->on_done([] { FAIL(); });
  }
  ASSERT_EQ(shared.store.waiting(), 1U) << "the store still has its group";
  shared.store.deliver_all();
  shared.store.holds = false;
  EXPECT_EQ(shared.send(Request::to("GET /")).decision.remaining, 8U) << "it was charged";
}

// The caller and its requests may be destroyed by then.
TEST(EvaluationBatch, DescriptorsReleasedInFlightAreCountedWithoutTheirQueries) {
  SharedEngine shared(R"(
domain: d
descriptors:
  - { key: ip, rate_limit: { unit: minute, requests_per_unit: 5 } }
)");
  shared.store.holds = true;
  {
    const DescriptorEntry entry{"ip", "192.0.2.7"};
    const auto asks = std::make_unique<std::array<DescriptorQuery, 1>>();
    (*asks)[0].entries = {&entry, 1};
    EvaluationBatchPtr batch = shared.evaluator->new_batch();
    batch->add("d", *asks);
    ASSERT_FALSE(batch->submit());
  }
  shared.store.deliver_all();
  std::uint64_t admitted = 0;
  for (const auto& [name, events] : shared.engine->totals().by_limit_and_route) {
    admitted += events[static_cast<std::size_t>(Event::admitted)];
  }
  EXPECT_EQ(admitted, 1U);
}

// One large batch is reused; several are not.
TEST(EvaluationBatch, IsReusedRegardlessOfItsSize) {
  WaitingEngine shared;
  shared.store.holds = false;
  const Asked asked(Request::to("GET /").only_looking());
  EvaluationBatchPtr given_back = shared.evaluator->new_batch();
  const EvaluationBatch* const first = given_back.get();
  given_back.reset();
  for (int round = 0; round < 2; ++round) {
    const EvaluationBatchPtr batch = shared.evaluator->new_batch();
    EXPECT_EQ(batch.get(), first);
    for (int i = 0; i < 100; ++i) batch->add(asked.query());
    EXPECT_TRUE(batch->submit());
  }
}

TEST(EvaluationBatch, CallbackMayReuseTheBatch) {
  WaitingEngine shared;
  const Asked asked(Request::to("GET /"));
  int rounds = 0;
  std::function<void()> next = [&] {
    if (++rounds == 4) return;
    shared.batch->clear();
    shared.batch->add(asked.query());
    ASSERT_FALSE(shared.batch->submit());
    shared.batch->on_done(next);
  };
  next();
  shared.store.deliver_all();
  EXPECT_EQ(rounds, 4);
  EXPECT_EQ(shared.batch->verdict(0).decision.remaining, 7U);
}

TEST(EvaluationBatch, CallbackMayReleaseTheBatch) {
  WaitingEngine shared;
  shared.submit(Request::to("GET /"));
  shared.batch->on_done([&] { shared.batch.reset(); });
  shared.store.deliver_all();
  EXPECT_EQ(shared.batch, nullptr);
}

TEST(EvaluationBatch, ReloadInFlightLeavesTheVerdictByTheOldPolicyAndUncounted) {
  WaitingEngine shared;
  shared.submit(Request::to("GET /"));
  ASSERT_TRUE(shared.engine->reload(ruleset_of(R"(
version: 1
limits:
  - { name: other, consumer_key: global, algorithm: gcra, rate: 1/min }
)"),
                                    shared.clock));
  shared.store.deliver_all();
  EXPECT_EQ(shared.batch->bindings().limits()[shared.batch->verdict(0).limit].source->name, "api");
  EXPECT_EQ(shared.batch->verdict(0).decision.remaining, 9U);
  EXPECT_TRUE(shared.engine->totals().by_limit_and_route.empty());
}

// The callback may take a lock that the reloading thread holds.
TEST(EvaluationBatch, CallbackRunsWithoutTheLock) {
  WaitingEngine shared;
  bool free = false;
  shared.submit(Request::to("GET /"));
  shared.batch->on_done([&] {
    std::thread other([&] { free = Evaluator::Lock(shared.evaluator->lock()).owns_lock(); });
    other.join();
  });
  shared.store.deliver_all();
  EXPECT_TRUE(free);
}

TEST(EvaluationBatch, LimitByNameAndResetGoToTheStore) {
  SharedEngine shared(six_per_minute);
  const auto remaining = [&](bool peek) {
    shared.batch->clear();
    shared.batch->add(NamedQuery{.limit = "api", .consumer = "192.0.2.1", .peek = peek});
    EXPECT_TRUE(shared.batch->submit());
    return shared.batch->verdict(0).decision.remaining;
  };
  EXPECT_EQ(remaining(false), 9U);
  EXPECT_EQ(remaining(false), 8U);
  EXPECT_EQ(remaining(true), 7U);
  EXPECT_EQ(remaining(true), 7U);
  EXPECT_EQ(shared.reset({.limit = "api", .consumer = "192.0.2.1"}), nullptr);
  EXPECT_EQ(remaining(false), 9U);
}

TEST(EvaluationBatch, UnknownNameIsAnErrorAmongOthers) {
  WaitingEngine shared;
  shared.batch->add(NamedQuery{.limit = "apy", .consumer = "192.0.2.1"});
  shared.batch->add(NamedQuery{.limit = "api", .consumer = "192.0.2.1"});
  shared.batch->add_reset(NamedQuery{.limit = "apy", .consumer = "192.0.2.1"});
  ASSERT_FALSE(shared.batch->submit());
  shared.store.deliver_all();
  ASSERT_FALSE(shared.batch->in_flight());
  EXPECT_NE(shared.batch->error(0), nullptr);
  EXPECT_EQ(shared.batch->error(1), nullptr);
  EXPECT_NE(shared.batch->error(2), nullptr);
}

TEST(EvaluationBatch, CommandsOfCLThrottleKeepTheirPlaceAmongTheOthers) {
  WaitingEngine shared;
  const core::Gcra::Limit three(*Limit::gcra({{1, Duration(1s)}, 3}));
  const Asked asked(Request::to("GET /"));
  int calls = 0;
  shared.batch->add_throttle(shared.evaluator->seek_throttle("k"), "k", three, Cost{1});
  shared.batch->add(asked.query());
  shared.batch->add_throttle(shared.evaluator->seek_throttle("k"), "k", three, Cost{1});
  ASSERT_FALSE(shared.batch->submit());
  shared.batch->on_done([&] { ++calls; });
  ASSERT_EQ(shared.store.waiting(), 3U);
  EXPECT_EQ(shared.store.groups()[0]->checks[0].key, shared.store.groups()[2]->checks[0].key);
  shared.store.deliver_all();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(shared.batch->throttles(), 2U);
  EXPECT_EQ(shared.batch->size(), 1U);
  EXPECT_EQ(shared.batch->throttle(0).remaining, 2U);
  EXPECT_EQ(shared.batch->throttle(1).remaining, 1U);
}

struct Seen final : Observer {
  void evaluated(const EvaluationBatch& batch, std::chrono::nanoseconds begun, Instant at) override {
    requests += batch.size();
    now = at;
    EXPECT_EQ(begun, 7ns);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(match::describe_consumer(batch.matched(i).key(0)), "ip=203.0.113.1");
    }
  }
  std::chrono::nanoseconds begin() override { return 7ns; }

  std::size_t requests = 0;
  Instant now{};
};

TEST(EvaluationBatch, ObserverIsCalledWhenItIsDone) {
  WaitingEngine shared;
  Seen seen;
  const auto evaluator = shared.engine->new_evaluator(
      {.observer = &seen, .store = &shared.outage, .clock = &shared.clock, .throttle = shared.throttle.get()});
  const Asked asked(Request::to("GET /"));
  EvaluationBatchPtr batch = evaluator->new_batch();
  batch->add(asked.query());
  batch->add(asked.query());
  ASSERT_FALSE(batch->submit());
  EXPECT_EQ(seen.requests, 0U);
  shared.at(shared.clock.now() + 3s);
  shared.store.deliver_all();
  EXPECT_EQ(seen.requests, 2U);
  EXPECT_EQ(seen.now, shared.clock.now());

  shared.store.holds = false;
  batch->clear();
  batch->add(asked.query());
  ASSERT_TRUE(batch->submit());
  EXPECT_EQ(seen.requests, 3U);
}

}  // namespace
}  // namespace weir::engine
