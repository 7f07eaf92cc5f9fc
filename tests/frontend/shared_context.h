// A LoopContext with limits on a shared store that answers on request of the test, and connections that wait for it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/engine.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "net/session.h"
#include "policy/load.h"
#include "store/local/throttle_table.h"
#include "store/outage/outage_store.h"
#include "store/shared_keys.h"
#include "tests/store/memory_store.h"
#include "weir/clock.h"

namespace weir::frontend {

struct SharedContext {
  // `own` is for comparison.
  enum class Store { shared, own };

  static constexpr std::array<ReceiptKey, 1> receipt_keys{{{1, 2, 3}}};

  explicit SharedContext(std::string_view policy, Store kept = Store::shared)
      : engine(make_engine(policy, kept)),
        outage(store, clock, std::chrono::seconds(1), engine->has_charges()),
        throttle(*store::ThrottleTable::create(std::size_t{16} << 20, {3, 4})),
        context(*engine, clock, {}, {.store = kept == Store::shared ? &outage : nullptr, .throttle = throttle.get()},
                receipt_keys) {
    store.holds = true;
  }

  static std::unique_ptr<engine::Engine> make_engine(std::string_view policy, Store kept) {
    const policy::Loaded loaded = policy::load_text(policy, "policy.yaml");
    for (const text::Problem& problem : loaded.problems) {
      if (problem.severity == text::Severity::error) ADD_FAILURE() << problem.text();
    }
    engine::Engine::Options options{.memory_budget = std::size_t{16} << 20, .hash_key = {1, 2}};
    if (kept == Store::shared) options.shared_keys = std::make_shared<store::SharedKeys>("weir:", "");
    auto made = engine::Engine::create(loaded.ruleset, options);
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }

  void make_store_unavailable() { store.failing = store::Failure::unavailable; }

  store::MemoryStore store;
  ManualClock clock{store.now};
  Health health;
  std::unique_ptr<engine::Engine> engine;
  store::OutageStore outage;
  std::unique_ptr<store::ThrottleTable> throttle;
  LoopContext context;
};

// One connection, which calls its session like net/connection.cpp. The input of a paused session does not move;
// otherwise unconsumed input moves between calls.
class Conversation {
 public:
  Conversation() = default;
  explicit Conversation(std::unique_ptr<net::Session> session) : session_(std::move(session)) {}

  // Returns the immediate answer to all input so far.
  std::string send(std::string_view bytes) {
    arrived_ += bytes;
    offer();
    return std::exchange(out_.bytes(), {});
  }

  std::string resume() {
    resume_output();
    session_->on_resume(out_);
    offer();
    return std::exchange(out_.bytes(), {});
  }

  std::string drain() {
    session_->on_drain(out_);
    return std::exchange(out_.bytes(), {});
  }

  std::string tick(net::SteadyTime now) {
    session_->on_tick(now, out_);
    return std::exchange(out_.bytes(), {});
  }

  // The peer closes its side.
  void end() { session_->on_end(out_); }

  void hang_up() { session_.reset(); }

  [[nodiscard]] bool idle() const { return session_->idle(); }
  [[nodiscard]] bool paused() const noexcept { return out_.paused(); }
  [[nodiscard]] bool closing() const noexcept { return out_.closing(); }

 private:
  void resume_output() {
    net::Output fresh;
    fresh.append(out_.bytes());
    if (out_.closing()) fresh.close_after();
    out_ = std::move(fresh);
  }

  void offer() {
    while (!arrived_.empty() && !out_.closing() && !out_.paused()) {
      input_ = std::make_unique<char[]>(arrived_.size());  // exact size, so that a sanitizer detects overruns
      arrived_.copy(input_.get(), arrived_.size());
      const std::size_t consumed = session_->on_input({input_.get(), arrived_.size()}, out_);
      arrived_.assign(input_.get() + consumed, arrived_.size() - consumed);
      if (!out_.paused()) input_.reset();
      if (consumed == 0) return;
    }
  }

  std::unique_ptr<char[]> input_;
  std::string arrived_;
  net::Output out_;
  std::unique_ptr<net::Session> session_;  // destroyed before its input
};

}  // namespace weir::frontend
