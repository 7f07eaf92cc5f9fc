// Loops record while a scraper reads and policies are reloaded: no race, and no decision is lost.
#include <atomic>
#include <thread>

#include "observe/metrics.h"
#include "tests/observe/recorder_fixture.h"

namespace weir::observe {
namespace {

constexpr std::string_view two_limits =
    "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: fixed_window, rate: 10/h}, "
    "{name: b, consumer_key: global, algorithm: fixed_window, rate: 100000/day}]}";
constexpr std::string_view one_limit =
    "{version: 1, limits: [{name: b, consumer_key: global, algorithm: fixed_window, rate: 100000/day}]}";

TEST(RecorderStress, ReadersNeitherStopNorMissWhatIsRecorded) {
  constexpr int loops = 3;
  constexpr int decisions = 3000;
  const Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  const Folder folder;
  LogWriter writer({}, *LogFile::open(folder.file("log")));
  DecisionLog log(writer, {.sampling = {1, 2}, .lines_per_second = 50});
  const ConsumerNames names({3, 4});
  const auto engine = *engine::Engine::create(engine::ruleset_of(two_limits),
                                              {.memory_budget = std::size_t{64} << 20, .hash_key = {5, 6}});
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<const Recorder*> all;
  for (int i = 0; i < loops; ++i) {
    recorders.push_back(std::make_unique<Recorder>(names, &log, static_cast<std::uint64_t>(i)));
    all.push_back(recorders.back().get());
  }

  std::atomic<bool> stop{false};
  std::atomic<std::size_t> pages{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < loops; ++t) {
      threads.emplace_back([&, t] {
        const auto evaluator = engine->new_evaluator({.observer = recorders[static_cast<std::size_t>(t)].get()});
        for (int i = 0; i < decisions; ++i) {
          const Asked asked(Request::to("GET /").from("203.0.113." + std::to_string(i % 100)));
          std::ignore = evaluator->evaluate(asked.query(), now + i * 1ms);
        }
      });
    }
    std::jthread reader([&] {
      while (!stop.load()) {
        MetricsPage page;
        append_metrics(
            page, {.engine = *engine, .recorders = all, .listeners = {}, .reloads = {}, .version = "1", .now = now});
        pages += page.take().empty() ? 0 : 1;
        std::vector<const TopDenied*> denied;
        for (const Recorder* recorder : all) denied.push_back(&recorder->denied());
        EXPECT_LE(TopDenied::top(denied, 10, now).size(), 10U);
        log.tick(now);
      }
    });
    std::jthread reloader([&] {
      for (int i = 0; !stop.load(); ++i) {
        ASSERT_TRUE(engine->reload(engine::ruleset_of(i % 2 == 0 ? one_limit : two_limits), SetClock(now)));
      }
    });
    for (auto& thread : threads) thread.join();
    stop = true;
  }

  RecorderTotals totals;
  for (const Recorder* recorder : all) recorder->add_to(totals);
  EXPECT_EQ(totals.durations.count(), static_cast<std::uint64_t>(loops * decisions));
  EXPECT_EQ(totals.headroom.at("b").count(), static_cast<std::uint64_t>(loops * decisions));
  EXPECT_GT(pages.load(), 0U);
}

}  // namespace
}  // namespace weir::observe
