// Runs the same test of the engine on every store, with the same numbers.
//
// Three things differ by design while the store is unavailable: candidates are not asked, resets fail, and this process
// admits half of a limit that the request defines (an override, CL.THROTTLE). Their tests use `answering_stores`;
// store_unavailable_test.cpp tests what happens instead. All other limits have a local share of 1, so that their
// numbers are the same.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/local/throttle_table.h"
#include "store/outage/outage_store.h"
#include "store/shared_keys.h"
#include "tests/engine/engine_fixture.h"
#include "tests/store/memory_store.h"
#include "tests/store_redis/script_server.h"

namespace weir::engine {

enum class Where : std::uint8_t {
  local,
  memory,
  redis,  // a real server, on which the script decides by the test's clock
  outage_up,
  outage_down,
};

inline std::string store_name(const testing::TestParamInfo<Where>& info) {
  constexpr std::array names{"local", "memory", "redis", "outage_up", "outage_down"};
  return names[static_cast<std::size_t>(info.param)];
}

inline const auto every_store =
    testing::Values(Where::local, Where::memory, Where::redis, Where::outage_up, Where::outage_down);
inline const auto answering_stores = testing::Values(Where::local, Where::memory, Where::redis, Where::outage_up);

class StoreTest : public EngineTest, public testing::WithParamInterface<Where> {
 protected:
  // Ahead of the wall clock, by which a Redis server expires keys.
  StoreTest() { now_ += std::chrono::days(64 * 365); }

  void TearDown() override { evaluator_.reset(); }

  Engine::Options options() override {
    Engine::Options options = EngineTest::options();
    if (GetParam() != Where::local) options.shared_keys = std::make_shared<store::SharedKeys>("weir:", "");
    return options;
  }
  EvaluatorOptions evaluator_options() override {
    throttle_ = *store::ThrottleTable::create(std::size_t{4} << 20, {1, 2});
    return {.store = new_store(), .clock = &clock_, .throttle = throttle_.get()};
  }
  std::shared_ptr<const policy::Ruleset> prepared(std::shared_ptr<const policy::Ruleset> ruleset) override {
    if (!ruleset) return ruleset;
    auto whole = std::make_shared<policy::Ruleset>(*ruleset);
    for (policy::CompiledLimit& limit : whole->limits) limit.local_share = 1'000'000;
    return whole;
  }
  void set_clocks() override {
    memory_->now = now_;
    clock_.set(now_);
    if (GetParam() == Where::redis) redis().now = now_;
  }

  Decision throttle(std::string_view key, const Limit& limit, std::uint64_t quantity = 1) {
    set_clocks();
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    batch->add_throttle(evaluator_->seek_throttle(key), key, core::Gcra::Limit(limit), Cost{quantity});
    EXPECT_TRUE(batch->submit());
    return batch->throttle(0);
  }

 private:
  static store::redis::ScriptStore& redis() {
    static store::redis::ScriptStore one;
    return one;
  }

  // Returns an empty store.
  store::Store* new_store() {
    outage_.reset();
    memory_ = std::make_unique<store::MemoryStore>();
    switch (GetParam()) {
      case Where::local:
        return nullptr;
      case Where::memory:
        return memory_.get();
      case Where::redis:
        redis().server.ask({"FLUSHALL"});
        return &redis();
      case Where::outage_down:
        memory_->failing = store::Failure::unavailable;
        [[fallthrough]];
      case Where::outage_up:
        break;
    }
    return &outage_.emplace(*memory_, clock_, 10ms, engine_->has_charges());
  }

  SetClock clock_{Instant{}};
  std::unique_ptr<store::MemoryStore> memory_ = std::make_unique<store::MemoryStore>();
  std::optional<store::OutageStore> outage_;
  std::unique_ptr<store::ThrottleTable> throttle_;
};

}  // namespace weir::engine
