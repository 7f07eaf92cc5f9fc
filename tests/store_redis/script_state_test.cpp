// What the script leaves in the server: expiration, size, and its treatment of foreign values.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/core/uneven_calendar.h"
#include "tests/store/memory_store.h"
#include "tests/store_redis/script_server.h"

namespace weir::store::redis {
namespace {

using std::chrono::seconds;
using wire::resp::ReplyType;

struct Kind {
  std::string_view name;
  Limit limit;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"token_bucket", *Limit::token_bucket({{100, seconds(60)}, 20})},
      {"token_bucket, 7 per s", *Limit::token_bucket({{7, seconds(1)}, 20})},
      {"gcra", *Limit::gcra({{1, seconds(60)}, 10})},
      {"leaky_bucket", *Limit::leaky_bucket(BucketNumbers{{10, seconds(60)}, 10})},
      {"leaky_bucket, queue", *Limit::leaky_bucket(QueueNumbers{{10, seconds(60)}, 10})},
      {"fixed_window", *Limit::fixed_window({10, seconds(60)})},
      {"sliding_window_log", *Limit::sliding_window_log({10, seconds(60)})},
      {"sliding_window_counter", *Limit::sliding_window_counter({10, seconds(60)})},
  };
  return all;
}

class ScriptState : public testing::Test {
 protected:
  // Submits one group. The answer is in `group`.
  bool run(store::Operation operation, const core::Rule& rule, Cost cost, std::string key = "weir:{api:alice}:x") {
    group.operation = operation;
    group.checks.assign(1, {});
    group.checks[0].key = std::move(key);
    group.checks[0].rule = &rule;
    group.checks[0].cost = cost;
    batch.clear();
    EXPECT_TRUE(batch.add(group));
    return server.run(batch);
  }

  std::int64_t number(std::initializer_list<std::string_view> command) { return server.ask(command).integer(); }
  std::string text(std::initializer_list<std::string_view> command) { return std::string(server.ask(command).text()); }

  ScriptServer server;
  ScriptBatch batch;
  Group group;
};

TEST_F(ScriptState, EveryKeyEndsInTheMillisecondInWhichItsStateIsAsGoodAsNeverSeen) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const core::Rule rule = core::compile(kind.limit);
    const std::string key(kind.name);
    CoreStates core;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(run(store::Operation::decide, rule, Cost{2}, key));
      ASSERT_TRUE(group.admitted);
      Group expected = group;
      core.decide(expected, group.now);
      EXPECT_EQ(number({"PEXPIRETIME", key}), core.forgotten_at(group.checks[0]));
    }
  }
}

TEST_F(ScriptState, WhatChargesNothingWritesNothing) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const core::Rule rule = core::compile(kind.limit);
    const std::string key(kind.name);
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{0}, key));
    ASSERT_TRUE(run(store::Operation::look, rule, Cost{1}, key));
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{1'000}, key));
    EXPECT_FALSE(group.admitted);
    EXPECT_EQ(number({"EXISTS", key}), 0);

    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{8}, key));
    ASSERT_TRUE(group.admitted);
    const std::string before = text({"GET", key});
    const std::int64_t ends = number({"PEXPIRETIME", key});
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{0}, key));
    ASSERT_TRUE(run(store::Operation::look, rule, Cost{1}, key));
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{19}, key));
    EXPECT_FALSE(group.admitted);
    EXPECT_EQ(text({"GET", key}), before);
    EXPECT_EQ(number({"PEXPIRETIME", key}), ends);
  }
}

TEST_F(ScriptState, AFullyRefundedStateIsDeleted) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const core::Rule rule = core::compile(kind.limit);
    const std::string key(kind.name);
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{2}, key));
    group.settlement = core::Settlement{Cost{2}, Cost{0}, core::charged_by(group.checks[0].decision)};
    ASSERT_TRUE(run(store::Operation::settle, rule, Cost{1}, key));
    EXPECT_EQ(group.checks[0].decision.remaining, group.checks[0].decision.limit);
    EXPECT_EQ(number({"EXISTS", key}), 0);
  }
}

TEST_F(ScriptState, WhatIsForgottenIsGone) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const core::Rule rule = core::compile(kind.limit);
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{2}));
    ASSERT_TRUE(run(store::Operation::forget, rule, Cost{1}));
    EXPECT_TRUE(group.admitted);
    EXPECT_EQ(number({"EXISTS", group.checks[0].key}), 0);
  }
}

// A batch with a foreign value is rejected as a whole, and nothing is written. Forgetting the key helps.
TEST_F(ScriptState, AForeignValueFailsItsBatchAndIsLeftAlone) {
  const std::string key = "weir:{api:alice}:x";
  const std::vector<std::string> foreign{"",
                                         "hello",
                                         "-5",
                                         "1.5",
                                         "nan",
                                         "inf",
                                         "1e300",
                                         "9007199254740992",
                                         "12:x",
                                         ":",
                                         "5:-1",
                                         "5:nan",
                                         "1:2:3",
                                         std::string(30, 'a'),
                                         std::string(32, 'a'),
                                         std::string(8, '\0') + std::string(12, '\xff')};
  const core::Rule other = core::compile(*Limit::gcra({{1, seconds(60)}, 10}));
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const core::Rule rule = core::compile(kind.limit);
    const bool is_log = kind.limit.algorithm() == Algorithm::sliding_window_log;
    for (const std::string& value : foreign) {
      SCOPED_TRACE(value);
      if (is_log && value.empty()) continue;  // a log without entries
      server.ask({"SET", key, value});
      Group neighbour;
      neighbour.checks.assign(1, check_of("weir:{api:bob}:y", other));
      group = {};
      group.checks.assign(1, check_of(key, rule));
      batch.clear();
      ASSERT_TRUE(batch.add(neighbour) && batch.add(group));
      EXPECT_FALSE(server.run(batch));
      EXPECT_EQ(text({"GET", key}), value);
      EXPECT_EQ(number({"EXISTS", "weir:{api:bob}:y"}), 0);
      ASSERT_TRUE(run(store::Operation::forget, rule, Cost{1}));
      ASSERT_TRUE(run(store::Operation::decide, rule, Cost{1}));
      EXPECT_TRUE(group.admitted);
    }
    server.ask({"DEL", key});
    server.ask({"RPUSH", key, "of another type"});
    EXPECT_FALSE(run(store::Operation::decide, rule, Cost{1}));
    EXPECT_EQ(text({"TYPE", key}), "list");
    ASSERT_TRUE(run(store::Operation::forget, rule, Cost{1}));
    EXPECT_EQ(number({"EXISTS", key}), 0);
  }
}

// Lua accepts these as numbers. Weir does not.
TEST_F(ScriptState, WhatOnlyLuaReadsAsANumberIsADisagreement) {
  const core::Rule rule = core::compile(*Limit::gcra({{1, seconds(60)}, 10}));
  for (const std::string_view value : {"0x10", "1e3", " 7", "007", "7 "}) {
    server.ask({"SET", "weir:{api:alice}:x", value});
    ASSERT_TRUE(run(store::Operation::decide, rule, Cost{1}));
    EXPECT_EQ(group.failure, Failure::disagreement);
    EXPECT_FALSE(group.admitted);
    EXPECT_FALSE(group.decided);
  }
}

TEST_F(ScriptState, ARefusalNamesTheLimitAndNotTheConsumer) {
  const core::Rule rule = core::compile(*Limit::gcra({{1, seconds(60)}, 10}));
  server.ask({"SET", "weir:{api:user:5:alice}:gcra", "hello"});
  EXPECT_FALSE(run(store::Operation::decide, rule, Cost{1}, "weir:{api:user:5:alice}:gcra"));
  std::string bytes;
  batch.write(bytes);
  EXPECT_EQ(server.exchange(bytes).text(),
            "FOREIGN the value of weir:{api:...}:gcra is not a state of weir: remove it");
}

TEST_F(ScriptState, TheDigestIsTheOneThatTheServerKnowsTheScriptBy) {
  EXPECT_EQ(server.ask({"SCRIPT", "LOAD", script_source()}).text(), script_digest());
  server.ask({"SCRIPT", "FLUSH"});
  const core::Rule rule = core::compile(*Limit::gcra({{1, seconds(60)}, 10}));
  EXPECT_FALSE(run(store::Operation::decide, rule, Cost{1}));
  std::string bytes;
  batch.write(bytes, ScriptBatch::Form::with_source);
  EXPECT_TRUE(batch.read(server.exchange(bytes)));
  EXPECT_TRUE(run(store::Operation::decide, rule, Cost{1}));
  EXPECT_EQ(group.checks[0].decision.remaining, 8U);
}

// Receipts are stored next to their state: in a hash, and in a sorted set by expiration.
class ScriptReceipts : public ScriptState {
 protected:
  explicit ScriptReceipts(const Limit& limit = *Limit::token_bucket({{1, seconds(60)}, 10})) { use_limit(limit); }

  void use_limit(const Limit& limit) {
    rule = core::compile(limit);
    hash = limit.algorithm() == Algorithm::concurrency ? key : key + ":r";
  }

  bool reserve(std::uint64_t id, std::uint64_t cost, Duration lasts = seconds(600)) {
    return use_receipt(store::Operation::decide, {.id = {0, id}, .lasts = lasts}, cost);
  }
  bool settle(std::uint64_t id, std::uint64_t actual) {
    return use_receipt(store::Operation::settle, {.id = {0, id}, .actual = Cost{actual}});
  }
  bool report(std::uint64_t id, std::uint64_t cost) {
    return use_receipt(store::Operation::report, {.id = {0, id}}, cost);
  }
  bool exists(const std::string& name) { return number({"EXISTS", name}) == 1; }
  [[nodiscard]] std::uint64_t left() const { return group.checks[0].decision.remaining; }
  std::string refusal() {
    std::string bytes;
    batch.write(bytes);
    return std::string(server.exchange(bytes).text());
  }

  const std::string key = "weir:{api:alice}:x";
  const std::string order = "weir:{api:alice}:x:e";
  std::string hash;
  core::Rule rule;
  core::ReceiptUse use;

 private:
  bool use_receipt(store::Operation operation, const core::ReceiptUse& its_use, std::uint64_t cost = 1) {
    use = its_use;
    group = {};
    group.operation = operation;
    group.checks.assign(1, check_of(key, rule, cost));
    group.checks[0].receipt = &use;
    batch.clear();
    EXPECT_TRUE(batch.add(group));
    return server.run(batch) && group.failure == Failure::none;
  }
};

const std::vector<Kind>& kinds_with_holds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> kinds_and_holds = kinds();
    kinds_and_holds.push_back({"concurrency", *Limit::concurrency({10, seconds(60)})});
    return kinds_and_holds;
  }();
  return all;
}

TEST_F(ScriptReceipts, AreReadOnlyByOperationsOnThem) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 3));
    server.ask({"SET", hash, "hello"});
    for (const store::Operation operation : {store::Operation::decide, store::Operation::look}) {
      ASSERT_TRUE(run(operation, rule, Cost{1}, key));
      std::string bytes;
      batch.write(bytes);
      EXPECT_EQ(bytes.find(hash), std::string::npos);
      EXPECT_EQ(bytes.find(order), std::string::npos);
    }
  }
}

TEST_F(ScriptReceipts, AreInAHashAndExpireWithTheLast) {
  for (const Kind& kind : kinds_with_holds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 1) && report(2, 0));
    EXPECT_EQ(number({"HLEN", hash}), 3);
    EXPECT_EQ(number({"ZCARD", order}), 2);
    const std::int64_t ends = (core::micros(group.now + std::chrono::hours(1)) + 999) / 1000;
    EXPECT_EQ(number({"PEXPIRETIME", hash}), ends);
    EXPECT_EQ(number({"PEXPIRETIME", order}), ends);
    ASSERT_TRUE(settle(1, 0));
    EXPECT_EQ(use.result, core::ReceiptResult::done);
    EXPECT_EQ(number({"HLEN", hash}), 2);
    EXPECT_EQ(number({"ZCARD", order}), 1);
    ASSERT_TRUE(run(store::Operation::forget, rule, Cost{1}, key));
    EXPECT_EQ(number({"DBSIZE"}), 0);
  }
}

TEST_F(ScriptReceipts, TheLastSettlementLeavesNothingBehind) {
  for (const Kind& kind : kinds_with_holds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 2) && reserve(2, 3) && settle(2, 0) && settle(1, 0));
    EXPECT_EQ(use.result, core::ReceiptResult::done);
    EXPECT_EQ(number({"DBSIZE"}), 0) << "nothing was used";
  }
}

TEST_F(ScriptReceipts, WithoutTheHashTheyHaveEnded) {
  for (const Kind& kind : kinds_with_holds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 2) && reserve(2, 3));
    const std::uint64_t before = left();
    server.ask({"DEL", hash});
    ASSERT_TRUE(settle(1, 0));
    EXPECT_EQ(use.result, core::ReceiptResult::ended);
    if (kind.limit.algorithm() != Algorithm::concurrency) {
      EXPECT_EQ(left(), before) << "the charge stays";
    }
    ASSERT_TRUE(reserve(3, 1));
    EXPECT_EQ(number({"ZCARD", order}), 1) << "the order of the lost ones is removed";
  }
}

TEST_F(ScriptReceipts, WithoutTheOrderTheyAreKeptAndItIsWrittenAgain) {
  for (const Kind& kind : kinds_with_holds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 2) && reserve(2, 3) && reserve(3, 1));
    server.ask({"DEL", order});
    ASSERT_TRUE(settle(1, 2));
    EXPECT_EQ(use.result, core::ReceiptResult::done);
    EXPECT_EQ(number({"ZCARD", order}), 2);
    EXPECT_EQ(number({"PEXPIRETIME", order}), number({"PEXPIRETIME", hash}));
    ASSERT_TRUE(settle(2, 3) && settle(3, 1));
    EXPECT_EQ(use.result, core::ReceiptResult::done);
    EXPECT_FALSE(exists(order));
  }
}

TEST_F(ScriptReceipts, WithoutTheStateNothingIsGivenBack) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 3));
    server.ask({"DEL", key});
    ASSERT_TRUE(settle(1, 0));
    EXPECT_EQ(use.result, core::ReceiptResult::done);
    EXPECT_EQ(left(), group.checks[0].decision.limit);
  }
}

TEST_F(ScriptReceipts, AForeignValueIsRejectedAndLeftAlone) {
  for (const Kind& kind : kinds_with_holds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    ASSERT_TRUE(reserve(1, 3));
    const std::string totals = text({"HGET", hash, "t"});
    const std::string state = text({"GET", key});
    for (const std::string& value : {std::string(), std::string("hello"), totals.substr(1), totals + "x",
                                     "\x02" + totals.substr(1), totals.substr(0, 1) + "\xff\xff" + totals.substr(3)}) {
      server.ask({"HSET", hash, "t", value});
      EXPECT_FALSE(reserve(2, 1));
      EXPECT_TRUE(refusal().starts_with("FOREIGN the value of weir:{api:...}:x")) << refusal();
      EXPECT_FALSE(settle(1, 1));
      EXPECT_EQ(text({"HGET", hash, "t"}), value);
      if (hash != key) {
        EXPECT_EQ(text({"GET", key}), state);
      }
    }
    server.ask({"HDEL", hash, "t"});
    EXPECT_FALSE(reserve(2, 1)) << "a hash without totals";
    server.ask({"DEL", hash, order});
    server.ask({"SET", order, "of another type"});
    EXPECT_FALSE(reserve(2, 1));
    server.ask({"DEL", order});
    server.ask({"SET", hash, "of another type"});
    EXPECT_FALSE(reserve(2, 1));
    EXPECT_TRUE(refusal().starts_with("FOREIGN ")) << refusal();
    ASSERT_TRUE(run(store::Operation::forget, rule, Cost{1}, key));
    EXPECT_TRUE(reserve(2, 1));
  }
}

// Earlier versions wrote them behind the state.
TEST_F(ScriptReceipts, TheOldFormatIsRejectedAndLeftAlone) {
  const std::string receipts = "#" + std::string(1, '\1') + std::string(11, '\0') + std::string(48, '\7');
  for (const Kind& kind : kinds_with_holds()) {
    SCOPED_TRACE(kind.name);
    server.ask({"FLUSHALL"});
    use_limit(kind.limit);
    const bool is_log = kind.limit.algorithm() == Algorithm::sliding_window_log;
    const std::string& where = is_log ? hash : key;
    server.ask({"SET", where, "0" + receipts});
    EXPECT_FALSE(reserve(1, 1));
    EXPECT_TRUE(refusal().starts_with("FOREIGN ")) << refusal();
    if (!is_log) {
      EXPECT_FALSE(run(store::Operation::decide, rule, Cost{1}, key));
    }
    EXPECT_EQ(text({"GET", where}), "0" + receipts);
  }
}

class ScriptLogReceipts : public ScriptReceipts {
 protected:
  ScriptLogReceipts() : ScriptReceipts(*Limit::sliding_window_log({10, seconds(60)})) {}
  const std::string& beside = hash;
};

TEST_F(ScriptLogReceipts, TheLogIsWrittenAsWithoutThem) {
  ASSERT_TRUE(reserve(1, 3));
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_EQ(number({"STRLEN", key}), 8 + 12);
  EXPECT_EQ(number({"PEXPIRETIME", key}), (core::micros(group.now + seconds(60)) + 999) / 1000);
  EXPECT_EQ(number({"HLEN", beside}), 2);
  EXPECT_EQ(number({"PEXPIRETIME", beside}), (core::micros(group.now + seconds(600)) + 999) / 1000);
}

TEST_F(ScriptLogReceipts, WhatIsSettledLeavesNothingBesideTheLog) {
  ASSERT_TRUE(reserve(1, 3) && settle(1, 1));
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_EQ(left(), 9U);
  EXPECT_TRUE(exists(key));
  EXPECT_FALSE(exists(beside));
  ASSERT_TRUE(settle(1, 1));
  EXPECT_EQ(use.result, core::ReceiptResult::ended);
  ASSERT_TRUE(reserve(2, 4) && settle(2, 0));
  EXPECT_EQ(left(), 9U);
}

TEST_F(ScriptLogReceipts, UnitsThatDoNotFitIntoADebtAreReported) {
  ASSERT_TRUE(reserve(1, 10) && settle(1, 27));
  EXPECT_EQ(use.lost, 7U);
  ASSERT_TRUE(report(2, 5));
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_EQ(use.lost, 5U);
  ASSERT_TRUE(report(0, 6));
  EXPECT_EQ(use.lost, 6U) << "without an id";
}

TEST_F(ScriptLogReceipts, AReportCountsOnceByItsId) {
  ASSERT_TRUE(report(1, 3) && report(1, 3));
  EXPECT_EQ(use.result, core::ReceiptResult::repeated);
  EXPECT_EQ(left(), 7U);
}

TEST_F(ScriptLogReceipts, APlainQuestionDoesNotNameThem) {
  ASSERT_TRUE(reserve(1, 3));
  server.ask({"SET", beside, "hello"});
  for (const store::Operation operation : {store::Operation::decide, store::Operation::look}) {
    ASSERT_TRUE(run(operation, rule, Cost{1}, key));
    std::string bytes;
    batch.write(bytes);
    EXPECT_EQ(bytes.find(beside), std::string::npos);
  }
  group.settlement = core::Settlement{Cost{1}, Cost{0}, core::charged_by(group.checks[0].decision)};
  ASSERT_TRUE(run(store::Operation::settle, rule, Cost{1}, key));
  EXPECT_EQ(text({"GET", beside}), "hello");
}

TEST_F(ScriptLogReceipts, OneOfTheTwoMayBeLost) {
  ASSERT_TRUE(reserve(1, 3) && reserve(2, 3));
  server.ask({"DEL", key});
  ASSERT_TRUE(settle(1, 0));
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  EXPECT_EQ(left(), 10U) << "there is nothing to give back";
  ASSERT_TRUE(run(store::Operation::decide, rule, Cost{4}, key));
  ASSERT_TRUE(settle(2, 0));
  EXPECT_EQ(left(), 6U) << "what another charged stays";
  ASSERT_TRUE(reserve(3, 2));
  server.ask({"DEL", beside});
  ASSERT_TRUE(settle(3, 0));
  EXPECT_EQ(use.result, core::ReceiptResult::ended);
  EXPECT_EQ(left(), 4U);
}

TEST_F(ScriptLogReceipts, ToForgetTakesBoth) {
  for (const bool is_foreign : {false, true}) {
    ASSERT_TRUE(reserve(1, 3));
    if (is_foreign) server.ask({"SET", beside, "hello"});
    ASSERT_TRUE(run(store::Operation::forget, rule, Cost{1}, key));
    EXPECT_EQ(number({"DBSIZE"}), 0);
    ASSERT_TRUE(settle(1, 0));
    EXPECT_EQ(use.result, core::ReceiptResult::ended);
  }
}

TEST_F(ScriptLogReceipts, ALookReturnsThem) {
  ASSERT_TRUE(reserve(1, 3) && reserve(2, 4));
  Holdings holdings;
  Group first;
  first.operation = store::Operation::look;
  first.checks.assign(1, check_of(key, rule, 0));
  Group second = first;
  second.checks[0].holdings = &holdings;
  batch.clear();
  ASSERT_TRUE(batch.add(first) && batch.add(second));
  ASSERT_TRUE(server.run(batch));
  EXPECT_EQ(holdings.used, 7U);
  ASSERT_EQ(holdings.open.size(), 2U);
  EXPECT_EQ(holdings.open[1].cost, 4U);
}

TEST_F(ScriptLogReceipts, NoMoreThan1024AreKept) {
  ASSERT_TRUE(reserve(1, 1));
  for (std::uint64_t id = 1'001; id <= 2'022; ++id) ASSERT_TRUE(reserve(id, 0));  // 1,023 of them
  ASSERT_TRUE(reserve(2, 1));
  EXPECT_EQ(use.result, core::ReceiptResult::done);
  ASSERT_TRUE(reserve(3, 1));
  EXPECT_EQ(use.result, core::ReceiptResult::not_kept);
  EXPECT_EQ(left(), 7U) << "it is charged all the same";
}

// About an hour each.
class ScriptCalendar : public ScriptState {
 protected:
  bool run_at(Duration node, Duration store, store::Operation operation = store::Operation::decide) {
    group.operation = operation;
    group.checks.assign(1, check_of(key, rule));
    group.now = Instant{node};
    batch.clear();
    EXPECT_TRUE(batch.add(group));
    return server.run_at(batch, Instant{store});
  }
  // The start of a window far ahead, so that no key expires by the server's own clock.
  [[nodiscard]] Duration edge(int number) const { return Duration{calendar.edge(1'000'000 + number)}; }

  const std::string key = "weir:{api:alice}:fwmonth";
  const core::UnevenCalendar calendar{std::chrono::hours(1), 3};
  const core::Rule rule = core::compile(*Limit::fixed_window(3, calendar));
};

TEST_F(ScriptCalendar, KeepsACountAndTheEndOfItsWindow) {
  ASSERT_TRUE(run_at(edge(1), edge(1)));
  ASSERT_TRUE(run_at(edge(1), edge(2) - Duration{1}));
  EXPECT_EQ(group.checks[0].decision.reset_after, Duration{1});
  EXPECT_EQ(text({"GET", key}), "2:" + std::to_string(edge(2).count()));
  EXPECT_EQ(number({"PEXPIRETIME", key}), (edge(2).count() + 999) / 1000);
}

TEST_F(ScriptCalendar, TheClockOfTheStoreChoosesAmongTheWindowsThatWereSent) {
  ASSERT_TRUE(run_at(edge(2), edge(1)));
  EXPECT_EQ(group.checks[0].decision.reset_after, edge(2) - edge(1));
  ASSERT_TRUE(run_at(edge(2), edge(2)));
  EXPECT_EQ(group.checks[0].decision.remaining, 2U);
  EXPECT_EQ(group.checks[0].decision.reset_after, edge(3) - edge(2));
  ASSERT_TRUE(run_at(edge(2), edge(4) - Duration{1}));
  EXPECT_EQ(group.checks[0].decision.reset_after, Duration{1});
}

TEST_F(ScriptCalendar, ATimeOutsideOfThemIsRejectedAndNothingIsWritten) {
  for (const Duration store : {edge(1) - Duration{1}, edge(4)}) {
    EXPECT_FALSE(run_at(edge(2), store));
    EXPECT_TRUE(server.error.starts_with("EDGES ")) << server.error;
    EXPECT_EQ(number({"EXISTS", key}), 0);
  }
}

TEST_F(ScriptCalendar, AForeignValueIsRejectedAndLeftAlone) {
  for (const char* value : {"", "5", "5:0", "-5:7", "5:x", "1.5:7", "5:7|", "5:9007199254740992"}) {
    server.ask({"SET", key, value});
    EXPECT_FALSE(run_at(edge(2), edge(2))) << value;
    EXPECT_TRUE(server.error.starts_with("FOREIGN ")) << server.error;
    EXPECT_EQ(text({"GET", key}), value);
  }
}

// Printed, for docs/benchmarks.md. The key has 26 bytes.
TEST_F(ScriptState, AConsumerTakesLittleMemory) {
  const std::string key = "weir:{api:user:5:alice}:xx";
  for (const Kind& kind : kinds()) {
    const core::Rule rule = core::compile(kind.limit);
    server.ask({"DEL", key});
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(run(store::Operation::decide, rule, Cost{1}, key));
    const std::int64_t bytes = number({"MEMORY", "USAGE", key, "SAMPLES", "0"});
    std::cout << "redis memory per consumer: " << kind.name << " " << bytes << " bytes, "
              << text({"OBJECT", "ENCODING", key}) << "\n";
    EXPECT_LE(bytes, kind.limit.algorithm() == Algorithm::sliding_window_log ? 280 : 112);
  }
}

// Half of it may have expired, and the server allocates ahead.
TEST_F(ScriptState, ALogTakesMemoryInProportionToItsLimit) {
  const core::Rule rule = core::compile(*Limit::sliding_window_log({1'000, std::chrono::hours(1)}));
  const std::string key = "weir:{api:user:5:alice}:xx";
  for (int i = 0; i < 1'100; ++i) ASSERT_TRUE(run(store::Operation::decide, rule, Cost{1}, key));
  EXPECT_FALSE(group.admitted);
  EXPECT_EQ(number({"STRLEN", key}), 8 + 1'000 * 12);
  const std::int64_t bytes = number({"MEMORY", "USAGE", key, "SAMPLES", "0"});
  std::cout << "redis memory per consumer: sliding_window_log of 1,000 entries " << bytes << " bytes\n";
  EXPECT_LE(bytes, 2 * 1'000 * 12 + 1'000);
}

}  // namespace
}  // namespace weir::store::redis
