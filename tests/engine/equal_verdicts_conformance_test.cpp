// Every store returns the same verdict as the local tables, whatever the history.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/engine/every_kind.h"
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

class EqualVerdictsTest : public StoreTest {
 protected:
  // Resets both.
  void load_both(std::string_view text) {
    load(text);
    local_evaluator_.reset();
    local_ = *Engine::create(ruleset_of(text), {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
    local_evaluator_ = local_->new_evaluator();
  }
  [[nodiscard]] static bool asks_candidates() { return GetParam() != Where::outage_down; }

  std::unique_ptr<Engine> local_;
  std::unique_ptr<Evaluator> local_evaluator_;
};
INSTANTIATE_TEST_SUITE_P(Stores, EqualVerdictsTest,
                         testing::Values(Where::memory, Where::redis, Where::outage_up, Where::outage_down),
                         store_name);

TEST_P(EqualVerdictsTest, OfRequests) {
  load_both(every_kind_of_limit);  // both keep their states from trace to trace
  const bool holds = rc::check([&] {
    for (const Step& step : *steps()) {
      advance(std::chrono::milliseconds{step.wait_ms});
      Request request = step.request();
      request.peek = step.kind == 0;
      if (step.kind == 1) request.max_wait = 1s;
      const Asked asked(request);
      const Verdict expected = local_evaluator_->evaluate(asked.query(), now_);
      const Verdict actual = send(request);
      RC_ASSERT(actual.admitted == expected.admitted);
      RC_ASSERT(actual.reason == expected.reason);
      RC_ASSERT(actual.limit == expected.limit);
      RC_ASSERT(actual.decision == expected.decision);
      RC_ASSERT(actual.retry_after == expected.retry_after);
      RC_ASSERT(actual.delay == expected.delay);
      RC_ASSERT(actual.at == expected.at);
      RC_ASSERT(actual.outcomes.size() == expected.outcomes.size());
      for (std::size_t i = 0; i < expected.outcomes.size(); ++i) {
        if (asks_candidates()) RC_ASSERT(actual.outcomes[i].candidate == expected.outcomes[i].candidate);
        RC_ASSERT(actual.outcomes[i].decision == expected.outcomes[i].decision);
      }
    }
    if (asks_candidates()) RC_ASSERT(engine_->totals().by_limit_and_route == local_->totals().by_limit_and_route);
  });
  EXPECT_TRUE(holds);
}

constexpr auto every_kind_of_descriptor = R"(
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
  - { key: backend, value: first, quota_mode: true, rate_limit: { unit: minute, requests_per_unit: 2 } }
  - { key: backend, value: second, quota_mode: true, rate_limit: { unit: minute, requests_per_unit: 3 } }
  - { key: mallory, rate_limit: { unit: minute, requests_per_unit: 0 } }
  - { key: quiet, rate_limit: { unit: minute, requests_per_unit: 1 }, shadow_mode: true }
)";

struct Call {
  std::vector<unsigned> kinds;
  unsigned number;
  unsigned hits;
  unsigned wait_s;
  unsigned brings;  // an override, or hits to give back
};

TEST_P(EqualVerdictsTest, OfDescriptors) {
  load_both(every_kind_of_descriptor);
  const bool holds = rc::check([&] {
    const auto calls = *rc::gen::container<std::vector<Call>>(rc::gen::construct<Call>(
        rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 8U)), rc::gen::inRange(1U, 30U),
        rc::gen::inRange(0U, 3U), rc::gen::inRange(0U, 20U), rc::gen::inRange(0U, 4U)));
    for (const Call& call : calls) {
      advance(std::chrono::seconds{call.wait_s});
      const std::string number = std::to_string(call.number);
      const std::vector<std::vector<DescriptorEntry>> forms{
          {{"to", number}},        {{"to", number}, {"kind", "marketing"}},
          {{"all", "x"}},          {{"quiet", "x"}},
          {{"unknown", number}},   {{"backend", "first"}},
          {{"backend", "second"}}, {{"mallory", "x"}}};
      std::vector<DescriptorQuery> asks;
      for (const unsigned kind : call.kinds) asks.push_back({forms[kind], Cost{call.hits}, {}});
      if (asks.size() > 8) asks.resize(8);
      if (call.brings == 0 && !asks.empty() && GetParam() != Where::outage_down) {
        asks[0].limit_override = WindowNumbers{2, std::chrono::seconds(60)};
      }
      if (call.brings == 1 && !asks.empty()) asks.back().gives_back = true;
      std::vector<DescriptorStatus> expected(asks.size());
      std::vector<DescriptorStatus> actual(asks.size());
      const bool admitted = local_evaluator_->evaluate("messaging", asks, now_, expected);
      set_clocks();
      RC_ASSERT(evaluator_->evaluate("messaging", asks, now_, actual) == admitted);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        RC_ASSERT(actual[i].kind == expected[i].kind);
        RC_ASSERT(actual[i].admitted == expected[i].admitted);
        RC_ASSERT(actual[i].decision == expected[i].decision);
        RC_ASSERT(actual[i].name == expected[i].name);
      }
    }
    RC_ASSERT(engine_->totals().by_limit_and_route == local_->totals().by_limit_and_route);
  });
  EXPECT_TRUE(holds);
}

// CL.THROTTLE, with limits that change under a key.
TEST_P(EqualVerdictsTest, OfCommands) {
  if (!asks_candidates()) return;  // half of the limit then: store_unavailable_test.cpp
  load_both(every_kind_of_limit);
  const auto table = *store::ThrottleTable::create(std::size_t{4} << 20, {1, 2});
  const bool holds = rc::check([&] {
    for (const Step& step : *steps()) {
      advance(std::chrono::milliseconds{step.wait_ms});
      const Limit limit = *Limit::gcra({{7, std::chrono::minutes(1)}, step.to_x ? 5U : 8U});
      const std::string key = "key" + std::to_string(step.client);
      const Decision expected = table->decide(core::Gcra::Limit(limit), table->seek(key), Cost{step.cost}, now_);
      RC_ASSERT(throttle(key, limit, step.cost) == expected);
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace weir::engine
