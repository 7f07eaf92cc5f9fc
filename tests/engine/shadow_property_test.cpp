// Candidates and shadow limits cannot change a live decision.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/every_kind.h"

namespace weir::engine {
namespace {

// every_kind_of_limit without candidates and shadow limits.
constexpr auto without_candidates = R"(
version: 1
limits:
  - { name: a, consumer_key: ip, algorithm: token_bucket, rate: 10/min, burst: 4, warn_first: { count: 2, per: 1h } }
  - { name: b, routes: [/x], consumer_key: global, algorithm: sliding_window_counter, rate: 9/min }
  - { name: c, consumer_key: ip, algorithm: fixed_window, rate: 20/min, penalty: { after: 3, within: 1min, block: 2min } }
  - { name: q, routes: [/x], consumer_key: ip, algorithm: leaky_bucket, rate: 30/min, queue: 3 }
)";

struct Evaluated {
  explicit Evaluated(std::string_view text)
      : engine(*Engine::create(ruleset_of(text), {.memory_budget = std::size_t{64} << 20, .hash_key = {}})),
        evaluator(engine->new_evaluator()) {}

  Verdict send(const Step& step, Instant now) { return evaluator->evaluate(Asked(step.request()).query(), now); }
  std::string name_of(const Verdict& verdict) const {
    return verdict.limit == Verdict::no_limit ? "" : evaluator->bindings().ruleset().limits[verdict.limit].name;
  }

  std::unique_ptr<Engine> engine;
  std::unique_ptr<Evaluator> evaluator;
};

RC_GTEST_PROP(Shadow, CandidatesAndShadowLimitsChangeNoLiveDecision, ()) {
  static Evaluated without(without_candidates);  // both keep their states from trace to trace
  static Evaluated with(every_kind_of_limit);
  static Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};
  for (const Step& step : *steps()) {
    now += std::chrono::milliseconds{step.wait_ms};
    const Verdict expected = without.send(step, now);
    const Verdict actual = with.send(step, now);
    RC_ASSERT(actual.admitted == expected.admitted);
    RC_ASSERT(actual.reason == expected.reason);
    RC_ASSERT(actual.decision == expected.decision);
    RC_ASSERT(actual.retry_after == expected.retry_after);
    RC_ASSERT(with.name_of(actual) == without.name_of(expected));
  }
}

}  // namespace
}  // namespace weir::engine
