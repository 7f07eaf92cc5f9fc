// Many threads together admit exactly what one would.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "table/together.h"
#include "table_fixture.h"

namespace weir::table {
namespace {

constexpr int threads = 4;

template <class Work>
void in_parallel(Work work) {
  std::barrier start(threads);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      start.arrive_and_wait();
      work(thread);
    });
  }
}

class Concurrency : public ForEveryLimit {};

TEST_P(Concurrency, OneKeyAdmitsExactlyItsCapacity) {
  LimitedTable table(limit(), 8 * mebibyte);
  for (int round = 0; round < 50; ++round) {
    const std::string key = "round-" + std::to_string(round);
    std::atomic<std::uint64_t> admitted{0};
    in_parallel([&](int) {
      for (std::uint64_t i = 0; i < capacity(); ++i) admitted += table.decide(key, noon).admitted ? 1 : 0;
    });
    ASSERT_EQ(admitted, capacity());
  }
}

TEST_P(Concurrency, ManyKeysEachAdmitTheirCapacityWhileTheTableGrows) {
  LimitedTable table(limit(), 64 * mebibyte);
  const int keys = 20'000;
  const std::uint64_t cost = (capacity() + 2) / 3;  // a third fits at most three times
  const std::uint64_t fits = capacity() / cost;
  std::vector<std::atomic<std::uint32_t>> admitted(keys);
  in_parallel([&](int thread) {
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i < keys; ++i) {
        const int key = (i + thread * 17) % keys;
        admitted[static_cast<std::size_t>(key)] += table.decide(std::to_string(key), noon, cost).admitted ? 1 : 0;
      }
    }
  });
  for (const auto& count : admitted) ASSERT_EQ(count, std::min<std::uint64_t>(fits, 2 * threads));
}

TEST_P(Concurrency, BatchesAndSinglesAndResetsDoNotLoseEachOther) {
  LimitedTable table(limit(), 64 * mebibyte);
  std::atomic<std::uint64_t> admitted{0};
  in_parallel([&](int thread) {
    const auto decide = table.table().decide_functions<Decision>(table.rule()).several;
    std::vector<Decision> decisions(25);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::string> names;
      for (int i = 0; i < 25; ++i) names.push_back("shared-" + std::to_string(round * 10 + i % 5));
      for (int i = 0; i < 25; ++i) names.push_back("shared-" + std::to_string(round * 10 + 5 + i % 5));
      std::vector<Request> asks;
      for (const std::string& name : names) asks.push_back({name});
      for (const auto half : {std::span(asks).first(25), std::span(asks).last(25)}) {
        decide(table.table(), table.rule(), half, noon, decisions.data());
        for (const Decision& decision : decisions) admitted += decision.admitted ? 1 : 0;
      }
      table.reset("own-" + std::to_string(thread), noon);
      EXPECT_EQ(table.decide("own-" + std::to_string(thread), noon).remaining, capacity() - 1);
    }
  });
  EXPECT_EQ(admitted, 2'000 * std::min<std::uint64_t>(capacity(), 5 * threads));
}

INSTANTIATE_TEST_SUITE_P(All, Concurrency, testing::ValuesIn(all_limits()), limit_name);

// Each query takes one from each of several accounts, in any order. If a query were ever charged partially, the
// accounts would not add up.
TEST(ConcurrentQueries, AreAllOrNothing) {
  const auto limit = *Limit::gcra({.rate = {1, 24h}, .burst = 500});
  const auto log = *Limit::sliding_window_log({.limit = 500, .window = 24h});
  LimitedTable first(limit, 8 * mebibyte);
  LimitedTable second(log, 8 * mebibyte);
  LimitedTable third(limit, 8 * mebibyte);
  const std::array tables = {&first, &second, &third};
  std::array<std::array<std::atomic<std::uint64_t>, 8>, 3> charged{};
  in_parallel([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int i = 0; i < 8'000; ++i) {
      std::vector<Check> checks;
      std::array<Decision, 4> decisions;
      std::vector<std::pair<std::size_t, std::size_t>> accounts;
      for (int part = 0; part < 4; ++part) {
        const std::size_t t = random() % 3;
        const std::size_t key = random() % 8;
        accounts.emplace_back(t, key);
        checks.push_back({&tables[t]->table(), &tables[t]->rule(), tables[t]->request(std::to_string(key)),
                          &decisions[checks.size()]});
      }
      if (!decide_together(checks, noon)) continue;
      for (const auto& [t, key] : accounts) ++charged[t][key];
    }
  });
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t key = 0; key < 8; ++key) {
      EXPECT_EQ(tables[t]->left(std::to_string(key), noon), 500 - charged[t][key]) << t << "/" << key;
    }
  }
}

TEST(ConcurrentQueries, GoOnWhileTheirTablesGrowAndSplit) {
  const auto limit = *Limit::fixed_window({.limit = 3, .window = 24h});
  LimitedTable user(limit, 64 * mebibyte);
  LimitedTable route(limit, 64 * mebibyte);
  std::atomic<std::uint64_t> admitted{0};
  in_parallel([&](int thread) {
    for (int i = 0; i < 60'000; ++i) {
      const std::string key = std::to_string((i * 7 + thread * 11) % 60'000);
      std::array<Decision, 2> decisions;
      const std::array checks = {Check{&user.table(), &user.rule(), user.request(key), &decisions[0]},
                                 Check{&route.table(), &route.rule(), route.request("r" + key), &decisions[1]}};
      admitted += decide_together(checks, noon) ? 1 : 0;
    }
  });
  EXPECT_EQ(admitted, 60'000U * 3);
}

}  // namespace
}  // namespace weir::table
