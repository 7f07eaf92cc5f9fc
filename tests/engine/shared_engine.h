// An engine on a shared store in the test's memory, which can become unavailable.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "engine/engine.h"
#include "store/outage/outage_store.h"
#include "store/shared_keys.h"
#include "tests/engine/engine_fixture.h"
#include "tests/set_clock.h"
#include "tests/store/memory_store.h"

namespace weir::engine {

struct SharedEngine {
  // `max_new_keys` is per limit and second; 0: no bound.
  explicit SharedEngine(std::string_view text, std::uint64_t max_new_keys = 0)
      : engine(*Engine::create(
            ruleset_of(text),
            {.memory_budget = std::size_t{64} << 20,
             .hash_key = {1, 2},
             .shared_keys = std::make_shared<store::SharedKeys>("weir:", ""),
             .known_keys = max_new_keys == 0 ? nullptr : std::make_shared<store::KnownKeys>(std::size_t{1} << 16),
             .max_new_keys = max_new_keys})),
        outage(store, clock, 10ms, engine->has_charges()),
        throttle(*store::ThrottleTable::create(std::size_t{4} << 20, {1, 2})),
        evaluator(engine->new_evaluator({.store = &outage, .clock = &clock, .throttle = throttle.get()})),
        batch(evaluator->new_batch()) {
    at(clock.now());
  }

  void at(Instant now) {
    store.now = now;
    clock.set(now);
  }
  void stop_store() { store.failing = store::Failure::unavailable; }
  void start_store() { store.failing = store::Failure::none; }

  // Requires a store that answers at once.
  const Verdict& send(const Query& query) {
    batch->clear();
    batch->add(query);
    EXPECT_TRUE(batch->submit());
    return batch->verdict(0);
  }
  const Verdict& send(const Request& request) { return send(Asked(request).query()); }
  bool passes(const Request& request) { return send(request).admitted; }
  int passing(const Request& request, int count) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += passes(request) ? 1 : 0;
    return passed;
  }
  bool send(std::string_view domain, std::span<const DescriptorQuery> asks) {
    batch->clear();
    batch->add(domain, asks);
    EXPECT_TRUE(batch->submit());
    return batch->verdict(0).admitted;
  }
  // Null on success.
  const Error* reset(const NamedQuery& named) {
    batch->clear();
    batch->add_reset(named);
    EXPECT_TRUE(batch->submit());
    return batch->error(0);
  }

  [[nodiscard]] std::uint64_t path(Path path) const { return engine->store_paths()[static_cast<std::size_t>(path)]; }

  store::MemoryStore store;
  SetClock clock{Instant{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + std::chrono::hours(12)}};
  std::unique_ptr<Engine> engine;
  store::OutageStore outage;
  std::unique_ptr<store::ThrottleTable> throttle;
  std::unique_ptr<Evaluator> evaluator;
  EvaluationBatchPtr batch;
};

constexpr auto six_per_minute = R"(
version: 1
limits:
  - { name: api, consumer_key: ip, algorithm: token_bucket, rate: 6/min, burst: 10 }
)";

}  // namespace weir::engine
