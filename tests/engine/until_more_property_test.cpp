// The time until more remains is exact, for every algorithm and every history.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

constexpr std::array algorithms = {
    "token_bucket", "gcra", "leaky_bucket", "queue", "fixed_window", "sliding_window_log", "sliding_window_counter"};

bool is_bucket(std::size_t algorithm) {
  return algorithm < 4;
}

std::int64_t any(std::int64_t low, std::int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(low, high + 1));
}

std::string policy_of(std::size_t algorithm, std::int64_t count, std::int64_t millis, std::int64_t capacity) {
  const std::string rate = std::to_string(count) + "/" + std::to_string(millis) + "ms";
  const bool is_queue = algorithm == 3;
  std::string text = "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: ";
  text += is_queue ? "leaky_bucket" : algorithms[algorithm];
  text += ", rate: " + rate;
  if (is_queue) text += ", queue: " + std::to_string(capacity);
  if (is_bucket(algorithm) && !is_queue) text += ", burst: " + std::to_string(capacity);
  return text + "}]}";
}

std::unique_ptr<Engine> engine_of(const std::string& policy) {
  const auto ruleset = ruleset_of(policy);
  RC_ASSERT(ruleset);
  return *Engine::create(ruleset, {.memory_budget = std::size_t{4} << 20, .hash_key = {1, 2}});
}

Query query_of(std::uint64_t cost, Duration max_wait) {
  Query query;
  query.ip = "203.0.113.1";
  query.cost = Cost{cost};
  query.max_wait = max_wait;
  query.wants_more_after = true;
  return query;
}

RC_GTEST_PROP(UntilMore, OneMoreIsAdmittedThenAndNotBefore, ()) {
  const auto algorithm = static_cast<std::size_t>(any(0, algorithms.size() - 1));
  const std::int64_t count = any(1, 40);
  const std::int64_t millis = any(1, 5000);
  const auto engine = engine_of(policy_of(algorithm, count, millis, any(1, 12)));
  const auto evaluator = engine->new_evaluator();
  const Duration max_wait = any(0, 2) == 0 ? Duration{any(0, millis * 1000)} : Duration::max();
  Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + Duration{any(0, 10'000'000)}};
  for (std::int64_t steps = any(1, 25); steps > 0; --steps) {
    now += Duration{any(0, 1) == 0 ? any(0, 3) : any(0, millis * 1500)};
    Query query = query_of(static_cast<std::uint64_t>(any(0, 4)), max_wait);
    query.peek = true;
    const Verdict imagined = evaluator->evaluate(query, now);
    const auto imagined_wait = imagined.outcomes[0].decision.more_after;
    query.peek = false;
    const Verdict verdict = evaluator->evaluate(query, now);
    const Outcome outcome = verdict.outcomes[0];
    const auto wait = outcome.decision.more_after;
    RC_ASSERT(imagined_wait == wait);
    RC_ASSERT(wait.has_value() == (outcome.decision.remaining < outcome.decision.limit));
    if (!wait) continue;
    Query more = query_of(outcome.decision.remaining + 1, max_wait);
    more.peek = true;
    RC_ASSERT(evaluator->evaluate(more, now + *wait).admitted);
    const Duration early = is_bucket(algorithm) ? 2us : 1us;
    RC_ASSERT(*wait > Duration::zero());
    if (*wait >= early) RC_ASSERT(!evaluator->evaluate(more, now + *wait - early).admitted);
  }
}

RC_GTEST_PROP(TimeToFill, IsTheLeastWholeTimeThatRefillsAll, ()) {
  const Rate rate{static_cast<std::uint64_t>(any(1, 100'000)), Duration{any(1, 10'000'000)}};
  const auto burst = static_cast<std::uint64_t>(any(1, 1000));
  const Limit limit = *Limit::gcra({rate, burst});
  const core::Gcra::Limit numbers(limit);
  core::Gcra::State state;
  const Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};
  RC_ASSERT(core::Gcra::decide(numbers, state, Cost{burst}, now).admitted);
  const Duration fill = core::time_to_fill(core::compile(limit));
  RC_ASSERT(core::Gcra::peek(numbers, state, Cost{burst}, now + fill).admitted);
  RC_ASSERT(!core::Gcra::peek(numbers, state, Cost{burst}, now + fill - 1us).admitted);
}

}  // namespace
}  // namespace weir::engine
