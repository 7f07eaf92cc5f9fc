// An engine whose limits are shared, on a store in the test's own memory.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "engine/hearing.h"
#include "tests/engine/engine_fixture.h"
#include "tests/set_clock.h"
#include "tests/store/memory_shared_store.h"

namespace weir::engine {

struct SharedEngine {
  explicit SharedEngine(std::string_view text)
      : engine(*Engine::create(ruleset_of(text), {.memory_budget = std::size_t{64} << 20,
                                                  .hash_key = {1, 2},
                                                  .shared_keys = std::make_shared<store::SharedKeys>("weir:", "")})),
        access{&store, &clock},
        judge(engine->new_judge(nullptr, &access)),
        hearing(judge->new_hearing()) {}

  void at(Instant now) {
    store.now = now;
    clock.set(now);
  }

  // Asks and has the store answer.
  const Result<Verdict>& send(const Query& query) {
    hearing->clear();
    hearing->add(query);
    hearing->begin([] {});
    store.deliver_all();
    return hearing->verdict(0);
  }
  const Result<Verdict>& send(const Request& request) { return send(Asked(request).query()); }
  bool passes(const Request& request) { return send(request)->admitted; }
  int passing(const Request& request, int count) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += passes(request) ? 1 : 0;
    return passed;
  }

  std::uint64_t path(StorePath path) const { return engine->store_paths()[static_cast<std::size_t>(path)]; }

  store::MemorySharedStore store;
  SetClock clock{Instant{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + std::chrono::hours(12)}};
  std::unique_ptr<Engine> engine;
  SharedAccess access;
  std::unique_ptr<Judge> judge;
  std::shared_ptr<Hearing> hearing;
};

}  // namespace weir::engine
