// Many threads on one engine admit exactly what one would, while policies are reloaded and states are saved.
#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/embedded/embedded_fixture.h"
#include "tests/temporary_folder.h"

namespace weir::embedded {
namespace {

std::string with_burst(int burst, std::string_view rate) {
  return "{version: 1, limits: [{name: burst-of-" + std::to_string(burst) +
         ", consumer_key: ip, algorithm: fixed_window, rate: " + std::to_string(burst) + "/" + std::string(rate) +
         "}, {name: held, routes: [/held], consumer_key: global, algorithm: concurrency, limit: 3, lease: 1h}]}";
}

// More threads than evaluators, so that some of them share one.
constexpr int thread_count = 80;

TEST_F(EmbeddedTest, ThreadsAdmitExactlyTheLimit) {
  load(with_burst(5'000, "day"));
  std::atomic<int> admitted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < thread_count; ++t) {
      threads.emplace_back([&] {
        std::vector<Query> queries(10, Query{.ip = "203.0.113.7"});
        std::vector<Verdict> verdicts(10);
        for (int i = 0; i < 10; ++i) {
          engine_->evaluate(queries, verdicts);
          for (const Verdict& verdict : verdicts) admitted += verdict.admitted ? 1 : 0;
          admitted += engine_->evaluate({.ip = "203.0.113.7"}) ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(admitted.load(), 5'000);
  const auto counts = engine_->counts();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].admitted, 5'000U);
  EXPECT_EQ(counts[0].denied, thread_count * 110U - 5'000U);
}

TEST_F(EmbeddedTest, VerdictsReadWhileAnotherThreadReloadsAndSavesAreWhole) {
  const TemporaryFolder folder;
  load(with_burst(1, "day"));
  std::atomic<bool> stop{false};
  std::atomic<int> mixed{0};
  std::atomic<int> running{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Verdict> kept;
      const std::string ip = "203.0.113." + std::to_string(t);
      while (!stop) {
        kept.push_back(engine_->evaluate({.ip = ip}));
        const Engine::Reservation held = engine_->hold({.path = "/held", .ip = ip});
        if (held && running.fetch_add(1) >= 3) mixed.fetch_add(1);
        for (const Verdict& verdict : kept) {
          const std::string expected = "burst-of-" + std::to_string(verdict.decision.limit);
          if (verdict.limit != expected) mixed.fetch_add(1);
          if (!verdict.admitted && verdict.problem().find(expected) == std::string::npos) mixed.fetch_add(1);
        }
        if (kept.size() > 16) kept.clear();
        if (held) {
          running.fetch_sub(1);
          if (!engine_->release(held.receipt)) mixed.fetch_add(1);
        }
      }
    });
  }
  for (int i = 1; i <= 60; ++i) {
    reload(with_burst(i % 3 + 1, "day"));
    if (i % 10 == 0) {
      ASSERT_TRUE(engine_->save(folder.path()));
    }
    EXPECT_GT(engine_->usage().bytes, 0U);
    std::ignore = engine_->counts();
  }
  stop = true;
  threads.clear();
  EXPECT_EQ(mixed.load(), 0);
  EXPECT_FALSE(engine_->counts().empty());
}

}  // namespace
}  // namespace weir::embedded
