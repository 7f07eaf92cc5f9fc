// Evaluators on many threads admit exactly what a single one would, while policies are reloaded.
#include <atomic>
#include <thread>

#include "tests/engine/engine_fixture.h"
#include "tests/temporary_folder.h"

namespace weir::engine {
namespace {

std::string policy_with_burst(int burst, std::string_view rate) {
  return "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: token_bucket, rate: " + std::string(rate) +
         ", burst: " + std::to_string(burst) +
         "}, {name: b, consumer_key: global, algorithm: fixed_window, rate: 100000/day}]}";
}

TEST(EngineStress, ThreadsAdmitExactlyTheBurstOverReloads) {
  const Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  const auto engine = *Engine::create(ruleset_of(policy_with_burst(500, "1/s")),
                                      {.memory_budget = std::size_t{64} << 20, .hash_key = {5, 6}});
  std::atomic<int> admitted{0};
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const auto evaluator = engine->new_evaluator();
        for (int i = 0; i < 5000; ++i) {
          const Request request = Request::to("GET /").from("203.0.113." + std::to_string((i + t) % 3));
          if (evaluator->evaluate(Asked(request).query(), now).admitted) admitted.fetch_add(1);
        }
      });
    }
    std::jthread reloader([&] {
      // The second rate needs wider cells, so the states move once; a token takes a ten-thousandth longer.
      for (int i = 0; !stop.load(); ++i) {
        const auto done =
            engine->reload(ruleset_of(policy_with_burst(500, i % 2 == 0 ? "10007/10008s" : "1/s")), SetClock(now));
        ASSERT_TRUE(done);
      }
    });
    for (auto& thread : threads) thread.join();
    stop = true;
  }
  // Nothing refills: time stands still. The last token of a consumer may fit only the other rate.
  EXPECT_LE(admitted.load(), 3 * 500);
  EXPECT_GE(admitted.load(), 3 * 499);
  const auto totals = engine->totals();
  EXPECT_EQ(totals.by_limit_and_route.at({"a", "other"})[static_cast<std::size_t>(Event::admitted)],
            static_cast<std::uint64_t>(admitted.load()));
}

// Each policy has its own limits and routes, so that a view into the previous one would show.
std::string policy_of_generation(int generation) {
  const std::string name = "limit-of-generation-" + std::to_string(generation);
  const std::string route = "GET /generation-" + std::to_string(generation) + "/and/a/long/tail";
  return "{version: 1, limits: [{name: " + name + ", consumer_key: ip, algorithm: gcra, rate: 1000/s, burst: 1000}, " +
         "{name: " + name + "-by-route, routes: [" + route +
         "], consumer_key: ip+route, algorithm: sliding_window_log, rate: 1000/h}]}";
}

TEST(EngineStress, LockedEvaluatorsReadVerdictsAndBindingsWhileAnotherThreadReloadsAndSaves) {
  const TemporaryFolder folder;
  const Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  const auto engine = *Engine::create(ruleset_of(policy_of_generation(0)),
                                      {.memory_budget = std::size_t{64} << 20, .hash_key = {5, 6}});
  std::atomic<bool> stop{false};
  std::atomic<int> mixed{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto evaluator = engine->new_evaluator();
      const Asked asked(Request::to("GET /generation-1/and/a/long/tail").from("203.0.113." + std::to_string(t)));
      while (!stop.load()) {
        const auto lock = evaluator->lock();
        const Verdict verdict = evaluator->evaluate(asked.query(), now);
        const std::string name = evaluator->bindings().ruleset().limits[verdict.limit].name;
        const std::string generation = name.substr(0, name.find("-by-route"));
        const bool is_first = verdict.route == "GET /generation-1/and/a/long/tail";
        if (is_first != (generation == "limit-of-generation-1")) mixed.fetch_add(1);
        const auto named = evaluator->evaluate(NamedQuery{.limit = generation, .consumer = "203.0.113.9"}, now);
        if (!named || evaluator->bindings().limits()[named->limit].source->name != generation) mixed.fetch_add(1);
      }
    });
  }
  for (int i = 1; i <= 60; ++i) {
    ASSERT_TRUE(engine->reload(ruleset_of(policy_of_generation(i % 3)), SetClock(now)));
    if (i % 10 == 0) {
      ASSERT_TRUE(engine->save(folder.path(), now));
    }
    std::ignore = engine->table_figures(now);
    std::ignore = engine->totals();
  }
  stop = true;
  threads.clear();
  EXPECT_EQ(mixed.load(), 0);
}

}  // namespace
}  // namespace weir::engine
