// Nothing that a candidate or a shadow limit does can change a live decision.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

constexpr auto without_candidates = R"(
version: 1
limits:
  - { name: a, consumer_key: ip, algorithm: token_bucket, rate: 10/min, burst: 4, warn_first: { count: 2, per: 1h } }
  - { name: b, routes: [/x], consumer_key: global, algorithm: sliding_window_counter, rate: 9/min }
  - { name: c, consumer_key: ip, algorithm: fixed_window, rate: 20/min, penalty: { after: 3, within: 1min, block: 2min } }
)";

constexpr auto with_candidates = R"(
version: 1
limits:
  - name: a
    consumer_key: ip
    algorithm: token_bucket
    rate: 10/min
    burst: 4
    warn_first: { count: 2, per: 1h }
    candidate: { algorithm: sliding_window_log, rate: 3/min }
  - { name: s1, consumer_key: ip, algorithm: gcra, rate: 1/min, mode: shadow }
  - name: b
    routes: [/x]
    consumer_key: global
    algorithm: sliding_window_counter
    rate: 9/min
    candidate: { rate: 2/min }
  - { name: s2, routes: [/x], consumer_key: global, algorithm: fixed_window, rate: 1/min, mode: shadow }
  - name: c
    consumer_key: ip
    algorithm: fixed_window
    rate: 20/min
    penalty: { after: 3, within: 1min, block: 2min }
    candidate: { algorithm: token_bucket, rate: 5/min, burst: 50 }
)";

struct Step {
  unsigned client;
  bool to_x;
  unsigned cost;
  unsigned wait_ms;
};

struct Evaluated {
  explicit Evaluated(std::string_view text)
      : engine(*Engine::create(ruleset_of(text), {.memory_budget = std::size_t{64} << 20, .hash_key = {}})),
        evaluator(engine->new_evaluator()) {}

  Verdict send(const Step& step, Instant now) {
    const Request request = Request::to(step.to_x ? "GET /x" : "GET /y")
                                .from("203.0.113." + std::to_string(step.client))
                                .costing(step.cost);
    return evaluator->evaluate(Asked(request).query(), now);
  }
  std::string name_of(const Verdict& verdict) const {
    return verdict.limit == Verdict::no_limit ? "" : evaluator->bindings().ruleset().limits[verdict.limit].name;
  }

  std::unique_ptr<Engine> engine;
  std::unique_ptr<Evaluator> evaluator;
};

RC_GTEST_PROP(Shadow, CandidatesAndShadowLimitsChangeNoLiveDecision, ()) {
  const auto steps = *rc::gen::container<std::vector<Step>>(rc::gen::construct<Step>(
      rc::gen::inRange(1U, 4U), rc::gen::arbitrary<bool>(), rc::gen::inRange(0U, 5U), rc::gen::inRange(0U, 20'000U)));
  static Evaluated without(without_candidates);  // states go on from trace to trace, in both alike
  static Evaluated with(with_candidates);
  static Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};
  for (const Step& step : steps) {
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
