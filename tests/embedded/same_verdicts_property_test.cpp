// The public API returns the same verdicts, header fields and problems as the engine, for every kind of limit.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "answer/answer.h"
#include "engine/engine.h"
#include "tests/embedded/embedded_fixture.h"
#include "tests/engine/every_kind.h"

namespace weir::embedded {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields fields_of_server(const policy::Ruleset& ruleset, const engine::Verdict& verdict) {
  Fields fields;
  const auto answer = answer::answer_fields(ruleset, verdict);
  if (!answer) return fields;
  wire::for_each_field(*answer, {}, verdict.at,
                       [&](std::string_view name, std::string_view value) { fields.emplace_back(name, value); });
  if (verdict.reason == engine::Reason::warned) fields.emplace_back(answer::warning_field, answer->policy);
  return fields;
}

Fields fields_in_order(const Verdict& verdict) {
  Fields fields;
  for (const auto& [name, value] : verdict.fields()) fields.emplace_back(name, value);
  return fields;
}

void expect_same(const Verdict& verdict, const engine::Verdict& inner, const policy::Ruleset& ruleset) {
  RC_ASSERT(verdict.admitted == inner.admitted);
  RC_ASSERT(verdict.reason == inner.reason);
  RC_ASSERT(verdict.status() == answer::status_of(inner));
  RC_ASSERT(verdict.limit == answer::limit_name(ruleset, inner));
  RC_ASSERT(verdict.decision == inner.decision);
  RC_ASSERT(verdict.retry_after == inner.retry_after);
  RC_ASSERT(verdict.delay == inner.delay);
  RC_ASSERT(verdict.route == inner.route);
  RC_ASSERT(fields_in_order(verdict) == fields_of_server(ruleset, inner));
  std::string problem;
  if (!inner.admitted) answer::append_denial(problem, ruleset, inner);
  RC_ASSERT(verdict.problem() == problem);
}

// Evaluates one by one, then in batches of all requests of a second.
RC_GTEST_PROP(SameVerdicts, AsTheEvaluatorGives, ()) {
  const auto steps = *engine::steps();
  const auto ruleset = match::ruleset_of(engine::every_kind_of_limit);
  const auto inner = *engine::Engine::create(ruleset, {.memory_budget = std::size_t{4} << 20, .hash_key = {1, 2}});
  const auto evaluator = inner->new_evaluator();
  const auto clock = std::make_shared<ManualClock>(Instant{2'000'000'000s});
  const Policy policy = policy_of(engine::every_kind_of_limit);
  const Engine::Options options{.memory_budget = std::size_t{4} << 20, .clock = clock};
  auto one_by_one = *Engine::create(policy, options);
  auto in_batches = *Engine::create(policy, options);
  for (const engine::Step& step : steps) {
    clock->advance(std::chrono::milliseconds(step.wait_ms));
    match::Request request = step.request();
    if (step.kind == 0) request.only_looking();
    if (step.kind == 1) request.max_wait = Duration::zero();
    const match::Asked asked(request);
    const Query query{.method = request.method,
                      .path = request.target,
                      .ip = request.ip,
                      .cost = request.cost,
                      .max_wait = request.max_wait,
                      .peek = request.peek};
    const std::array queries{query, query};
    std::array<Verdict, 2> batch;
    in_batches.evaluate(queries, batch);
    for (const Verdict& verdict : batch) {
      const engine::Verdict expected = evaluator->evaluate(asked.query(), clock->now());
      expect_same(one_by_one.evaluate(query), expected, *ruleset);
      expect_same(verdict, expected, *ruleset);
    }
  }
}

}  // namespace
}  // namespace weir::embedded
