// The script against the core, on random traces: several limits, repeated keys, folding, every operation, numbers that
// change under a state, clocks that leap and step back. Every answer of every group is compared, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "store/redis/script_plan.h"
#include "tests/sanitized.h"
#include "tests/store/memory_store.h"
#include "tests/store_redis/group_trace.h"
#include "tests/store_redis/script_server.h"

namespace weir::store::redis {
namespace {

constexpr std::size_t traces_of_each = cases(2'000);

constexpr std::array every_algorithm{Algorithm::token_bucket,          Algorithm::gcra,
                                     Algorithm::leaky_bucket_meter,    Algorithm::leaky_bucket_queue,
                                     Algorithm::fixed_window,          Algorithm::sliding_window_log,
                                     Algorithm::sliding_window_counter};

constexpr std::array every_reserving{Algorithm::token_bucket,           Algorithm::gcra,
                                     Algorithm::leaky_bucket_meter,     Algorithm::leaky_bucket_queue,
                                     Algorithm::fixed_window,           Algorithm::sliding_window_log,
                                     Algorithm::sliding_window_counter, Algorithm::concurrency};

ScriptServer& server() {
  static ScriptServer one;
  return one;
}

void expect_equal(const Holdings& was, const Holdings& expected) {
  ASSERT_TRUE(was.known);
  ASSERT_EQ(was.at, expected.at);
  ASSERT_EQ(was.used, expected.used);
  ASSERT_EQ(was.slices, expected.slices);
  ASSERT_EQ(was.open.size(), expected.open.size());
  for (std::size_t i = 0; i < was.open.size(); ++i) {
    ASSERT_EQ(was.open[i].id, expected.open[i].id);
    ASSERT_EQ(was.open[i].cost, expected.open[i].cost);
    ASSERT_EQ(was.open[i].ends, expected.open[i].ends);
  }
}

// A corrected log is returned in its state after the group, with the last check on it.
bool is_told_later(const Group& group, std::size_t i) {
  const Check& check = group.checks[i];
  if (group.operation <= store::Operation::look || group.operation == store::Operation::forget) return false;
  if (!is_log(*check.rule)) return false;
  return std::any_of(group.checks.begin() + static_cast<std::ptrdiff_t>(i) + 1, group.checks.end(),
                     [&](const Check& later) { return later.key == check.key; });
}

void expect_equal(const Group& group, const Group& expected, std::size_t number) {
  ASSERT_EQ(group.failure, Failure::none) << "group " << number;
  ASSERT_TRUE(group.decided) << "group " << number;
  ASSERT_EQ(group.admitted, expected.admitted) << "group " << number;
  for (std::size_t i = 0; i < group.checks.size(); ++i) {
    const Decision& should = expected.checks[i].decision;
    const Decision& was = is_told_later(group, i) ? should : group.checks[i].decision;
    ASSERT_EQ(was.admitted, should.admitted) << "group " << number << " check " << i;
    ASSERT_EQ(was.remaining, should.remaining) << "group " << number << " check " << i;
    ASSERT_EQ(was.retry_after, should.retry_after) << "group " << number << " check " << i;
    ASSERT_EQ(was.reset_after, should.reset_after) << "group " << number << " check " << i;
    ASSERT_EQ(was.more_after, should.more_after) << "group " << number << " check " << i;
    ASSERT_EQ(was, should) << "group " << number << " check " << i;
    if (group.operation == store::Operation::decide && !was.admitted && group.checks[i].exchange() != nullptr) {
      ASSERT_EQ(group.checks[i].exchange()->leased_to_others, expected.checks[i].exchange()->leased_to_others)
          << "group " << number;
    }
    if (group.checks[i].charge_back() > 0 &&
        !core::is_concurrency(*group.checks[i].rule)) {  // holds are not charged back
      ASSERT_EQ(group.checks[i].extension->not_charged_back, expected.checks[i].extension->not_charged_back)
          << "group " << number;
    }
    if (group.checks[i].holdings != nullptr) {
      expect_equal(*group.checks[i].holdings, *expected.checks[i].holdings);
    }
    if (const core::ReceiptUse* const use = group.checks[i].receipt; use != nullptr) {
      const core::ReceiptUse& expected_use = *expected.checks[i].receipt;
      ASSERT_EQ(use->result, expected_use.result) << "group " << number << " check " << i;
      const bool is_told = use->result == core::ReceiptResult::done || use->result == core::ReceiptResult::repeated;
      if (is_told) {
        ASSERT_EQ(use->cost, expected_use.cost) << "group " << number << " check " << i;
        ASSERT_EQ(use->lost, expected_use.lost) << "group " << number << " check " << i;
        ASSERT_EQ(use->ends, expected_use.ends) << "group " << number << " check " << i;
      }
    }
    if (group.checks[i].message() == nullptr) continue;
    const core::SliceAnswer& told = group.checks[i].message()->answer;
    const core::SliceAnswer& expected_answer = expected.checks[i].message()->answer;
    ASSERT_EQ(told.taken, expected_answer.taken) << "group " << number << " check " << i;
    ASSERT_EQ(told.units, expected_answer.units) << "group " << number << " check " << i;
    ASSERT_EQ(told, expected_answer) << "group " << number << " check " << i;
  }
}

void expect_as_the_core(CoreStates& core, const Group& group, std::size_t number) {
  Group expected = group;
  std::deque<OwnExtension> extensions;
  std::deque<Holdings> holdings;
  std::deque<core::ReceiptUse> uses;
  for (Check& check : expected.checks) {
    if (check.holdings != nullptr) check.holdings = &holdings.emplace_back();
    if (const core::ReceiptUse* const use = check.receipt; use != nullptr) {
      check.receipt = &uses.emplace_back(core::ReceiptUse{use->id, use->lasts, use->actual});
    }
    check.extension = copy_of(check.extension, extensions);
  }
  core.decide_in_batch(expected, group.now);
  expect_equal(group, expected, number);
}

// Batches of up to `most` groups, for `rounds` rounds.
template <class Run>
void follow(GroupTrace& trace, std::size_t rounds, std::size_t most, const Run& run) {
  CoreStates core;
  ScriptBatch batch;
  std::size_t number = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::deque<Group> groups(1 + trace.below(most));
    for (Group& group : groups) group = trace.next_group();
    for (std::size_t i = 0; i < groups.size();) {
      batch.clear();
      const std::size_t begin = i;
      while (i < groups.size() && batch.add(groups[i])) ++i;
      ASSERT_GT(i, begin) << "an empty batch has room";
      ASSERT_TRUE(run(batch)) << server().error;
      for (std::size_t k = begin; k < i; ++k) core.expire_keys(groups[k], groups[k].now);
      for (std::size_t answered = begin; answered < i; ++answered, ++number) {
        const Group& group = groups[answered];
        expect_as_the_core(core, group, number);
        if (testing::Test::HasFatalFailure()) return;
        trace.remember(group);
      }
    }
  }
}

// Far enough ahead that no key expires by the server's own clock during the trace.
constexpr Instant far_ahead{std::chrono::days(365 * 90)};
constexpr Instant latest{std::chrono::days(365 * 200)};

void follow_on_manual_time(GroupTrace& trace, std::size_t rounds, std::size_t most) {
  Instant now = far_ahead + Duration{static_cast<std::int64_t>(trace.below(1'000'000'000'000))};
  follow(trace, rounds, most, [&](ScriptBatch& batch) {
    now = std::clamp(now + trace.next_step(), far_ahead, latest);
    trace.set_time(now);
    return server().run_at(batch, now);
  });
}

// At one time, in batches of at most `most` groups.
bool run_in_batches(std::deque<Group>& groups, std::size_t most) {
  ScriptBatch batch;
  for (std::size_t i = 0; i < groups.size();) {
    batch.clear();
    while (i < groups.size() && batch.groups() < most && batch.add(groups[i])) ++i;
    if (!server().run_at(batch, far_ahead)) return false;
  }
  return true;
}

class ScriptConformance : public testing::TestWithParam<Algorithm> {
 protected:
  void SetUp() override { server().ask({"FLUSHALL"}); }
};

TEST_P(ScriptConformance, EveryAnswerMatchesTheCoreWhateverTheClockDoes) {
  for (std::uint64_t seed = 0; seed < traces_of_each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed * 8 + static_cast<std::uint64_t>(GetParam()));
    trace.add_family(GetParam());
    follow_on_manual_time(trace, 12, 6);
    if (HasFatalFailure()) return;
  }
}

// Old and repeated messages, several holders, grants by want and by share, numbers that change under held units.
TEST_P(ScriptConformance, EverySliceMatchesTheCoreWhateverTheClockDoes) {
  for (std::uint64_t seed = 0; seed < traces_of_each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed * 8 + static_cast<std::uint64_t>(GetParam()));
    trace.lease();
    trace.add_family(GetParam());
    follow_on_manual_time(trace, 16, 4);
    if (HasFatalFailure()) return;
  }
}

// Repeated and unknown ids, receipts that expire and are extended, settlements up and down, reports; also with leased
// slices, and numbers that change under reservations.
using ScriptReceiptConformance = ScriptConformance;

void follow_receipts(std::uint64_t seed, Algorithm algorithm) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  GroupTrace trace(seed * 8 + static_cast<std::uint64_t>(algorithm));
  trace.reserve();
  if (seed % 2 == 1) trace.lease();
  trace.add_family(algorithm);
  follow_on_manual_time(trace, 24, 4);
}

TEST_P(ScriptReceiptConformance, EveryReceiptMatchesTheCoreWhateverTheClockDoes) {
  for (std::uint64_t seed = 0; seed < traces_of_each / 4 * 3; ++seed) {
    follow_receipts(seed, GetParam());
    if (HasFatalFailure()) return;
  }
}

// Seeds in which a fully settled key is used again within the batch.
TEST_F(ScriptConformance, AKeyExpiresBeforeABatchAndNotWithinIt) {
  follow_receipts(5955, Algorithm::gcra);
  follow_receipts(2379, Algorithm::leaky_bucket_meter);
}

TEST_F(ScriptConformance, ReceiptsOfSeveralLimitsAreAllOrNothing) {
  for (std::uint64_t seed = 0; seed < traces_of_each / 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed * 8 + 6);
    trace.reserve();
    for (const Algorithm algorithm : every_reserving) trace.add_family(algorithm);
    follow_on_manual_time(trace, 24, 8);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ScriptConformance, EveryAnswerMatchesTheCoreWhileTimeGoesBy) {
  for (std::uint64_t seed = 0; seed < traces_of_each / 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed * 8 + static_cast<std::uint64_t>(GetParam()));
    trace.be_quick();
    trace.add_family(GetParam());
    follow(trace, 24, 6, [](ScriptBatch& batch) { return server().run(batch); });
    if (HasFatalFailure()) return;
  }
}

// The node sends edges by its own, inaccurate clock; the script selects by its own. Zones change under a state.
TEST_F(ScriptConformance, EveryAnswerOnWindowsOfACalendarMatchesTheCore) {
  for (std::uint64_t seed = 0; seed < traces_of_each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed);
    if (seed % 2 == 1) trace.reserve();
    trace.add_calendars();
    if (seed % 4 == 0) trace.add_family(Algorithm::fixed_window);
    CoreStates core;
    ScriptBatch batch;
    Instant now = far_ahead;
    for (std::size_t round = 0; round < 20; ++round) {
      now = std::clamp(now + trace.next_step(), far_ahead, latest);
      std::deque<Group> groups(1 + trace.below(6));
      batch.clear();
      std::size_t added = 0;
      for (Group& group : groups) {
        group = trace.next_group();
        group.now = now + trace.clock_offset();
        if (!batch.add(group)) break;
        ++added;
      }
      ASSERT_TRUE(server().run_at(batch, now)) << server().error;
      for (std::size_t i = 0; i < added; ++i) core.expire_keys(groups[i], now);
      for (std::size_t i = 0; i < added; ++i) {
        expect_as_the_core(core, groups[i], round);
        if (HasFatalFailure()) return;
        trace.remember(groups[i]);
      }
    }
  }
}

TEST_F(ScriptConformance, SeveralLimitsOfEveryKindAreAllOrNothing) {
  for (std::uint64_t seed = 0; seed < traces_of_each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed * 8 + 7);
    for (const Algorithm algorithm : every_algorithm) trace.add_family(algorithm);
    if (seed % 2 == 1) trace.lease();
    follow_on_manual_time(trace, 10, 12);
    if (HasFatalFailure()) return;
  }
}

// Longer than what is read at once, so that it is searched, appended to, truncated and rewritten. Truncated entries do
// not come back when the clock steps back.
TEST_F(ScriptConformance, LongLogsMatchTheCore) {
  constexpr std::int64_t window = 2'000;
  const core::Rule rule = core::compile(*Limit::sliding_window_log({600, Duration{window}}));
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  CoreStates core;
  ScriptBatch batch;
  std::vector<core::Charged> charged{{far_ahead, far_ahead}};
  Instant now = far_ahead;
  for (std::size_t i = 0; i < 6'000; ++i) {
    now += Duration{static_cast<std::int64_t>(below(8))};
    if (below(200) == 0) now += Duration{static_cast<std::int64_t>(below(window))};
    if (below(100) == 0) now -= Duration{static_cast<std::int64_t>(below(window))};
    Group group;
    group.checks.push_back(check_of("long", rule, below(50) == 0 ? below(600) : 1 + below(2)));
    if (below(10) == 0) group.operation = store::Operation::look;
    if (below(20) == 0) {
      group.operation = store::Operation::settle;
      group.settlement = {Cost{1}, Cost{below(3)},
                          charged[charged.size() - 1 - below(std::min<std::size_t>(charged.size(), 300))]};
    }
    batch.clear();
    ASSERT_TRUE(batch.add(group));
    ASSERT_TRUE(server().run_at(batch, now)) << server().error;
    core.expire_keys(group, now);
    expect_as_the_core(core, group, i);
    if (HasFatalFailure()) return;
    if (group.operation == store::Operation::decide && group.admitted)
      charged.push_back(core::charged_by(group.checks[0].decision));
  }
}

// With receipts: settled entries can be anywhere in the log. A group may settle two of them, one upward and one
// downward, in either order.
TEST_F(ScriptConformance, ReceiptsOfLongLogsMatchTheCore) {
  constexpr std::int64_t window = 2'000;
  const core::Rule rule = core::compile(*Limit::sliding_window_log({600, Duration{window}}));
  std::mt19937_64 random(11);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  CoreStates core;
  ScriptBatch batch;
  Instant now = far_ahead;
  std::array<std::size_t, 6> done{};  // by operation
  std::size_t lost = 0;
  for (std::size_t i = 0; i < 6'000; ++i) {
    now += Duration{static_cast<std::int64_t>(below(6))};
    if (below(300) == 0) now += Duration{static_cast<std::int64_t>(below(window))};
    if (below(100) == 0) now -= Duration{static_cast<std::int64_t>(below(window))};
    Group group;
    const std::uint64_t kind = below(16);
    group.operation = kind < 10   ? store::Operation::decide
                      : kind < 13 ? store::Operation::settle
                      : kind < 14 ? store::Operation::extend
                      : kind < 15 ? store::Operation::report
                                  : store::Operation::look;
    const std::size_t checks = group.operation == store::Operation::settle && below(3) == 0 ? 2 : 1;
    std::array<core::ReceiptUse, 2> uses;
    for (std::size_t check = 0; check < checks; ++check) {
      group.checks.push_back(check_of("long", rule, below(40) == 0 ? below(600) : 1 + below(2)));
      if (group.operation == store::Operation::decide && below(3) == 0) continue;
      uses[check] = {.id = {0, 1 + below(600)}, .lasts = Duration{static_cast<std::int64_t>(1 + below(3 * window))}};
      if (below(8) > 0) uses[check].actual = Cost{below(30) == 0 ? below(1'500) : below(3)};
      group.checks.back().receipt = &uses[check];
    }
    batch.clear();
    ASSERT_TRUE(batch.add(group));
    ASSERT_TRUE(server().run_at(batch, now)) << server().error;
    core.expire_keys(group, now);
    expect_as_the_core(core, group, i);
    if (HasFatalFailure()) return;
    for (const core::ReceiptUse& use : uses) {
      done[static_cast<std::size_t>(group.operation)] += use.result == core::ReceiptResult::done ? 1 : 0;
      lost += use.lost > 0 ? 1 : 0;
    }
  }
  for (const auto operation :
       {store::Operation::decide, store::Operation::settle, store::Operation::extend, store::Operation::report}) {
    EXPECT_GT(done[static_cast<std::size_t>(operation)], 30U) << static_cast<int>(operation);
  }
  EXPECT_GT(lost, 20U);
}

// Hundreds of open receipts: settled in any order, often the oldest first, while others expire, and rates change.
void follow_many(const std::vector<core::Rule>& rules, std::uint64_t seed, std::size_t rounds) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const std::string key = "many" + std::to_string(seed);
  CoreStates core;
  ScriptBatch batch;
  Instant now = far_ahead;
  std::deque<std::uint64_t> open;  // ids of receipts, the oldest first; some may have expired
  std::uint64_t last_id = 0;
  std::size_t settled = 0;
  std::size_t max_open = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    now += Duration{static_cast<std::int64_t>(below(1'000))};
    if (below(400) == 0) now -= Duration{static_cast<std::int64_t>(below(300'000))};
    std::deque<Group> groups(1 + below(3));
    std::deque<core::ReceiptUse> uses;
    batch.clear();
    std::size_t added = 0;
    for (Group& group : groups) {
      const std::uint64_t kind = open.empty() ? 0 : below(20);
      group.operation = kind < 10   ? store::Operation::decide
                        : kind < 17 ? store::Operation::settle
                        : kind < 18 ? store::Operation::extend
                        : kind < 19 ? store::Operation::report
                                    : store::Operation::look;
      const bool is_new = group.operation == store::Operation::decide || group.operation == store::Operation::report;
      const std::uint64_t id = is_new ? ++last_id : open[below(2) == 0 ? 0 : below(open.size())];
      group.checks.push_back(check_of(key, rules[below(8) == 0 ? below(rules.size()) : 0], below(4)));
      group.checks.back().wants_more_after = true;
      core::ReceiptUse& use = uses.emplace_back(core::ReceiptUse{.id = {7, id}});
      use.lasts = Duration{static_cast<std::int64_t>(1 + below(below(6) == 0 ? 40'000 : 900'000))};
      if (below(8) > 0) use.actual = Cost{below(3)};
      group.checks.back().receipt = &use;
      if (!batch.add(group)) break;
      ++added;
    }
    ASSERT_TRUE(server().run_at(batch, now)) << server().error;
    for (std::size_t i = 0; i < added; ++i) core.expire_keys(groups[i], now);
    for (std::size_t i = 0; i < added; ++i) {
      expect_as_the_core(core, groups[i], round);
      if (testing::Test::HasFatalFailure()) return;
      const core::ReceiptUse& use = *groups[i].checks[0].receipt;
      const bool is_done = use.result == core::ReceiptResult::done;
      if (groups[i].operation == store::Operation::decide && is_done) open.push_back(use.id.low);
      if (groups[i].operation != store::Operation::settle) continue;
      std::erase(open, use.id.low);
      settled += is_done ? 1U : 0U;
    }
    max_open = std::max(max_open, open.size());
  }
  EXPECT_GT(settled, rounds / 4);
  EXPECT_GT(max_open, 100U);
}

TEST_F(ScriptConformance, ManyReceiptsOfBucketsMatchTheCore) {
  const std::vector<core::Rule> rules{core::compile(*Limit::token_bucket({{4'001, std::chrono::seconds(1)}, 900})),
                                      core::compile(*Limit::token_bucket({{7'001, std::chrono::seconds(3)}, 1'200})),
                                      core::compile(*Limit::gcra({{9'999, std::chrono::seconds(2)}, 400}))};
  for (std::uint64_t seed = 0; seed < cases(6); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    follow_many(rules, seed, 2'000);
    if (HasFatalFailure()) return;
  }
}

TEST_F(ScriptConformance, ManyHoldsMatchTheCore) {
  const std::vector<core::Rule> rules{core::compile(*Limit::concurrency({400, std::chrono::seconds(1)})),
                                      core::compile(*Limit::concurrency({90, std::chrono::seconds(1)})),
                                      core::compile(*Limit::concurrency({1'000, std::chrono::seconds(1)}))};
  for (std::uint64_t seed = 0; seed < cases(6); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    follow_many(rules, 100 + seed, 2'000);
    if (HasFatalFailure()) return;
  }
}

// They are charged, and so are their repetitions.
TEST_F(ScriptConformance, ReportsBeyondTheMaximumOfIdsMatchTheCore) {
  const std::vector<core::Rule> rules{
      core::compile(*Limit::token_bucket({{1, std::chrono::seconds(1)}, 900})),
      core::compile(*Limit::fixed_window({900, Duration(std::chrono::hours(1))})),
      core::compile(*Limit::sliding_window_log({900, Duration(std::chrono::hours(1))}))};
  for (std::size_t of = 0; of < rules.size(); ++of) {
    CoreStates core;
    ScriptBatch batch;
    std::array<std::size_t, 6> results{};
    for (std::uint64_t id = 1; id <= 1'060;) {
      const std::size_t at_once = of == 2 ? 1 : 20;  // a batch settles a log once
      std::vector<Group> groups(at_once);
      std::vector<core::ReceiptUse> uses(at_once);
      batch.clear();
      for (std::size_t i = 0; i < at_once; ++i, ++id) {
        uses[i].id = {0, id % 100 == 0 ? 7 : 1 + id % 1'050};
        groups[i].operation = store::Operation::report;
        groups[i].checks.assign(1, check_of("reported" + std::to_string(of), rules[of], id % 3));
        groups[i].checks[0].receipt = &uses[i];
        ASSERT_TRUE(batch.add(groups[i]));
      }
      ASSERT_TRUE(server().run_at(batch, far_ahead)) << server().error;
      for (std::size_t i = 0; i < at_once; ++i) {
        expect_as_the_core(core, groups[i], id);
        if (HasFatalFailure()) return;
        ++results[static_cast<std::size_t>(uses[i].result)];
      }
    }
    EXPECT_EQ(results[static_cast<std::size_t>(core::ReceiptResult::done)], 1'024U) << of;
    EXPECT_GT(results[static_cast<std::size_t>(core::ReceiptResult::not_kept)], 10U) << of;
    EXPECT_GT(results[static_cast<std::size_t>(core::ReceiptResult::repeated)], 10U) << of;
  }
}

// The same groups at the same time, once together and once split in two.
TEST_F(ScriptConformance, WhereABatchIsCutMakesNoDifference) {
  for (std::uint64_t seed = 0; seed < traces_of_each / 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupTrace trace(seed);
    for (const Algorithm algorithm : every_algorithm) trace.add_family(algorithm);
    std::deque<Group> together;
    for (std::size_t i = 0; i < 20; ++i) together.push_back(trace.next_group());
    std::deque<Group> cut = together;
    for (Group& group : cut) {
      for (store::Check& check : group.checks) check.key += "-cut";
    }
    ASSERT_TRUE(run_in_batches(together, together.size()));
    ASSERT_TRUE(run_in_batches(cut, 1 + trace.below(cut.size())));
    for (std::size_t i = 0; i < cut.size(); ++i) {
      expect_equal(cut[i], together[i], i);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ScriptConformance, testing::ValuesIn(every_algorithm),
                         [](const auto& algorithm) { return std::string(name_of(algorithm.param)); });
INSTANTIATE_TEST_SUITE_P(Algorithms, ScriptReceiptConformance, testing::ValuesIn(every_reserving),
                         [](const auto& algorithm) { return std::string(name_of(algorithm.param)); });

}  // namespace
}  // namespace weir::store::redis
