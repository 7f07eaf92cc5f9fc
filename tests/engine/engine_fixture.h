// A fixture for tests of the engine: loads a policy, sends requests on virtual time, reads the results.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/evaluator.h"
#include "match/consumer.h"
#include "tests/match/request.h"
#include "tests/set_clock.h"

namespace weir::engine {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

using match::Asked;
using match::Request;
using match::ruleset_of;

class EngineTest : public testing::Test {
 protected:
  void load(std::string_view text) {
    const auto ruleset = prepared(ruleset_of(text));
    ASSERT_TRUE(ruleset);
    auto made = Engine::create(ruleset, options());
    ASSERT_TRUE(made) << made.error().message();
    evaluator_.reset();
    engine_ = std::move(*made);
    evaluator_ = engine_->new_evaluator(evaluator_options());
  }

  void reload(std::string_view text) {
    const auto ruleset = prepared(ruleset_of(text));
    ASSERT_TRUE(ruleset);
    const auto done = engine_->reload(ruleset, SetClock(now_));
    ASSERT_TRUE(done) << done.error().message();
  }

  void advance(Duration time) { now_ += time; }

  Verdict send(const Request& request) {
    set_clocks();
    return evaluator_->evaluate(Asked(request).query(), now_);
  }
  bool passes(const Request& request) { return send(request).admitted; }

  // Returns how many of `count` equal requests pass now.
  int passing(const Request& request, int count) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += passes(request) ? 1 : 0;
    return passed;
  }

  Result<Verdict> send(const NamedQuery& named) {
    set_clocks();
    return evaluator_->evaluate(named, now_);
  }
  std::string consumer_of(const NamedQuery& named) {
    const EvaluationBatchPtr batch = evaluator_->new_batch();
    batch->add(named);
    set_clocks();
    EXPECT_TRUE(batch->submit(now_));
    return match::describe_consumer(batch->consumer(0));
  }
  Result<void> reset(const NamedQuery& named) {
    set_clocks();
    return evaluator_->reset(named, now_);
  }

  [[nodiscard]] const Bindings& bindings() const { return evaluator_->bindings(); }
  [[nodiscard]] std::string limit_of(const Verdict& verdict) const {
    return verdict.limit == Verdict::no_limit ? "none" : bindings().ruleset().limits[verdict.limit].name;
  }

  [[nodiscard]] std::uint64_t total(Event event) const {
    std::uint64_t sum = 0;
    for (const auto& [name, events] : engine_->totals().by_limit_and_route)
      sum += events[static_cast<std::size_t>(event)];
    return sum;
  }

  // Overridden by tests on other stores.
  virtual Engine::Options options() { return {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}}; }
  virtual EvaluatorOptions evaluator_options() { return {}; }
  virtual std::shared_ptr<const policy::Ruleset> prepared(std::shared_ptr<const policy::Ruleset> ruleset) {
    return ruleset;
  }
  virtual void set_clocks() {}  // sets the time to now_

  Instant now_{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace weir::engine
