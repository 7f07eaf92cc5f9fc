// A LoopContext on virtual time, and a connection to a session without sockets.
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
#include "table/hash_key.h"
#include "weir/clock.h"

namespace weir::frontend {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

inline std::shared_ptr<const policy::Ruleset> ruleset_of(std::string_view text) {
  const policy::Loaded loaded = policy::load_text(text, "policy.yaml");
  for (const text::Problem& problem : loaded.problems) {
    if (problem.severity == text::Severity::error) ADD_FAILURE() << problem.text();
  }
  return loaded.ruleset;
}

inline std::unique_ptr<engine::Engine> engine_of(std::string_view policy) {
  engine::Engine::Options options;
  options.hash_key = table::HashKey{};
  auto engine = engine::Engine::create(ruleset_of(policy), options);
  EXPECT_TRUE(engine) << engine.error().message();
  return std::move(*engine);
}

inline constexpr std::array<ReceiptKey, 1> receipt_test_keys{{{1, 2, 3}}};
inline constexpr Instant noon{std::chrono::hours{24 * 365 * 56}};

struct ContextFixture {
  explicit ContextFixture(std::string_view policy, Settings settings = {})
      : clock(noon), engine(engine_of(policy)), context(*engine, clock, settings, {}, receipt_test_keys) {}

  ManualClock clock;
  Health health;
  std::unique_ptr<engine::Engine> engine;
  LoopContext context;
};

// One connection. Unconsumed input moves between calls.
class Talk {
 public:
  explicit Talk(std::unique_ptr<net::Session> session, std::size_t output_bound = net::Output::default_bound)
      : session_(std::move(session)), out_(output_bound) {}

  // Returns the answer to all unconsumed input.
  std::string send(std::string_view bytes) {
    pending_ += bytes;
    offer();
    return std::exchange(out_.bytes(), {});
  }

  // Ends the wait for a delayed response.
  std::string resume() {
    session_->on_resume(out_);
    return std::exchange(out_.bytes(), {});
  }

  std::string drain() {
    session_->on_drain(out_);
    return std::exchange(out_.bytes(), {});
  }

  [[nodiscard]] net::Session& session() noexcept { return *session_; }
  [[nodiscard]] bool closing() const noexcept { return out_.closing(); }
  [[nodiscard]] bool paused() const noexcept { return out_.paused(); }
  [[nodiscard]] std::string_view pending() const noexcept { return pending_; }

 private:
  void offer() {
    if (pending_.empty() || out_.closing() || out_.paused()) return;
    auto bytes = std::make_unique<char[]>(pending_.size());
    pending_.copy(bytes.get(), pending_.size());
    const std::size_t consumed = session_->on_input({bytes.get(), pending_.size()}, out_);
    pending_.assign(bytes.get() + consumed, pending_.size() - consumed);
  }

  std::unique_ptr<net::Session> session_;
  net::Output out_;
  std::string pending_;
};

}  // namespace weir::frontend
