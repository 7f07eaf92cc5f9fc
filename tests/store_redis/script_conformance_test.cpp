// The script against the core, on random traces: several limits, repeated keys, folding, every operation, numbers that
// change under a state, clocks that leap and step back. Every answer of every ask, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/store_redis/ask_trace.h"
#include "tests/store_redis/script_oracle.h"
#include "tests/store_redis/script_server.h"

namespace weir::store::redis {
namespace {

constexpr std::size_t traces_of_each = 2'000;

constexpr std::array every_algorithm{Algorithm::token_bucket,          Algorithm::gcra,
                                     Algorithm::leaky_bucket_meter,    Algorithm::leaky_bucket_queue,
                                     Algorithm::fixed_window,          Algorithm::sliding_window_log,
                                     Algorithm::sliding_window_counter};

ScriptServer& server() {
  static ScriptServer one;
  return one;
}

void expect_as_the_core(const SharedAsk& ask, const ScriptOracle::Expected& expected, std::size_t number) {
  ASSERT_EQ(ask.failure, StoreFailure::none) << "ask " << number;
  ASSERT_EQ(ask.admitted, expected.admitted) << "ask " << number;
  ASSERT_EQ(ask.answers.size(), expected.answers.size());
  for (std::size_t i = 0; i < ask.answers.size(); ++i) {
    const Decision& was = ask.answers[i].decision;
    const Decision& should = expected.answers[i].decision;
    ASSERT_EQ(was.admitted, should.admitted) << "ask " << number << " check " << i;
    ASSERT_EQ(was.remaining, should.remaining) << "ask " << number << " check " << i;
    ASSERT_EQ(was.retry_after, should.retry_after) << "ask " << number << " check " << i;
    ASSERT_EQ(was.reset_after, should.reset_after) << "ask " << number << " check " << i;
    ASSERT_EQ(was, should) << "ask " << number << " check " << i;
    ASSERT_EQ(ask.answers[i].more_after, expected.answers[i].more_after) << "ask " << number << " check " << i;
  }
}

// Batches of up to `most` asks, until `rounds` are over.
template <class Run>
void follow(AskTrace& trace, std::size_t rounds, std::size_t most, const Run& run) {
  ScriptOracle oracle;
  ScriptBatch batch;
  std::size_t number = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::deque<SharedAsk> asks(1 + trace.below(most));
    for (SharedAsk& ask : asks) ask = trace.next_ask();
    for (std::size_t i = 0; i < asks.size();) {
      batch.clear();
      const std::size_t begin = i;
      while (i < asks.size() && batch.add(asks[i])) ++i;
      ASSERT_GT(i, begin) << "an empty batch has room";
      ASSERT_TRUE(run(batch)) << server().error;
      for (std::size_t answered = begin; answered < i; ++answered, ++number) {
        const SharedAsk& ask = asks[answered];
        expect_as_the_core(ask, oracle.judge(ask, ask.now), number);
        if (testing::Test::HasFatalFailure()) return;
        trace.remember(ask);
      }
    }
  }
}

// Far enough ahead that no key ends by the server's own clock while the trace goes on.
constexpr Instant far_ahead{std::chrono::days(365 * 90)};
constexpr Instant latest{std::chrono::days(365 * 200)};

void follow_on_manual_time(AskTrace& trace, std::size_t rounds, std::size_t most) {
  Instant now = far_ahead + Duration{static_cast<std::int64_t>(trace.below(1'000'000'000'000))};
  follow(trace, rounds, most, [&](ScriptBatch& batch) {
    now = std::clamp(now + trace.next_step(), far_ahead, latest);
    return server().run_at(batch, now);
  });
}

// At one time, in batches of at most so many.
bool run_in_batches(std::deque<SharedAsk>& asks, std::size_t most) {
  ScriptBatch batch;
  for (std::size_t i = 0; i < asks.size();) {
    batch.clear();
    while (i < asks.size() && batch.asks() < most && batch.add(asks[i])) ++i;
    if (!server().run_at(batch, far_ahead)) return false;
  }
  return true;
}

class ScriptConformance : public testing::TestWithParam<Algorithm> {
 protected:
  void SetUp() override { server().ask({"FLUSHALL"}); }
};

TEST_P(ScriptConformance, EveryAnswerIsTheCoresWhateverTheClockDoes) {
  for (std::uint64_t seed = 0; seed < traces_of_each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AskTrace trace(seed * 8 + static_cast<std::uint64_t>(GetParam()));
    trace.add_family(GetParam());
    follow_on_manual_time(trace, 12, 6);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ScriptConformance, EveryAnswerIsTheCoresWhileTimeGoesBy) {
  for (std::uint64_t seed = 0; seed < traces_of_each / 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AskTrace trace(seed * 8 + static_cast<std::uint64_t>(GetParam()));
    trace.be_quick();
    trace.add_family(GetParam());
    follow(trace, 24, 6, [](ScriptBatch& batch) { return server().run(batch); });
    if (HasFatalFailure()) return;
  }
}

TEST_F(ScriptConformance, SeveralLimitsOfEveryKindAreAllOrNothing) {
  for (std::uint64_t seed = 0; seed < traces_of_each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AskTrace trace(seed * 8 + 7);
    for (const Algorithm algorithm : every_algorithm) trace.add_family(algorithm);
    follow_on_manual_time(trace, 10, 12);
    if (HasFatalFailure()) return;
  }
}

// Longer than what is read of it at once, so that it is searched, appended to, cut and written anew. What was cut does
// not come back when the clock steps back.
TEST_F(ScriptConformance, LongLogsAreTheCores) {
  constexpr std::int64_t window = 2'000;
  const core::Rule rule = core::compile(*Limit::sliding_window_log({600, Duration{window}}));
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  ScriptOracle oracle;
  ScriptBatch batch;
  std::vector<Instant> charged{far_ahead};
  Instant now = far_ahead;
  for (std::size_t i = 0; i < 6'000; ++i) {
    now += Duration{static_cast<std::int64_t>(below(8))};
    if (below(200) == 0) now += Duration{static_cast<std::int64_t>(below(window))};
    if (below(100) == 0) now -= Duration{static_cast<std::int64_t>(below(window))};
    SharedAsk ask;
    ask.checks.push_back({.key = "long", .rule = &rule, .cost = Cost{below(50) == 0 ? below(600) : 1 + below(2)}});
    if (below(10) == 0) ask.operation = SharedOperation::look;
    if (below(20) == 0) {
      ask.operation = SharedOperation::settle;
      ask.settlement = {Cost{1}, Cost{below(3)},
                        charged[charged.size() - 1 - below(std::min<std::size_t>(charged.size(), 300))]};
    }
    batch.clear();
    ASSERT_TRUE(batch.add(ask));
    ASSERT_TRUE(server().run_at(batch, now)) << server().error;
    expect_as_the_core(ask, oracle.judge(ask, now), i);
    if (HasFatalFailure()) return;
    if (ask.operation == SharedOperation::decide && ask.admitted) charged.push_back(ask.answers[0].decision.charged_at);
  }
}

// The same asks at the same time, once together and once cut in two.
TEST_F(ScriptConformance, WhereABatchIsCutMakesNoDifference) {
  for (std::uint64_t seed = 0; seed < traces_of_each / 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AskTrace trace(seed);
    for (const Algorithm algorithm : every_algorithm) trace.add_family(algorithm);
    std::deque<SharedAsk> together;
    for (std::size_t i = 0; i < 20; ++i) together.push_back(trace.next_ask());
    std::deque<SharedAsk> cut = together;
    for (SharedAsk& ask : cut) {
      for (SharedCheck& check : ask.checks) check.key += "-cut";
    }
    ASSERT_TRUE(run_in_batches(together, together.size()));
    ASSERT_TRUE(run_in_batches(cut, 1 + trace.below(cut.size())));
    for (std::size_t i = 0; i < cut.size(); ++i) {
      expect_as_the_core(cut[i], {together[i].admitted, together[i].answers}, i);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ScriptConformance, testing::ValuesIn(every_algorithm),
                         [](const auto& algorithm) { return std::string(name_of(algorithm.param)); });

}  // namespace
}  // namespace weir::store::redis
