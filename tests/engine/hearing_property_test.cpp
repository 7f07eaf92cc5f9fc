// Judged on a shared store, a query gets the verdict that it gets on tables.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/hearing_fixture.h"

namespace weir::engine {
namespace {

constexpr auto policy_text = R"(
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
  - { name: q, routes: [/x], consumer_key: ip, algorithm: leaky_bucket, rate: 30/min, queue: 3 }
)";

struct Step {
  unsigned client;
  bool to_x;
  unsigned cost;
  unsigned wait_ms;
  unsigned kind;
};

RC_GTEST_PROP(Hearing, VerdictsAreThoseOfTables, ()) {
  const auto steps = *rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::inRange(1U, 4U), rc::gen::arbitrary<bool>(), rc::gen::inRange(0U, 5U),
                               rc::gen::inRange(0U, 20'000U), rc::gen::inRange(0U, 10U)));
  static SharedEngine shared(policy_text);  // states go on from trace to trace, in both alike
  static const auto tables =
      *Engine::create(ruleset_of(policy_text), {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
  static const auto judge = tables->new_judge();
  static Instant now = shared.clock.now();
  for (const Step& step : steps) {
    now += std::chrono::milliseconds{step.wait_ms};
    shared.at(now);
    Request request = Request::to(step.to_x ? "GET /x" : "GET /y")
                          .from("203.0.113." + std::to_string(step.client))
                          .costing(step.cost);
    request.peek = step.kind == 0;
    if (step.kind == 1) request.max_wait = 1s;
    const Asked asked(request);
    const Verdict expected = judge->judge(asked.query(), now);
    const auto& actual = shared.send(asked.query());
    RC_ASSERT(actual.has_value());
    RC_ASSERT(actual->admitted == expected.admitted);
    RC_ASSERT(actual->reason == expected.reason);
    RC_ASSERT(actual->limit == expected.limit);
    RC_ASSERT(actual->decision == expected.decision);
    RC_ASSERT(actual->retry_after == expected.retry_after);
    RC_ASSERT(actual->delay == expected.delay);
    RC_ASSERT(actual->at == expected.at);
    RC_ASSERT(actual->outcomes.size() == expected.outcomes.size());
    for (std::size_t i = 0; i < expected.outcomes.size(); ++i) {
      RC_ASSERT(actual->outcomes[i].candidate == expected.outcomes[i].candidate);
      RC_ASSERT(actual->outcomes[i].decision.admitted == expected.outcomes[i].decision.admitted);
    }
  }
  RC_ASSERT(shared.engine->totals().by_limit_and_route == tables->totals().by_limit_and_route);
}

constexpr auto domain_text = R"(
domain: messaging
descriptors:
  - key: to
    rate_limit: { unit: minute, requests_per_unit: 4, name: per-number }
    descriptors:
      - key: kind
        value: marketing
        rate_limit: { unit: minute, requests_per_unit: 1, name: marketing, replaces: [{ name: per-number }] }
  - { key: to, value: "2*", rate_limit: { unit: minute, requests_per_unit: 3 }, share_threshold: true }
  - { key: all, rate_limit: { unit: minute, requests_per_unit: 6 } }
  - { key: quiet, rate_limit: { unit: minute, requests_per_unit: 1 }, shadow_mode: true }
)";

struct Call {
  std::vector<unsigned> kinds;
  unsigned number;
  unsigned hits;
  unsigned wait_s;
  bool overrides;
};

RC_GTEST_PROP(Hearing, StatusesOfDescriptorsAreThoseOfTables, ()) {
  const auto calls = *rc::gen::container<std::vector<Call>>(rc::gen::construct<Call>(
      rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 5U)), rc::gen::inRange(1U, 30U),
      rc::gen::inRange(0U, 3U), rc::gen::inRange(0U, 20U), rc::gen::arbitrary<bool>()));
  static SharedEngine shared(domain_text);
  static const auto tables =
      *Engine::create(ruleset_of(domain_text), {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
  static const auto judge = tables->new_judge();
  static Instant now = shared.clock.now();
  for (const Call& call : calls) {
    now += std::chrono::seconds{call.wait_s};
    shared.at(now);
    const std::string number = std::to_string(call.number);
    const std::vector<std::vector<DescriptorEntry>> forms{{{"to", number}},
                                                          {{"to", number}, {"kind", "marketing"}},
                                                          {{"all", "x"}},
                                                          {{"quiet", "x"}},
                                                          {{"unknown", number}}};
    std::vector<DescriptorAsk> asks;
    for (const unsigned kind : call.kinds) asks.push_back({forms[kind], Cost{call.hits}, {}});
    if (call.overrides && !asks.empty()) asks[0].limit_override = WindowNumbers{2, std::chrono::seconds(60)};
    if (asks.size() > 8) asks.resize(8);
    std::vector<DescriptorStatus> expected(asks.size());
    const bool admitted = judge->judge("messaging", asks, now, expected);
    shared.hearing->clear();
    shared.hearing->add("messaging", asks);
    shared.hearing->begin([] {});
    shared.store.deliver_all();
    RC_ASSERT(shared.hearing->over());
    RC_ASSERT(shared.hearing->admitted(0) == admitted);
    const auto actual = shared.hearing->statuses(0);
    RC_ASSERT(actual.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      RC_ASSERT(actual[i].kind == expected[i].kind);
      RC_ASSERT(actual[i].admitted == expected[i].admitted);
      RC_ASSERT(actual[i].decision == expected[i].decision);
      RC_ASSERT(actual[i].name == expected[i].name);
    }
  }
}

}  // namespace
}  // namespace weir::engine
