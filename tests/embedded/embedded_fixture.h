// A fixture for tests of the public API: an engine on a clock that the test sets.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "weir/clock.h"
#include "weir/engine.h"

namespace weir::embedded {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

inline Policy policy_of(std::string_view text) {
  auto policy = Policy::parse(text, "policy.yaml");
  EXPECT_TRUE(policy) << policy.error().message();
  return *std::move(policy);
}

inline std::map<std::string, std::string> fields_of(const Verdict& verdict, const FieldChoice& choice = {}) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : verdict.fields(choice)) fields.emplace(name, value);
  return fields;
}

class EmbeddedTest : public testing::Test {
 protected:
  void load(std::string_view text, std::size_t memory_budget = std::size_t{64} << 20) {
    auto made = Engine::create(policy_of(text), {.memory_budget = memory_budget, .clock = clock_});
    ASSERT_TRUE(made) << made.error().message();
    engine_ = std::make_unique<Engine>(*std::move(made));
  }

  void reload(std::string_view text) {
    const auto done = engine_->reload(policy_of(text));
    ASSERT_TRUE(done) << done.error().message();
  }

  Verdict send(std::string_view path, std::string_view ip = "203.0.113.7") {
    return engine_->evaluate({.path = path, .ip = ip});
  }

  // Returns how many of `count` equal requests pass now.
  int passing(std::string_view path, int count) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += send(path) ? 1 : 0;
    return passed;
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(Instant{2'000'000'000s});
  std::unique_ptr<Engine> engine_;
};

}  // namespace weir::embedded
