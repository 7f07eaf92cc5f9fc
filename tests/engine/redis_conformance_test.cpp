// The engine on a real Redis, which answers later, is killed and restarted.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "net/loop.h"
#include "store/outage/outage_store.h"
#include "store/redis/redis_store.h"
#include "store/shared_keys.h"
#include "tests/engine/engine_fixture.h"
#include "tests/net/client.h"
#include "tests/redis_process.h"
#include "tests/store_redis/store_visitor.h"

namespace weir::engine {
namespace {

using net::eventually;

class RedisEngineTest : public testing::Test {
 protected:
  RedisEngineTest()
      : engine_(*Engine::create(ruleset_of(R"(
version: 1
limits:
  - { name: api, consumer_key: ip, algorithm: token_bucket, rate: 1/day, burst: 10, candidate: { burst: 8 } }
  - { name: all, consumer_key: global, algorithm: fixed_window, rate: 1000/day, on_store_failure: open }
)"),
                                {.memory_budget = std::size_t{64} << 20,
                                 .hash_key = {1, 2},
                                 .shared_keys = std::make_shared<store::SharedKeys>("weir:", "")})) {
    loops_ = *net::Loops::make(1, 5ms);
    EXPECT_TRUE(loops_->start());
    on_loop([&] {
      redis_ = std::make_unique<store::redis::RedisStore>(
          (*loops_)[0], store::redis::patient_options_for(server_.endpoint()), counts_);
      outage_ = std::make_unique<store::OutageStore>(*redis_, clock_, 10s, engine_->has_charges());
      evaluator_ = engine_->new_evaluator({.store = outage_.get(), .clock = &clock_});
      batch_ = evaluator_->new_batch();
    });
    EXPECT_TRUE(is_connected());
  }
  ~RedisEngineTest() override {
    on_loop([&] {
      batch_.reset();
      redis_.reset();  // answers what is in flight
      evaluator_.reset();
      outage_.reset();
    });
  }

  void on_loop(const std::function<void()>& work) { (*loops_)[0].run(work); }
  bool is_connected() {
    return eventually([&] {
      bool connected = false;
      on_loop([&] { connected = redis_->connected(); });
      return connected && counts_.breaker() == store::BreakerState::closed;
    });
  }

  // Sends `count` requests in one batch. Returns how many passed.
  int passing(const Request& request, int count) {
    const Asked asked(request);
    std::atomic<bool> done = false;
    on_loop([&] {
      batch_->clear();
      for (int i = 0; i < count; ++i) batch_->add(asked.query());
      done = batch_->submit();
      if (!done) batch_->on_done([&] { done = true; });
    });
    EXPECT_TRUE(eventually([&] { return done.load(); }));
    int passed = 0;
    on_loop([&] {
      for (std::size_t i = 0; i < batch_->size(); ++i) passed += batch_->verdict(i).admitted ? 1 : 0;
    });
    return passed;
  }
  [[nodiscard]] std::uint64_t path(Path path) const { return engine_->store_paths()[static_cast<std::size_t>(path)]; }

  RedisProcess server_;
  SetClock clock_{Instant{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}}};
  store::StoreCounts counts_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<net::Loops> loops_;
  std::unique_ptr<store::redis::RedisStore> redis_;
  std::unique_ptr<store::OutageStore> outage_;
  std::unique_ptr<Evaluator> evaluator_;
  EvaluationBatchPtr batch_;
};

TEST_F(RedisEngineTest, DecidesABatchAsItsRequestsInOrder) {
  EXPECT_EQ(passing(Request::to("GET /"), 40), 10);
  on_loop([&] {
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(batch_->verdict(i).admitted, i < 10) << i;
      EXPECT_EQ(batch_->verdict(i).outcomes[0].decision.remaining, i < 10 ? 9 - i : 0U) << i;
    }
    EXPECT_EQ(batch_->verdict(9).outcomes[0].divergence(), Divergence::newly_denied);
  });
  EXPECT_EQ(path(Path::store), 80U);
  EXPECT_EQ(passing(Request::to("GET /").from("192.0.2.1"), 3), 3);
}

TEST_F(RedisEngineTest, GoesOnWhenTheServerIsKilledAndChargesBackWhenItIsThere) {
  EXPECT_EQ(passing(Request::to("GET /"), 2), 2);
  server_.kill();
  ASSERT_TRUE(eventually([&] { return counts_.connected.value() == 0; }));
  EXPECT_EQ(passing(Request::to("GET /"), 20), 5) << "half of ten";
  EXPECT_EQ(path(Path::share), 20U);
  EXPECT_EQ(path(Path::open), 20U);
  server_.start();
  ASSERT_TRUE(is_connected());
  EXPECT_EQ(passing(Request::to("GET /"), 20), 5) << "it has started empty, and the five are charged to it";
}

// A request in flight may have been charged by the server: it is decided locally and not charged back.
TEST_F(RedisEngineTest, DecidesHereWhatIsInFlightWhenTheServerIsKilled) {
  const Asked asked(Request::to("GET /"));
  std::atomic<bool> done = false;
  server_.pause();
  on_loop([&] {
    batch_->add(asked.query());
    EXPECT_FALSE(batch_->submit());
    batch_->on_done([&] { done = true; });
  });
  ASSERT_TRUE(eventually([&] { return counts_.batches.value() == 1; }));
  EXPECT_FALSE(done);
  server_.kill();
  ASSERT_TRUE(eventually([&] { return done.load(); }));
  on_loop([&] {
    EXPECT_TRUE(batch_->verdict(0).admitted);
    EXPECT_EQ(batch_->verdict(0).outcomes[0].decision.limit, 5U);
  });
  EXPECT_FALSE(engine_->has_charges());
}

TEST_F(RedisEngineTest, RequestsInFlightWhenTheStoreIsDestroyedAreAnswered) {
  const Asked asked(Request::to("GET /"));
  std::atomic<bool> done = false;
  server_.pause();
  on_loop([&] {
    batch_->add(asked.query());
    EXPECT_FALSE(batch_->submit());
    batch_->on_done([&] { done = true; });
  });
  ASSERT_TRUE(eventually([&] { return counts_.batches.value() == 1; }));
  on_loop([&] { redis_.reset(); });
  EXPECT_TRUE(done);
  server_.resume();
}

}  // namespace
}  // namespace weir::engine
