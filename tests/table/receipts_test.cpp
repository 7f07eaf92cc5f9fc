// Receipts of a table: saved with the states, within the budget, changed atomically with the state.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "table/receipt_table.h"
#include "table/snapshot.h"
#include "table/together.h"
#include "tests/temporary_folder.h"
#include "weir/limit.h"

namespace weir::table {
namespace {

using namespace std::chrono_literals;

constexpr Instant opened_at{std::chrono::seconds(1'800'000'000)};

std::vector<Limit> limits_with_receipts() {
  const BucketNumbers bucket{{1, 60s}, 10};
  const WindowNumbers window{10, Duration(1h)};
  return {*Limit::token_bucket(bucket),           *Limit::leaky_bucket(QueueNumbers{bucket.rate, 9}),
          *Limit::fixed_window(window),           *Limit::sliding_window_log(window),
          *Limit::sliding_window_counter(window), *Limit::concurrency({10, 1h})};
}

class TableReceipts : public testing::Test {
 protected:
  void limit_to(const Limit& limit, std::size_t budget = std::size_t{8} << 20) {
    rule_ = core::compile(limit);
    table_ = *Table::create(rule_, budget, {1, 2});
  }
  core::ReceiptUse reserve(const std::string& key, std::uint64_t id, std::uint64_t cost, Instant now,
                           Duration lasts = 1h) {
    core::ReceiptUse use{.id = {0, id}, .lasts = lasts};
    Decision decision;
    const Check check{table_.get(), &rule_, {table_->hash(key), Cost{cost}}, &decision};
    core::ReceiptUse* const only = &use;
    admitted_ = reserve_together({&check, 1}, {&only, 1}, now);
    return use;
  }
  core::ReceiptResult release(const std::string& key, std::uint64_t id, Instant now) {
    core::ReceiptUse use{.id = {0, id}, .actual = Cost{0}};
    left_ = table_->settle(rule_, table_->hash(key), use, now).remaining;
    return use.result;
  }
  core::ReceiptResult report(const std::string& key, std::uint64_t id, Instant now) {
    core::ReceiptUse use{.id = {0, id}};
    std::ignore = table_->report(rule_, table_->hash(key), Cost{1}, use, now);
    return use.result;
  }

  core::Rule rule_;
  std::unique_ptr<Table> table_;
  bool admitted_ = false;
  std::uint64_t left_ = 0;
};

TEST_F(TableReceipts, SurviveARestart) {
  for (const Limit& limit : limits_with_receipts()) {
    SCOPED_TRACE(name_of(limit.algorithm()));
    limit_to(limit);
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "states";
    EXPECT_EQ(reserve("anna", 1, 4, opened_at).result, core::ReceiptResult::done);
    EXPECT_EQ(reserve("bert", 1, 1, opened_at, 1s).result, core::ReceiptResult::done);
    EXPECT_EQ(report("carl", 7, opened_at), core::ReceiptResult::done);
    ASSERT_TRUE(save(*table_, rule_, file, opened_at));
    table_ = std::move(*restore(file, rule_, std::size_t{8} << 20, opened_at + 2s));
    EXPECT_EQ(reserve("anna", 1, 4, opened_at + 2s).result, core::ReceiptResult::repeated);
    EXPECT_EQ(release("anna", 1, opened_at + 2s), core::ReceiptResult::done);
    EXPECT_EQ(left_, 10U);
    EXPECT_EQ(release("bert", 1, opened_at + 2s), core::ReceiptResult::ended);
    EXPECT_EQ(report("carl", 7, opened_at + 2s), core::ReceiptResult::repeated);
  }
}

TEST_F(TableReceipts, AnIdIsRememberedWhenItsStateIsOver) {
  limit_to(*Limit::token_bucket({{1, 1s}, 10}));
  EXPECT_EQ(report("anna", 7, opened_at), core::ReceiptResult::done);
  const TemporaryFolder folder;
  ASSERT_TRUE(save(*table_, rule_, folder.path() / "states", opened_at + 10min));
  table_ = std::move(*restore(folder.path() / "states", rule_, std::size_t{8} << 20, opened_at + 10min));
  EXPECT_EQ(report("anna", 7, opened_at + 20min), core::ReceiptResult::repeated);
}

TEST_F(TableReceipts, AreForgottenWithTheirState) {
  limit_to(*Limit::fixed_window({10, Duration(1h)}));
  EXPECT_EQ(reserve("anna", 1, 4, opened_at).result, core::ReceiptResult::done);
  EXPECT_TRUE(table_->reset(rule_, table_->hash("anna"), opened_at));
  EXPECT_EQ(release("anna", 1, opened_at), core::ReceiptResult::ended);
  EXPECT_TRUE(table_->receipts().empty());
}

TEST_F(TableReceipts, WithoutRoomAReserveIsChargedAndHasNone) {
  limit_to(*Limit::fixed_window({10, Duration(1h)}), std::size_t{512} << 10);
  std::uint64_t key = 0;
  while (reserve(std::to_string(key), 1, 1, opened_at, 1min).result == core::ReceiptResult::done) ++key;
  EXPECT_TRUE(admitted_);
  EXPECT_GT(key, 100U);
  EXPECT_LE(table_->bytes_used(), table_->budget());
  EXPECT_EQ(reserve("late", 1, 1, opened_at + 1min).result, core::ReceiptResult::done) << "the others have ended";
}

// Otherwise usage would be free while memory is full.
TEST_F(TableReceipts, WithoutRoomAReportIsChargedAndItsIdIsNotKept) {
  limit_to(*Limit::fixed_window({1'000, Duration(1h)}), std::size_t{512} << 10);
  const auto left = [&](const std::string& key) {
    return table_->peek(rule_, {table_->hash(key), Cost{0}}, opened_at).remaining;
  };
  EXPECT_EQ(report("first", 7, opened_at), core::ReceiptResult::done);
  std::uint64_t key = 0;
  while (reserve(std::to_string(key), 1, 1, opened_at, 1h).result == core::ReceiptResult::done) ++key;
  const std::string last = std::to_string(key);
  const std::uint64_t before = left(last);
  EXPECT_EQ(report(last, 7, opened_at), core::ReceiptResult::not_kept);
  EXPECT_EQ(left(last), before - 1);
  EXPECT_EQ(report(last, 7, opened_at), core::ReceiptResult::not_kept);
  EXPECT_EQ(left(last), before - 2) << "a repetition counts again";
  EXPECT_EQ(report("first", 7, opened_at), core::ReceiptResult::repeated) << "this id was kept";
  std::uint64_t id = 8;
  while (report("first", id, opened_at) == core::ReceiptResult::done) ++id;  // a few bytes may be left
  EXPECT_EQ(report("first", id, opened_at), core::ReceiptResult::not_kept);
  EXPECT_EQ(left("first"), 1'000 - (id - 7 + 2)) << "each of them counts, and the last one twice";
}

TEST_F(TableReceipts, WithoutRoomNothingIsHeld) {
  limit_to(*Limit::concurrency({10, 1min}), std::size_t{512} << 10);
  std::uint64_t key = 0;
  while (reserve(std::to_string(key), 1, 1, opened_at, 1min).result == core::ReceiptResult::done) ++key;
  EXPECT_FALSE(admitted_);
  EXPECT_GT(key, 100U);
}

// With memory full of open receipts, the cost of a reserve does not depend on their number.
TEST_F(TableReceipts, ASearchForRoomLooksAtABoundedNumberOfStates) {
  limit_to(*Limit::fixed_window({10, Duration(1h)}), std::size_t{16} << 20);
  std::uint64_t key = 0;
  while (reserve(std::to_string(key), 1, 1, opened_at, 1min).result == core::ReceiptResult::done) ++key;
  EXPECT_GT(key, 40'000U);
  const auto searched_by = [&](const auto& call) {
    const std::uint64_t before = table_->receipts().searched();
    call();
    return table_->receipts().searched() - before;
  };
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    most = std::max(most, searched_by([&] {
                      EXPECT_EQ(reserve("late" + std::to_string(i), 1, 1, opened_at, 1min).result,
                                core::ReceiptResult::not_kept);
                    }));
  }
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, 2 * ReceiptTable::max_searched) << "and those in the same bucket of the map as the last";
  for (std::uint64_t i = 0; i < 1'000; ++i) {  // all have expired
    EXPECT_LE(searched_by([&] {
                EXPECT_EQ(reserve("later" + std::to_string(i), 1, 1, opened_at + 1min).result,
                          core::ReceiptResult::done);
              }),
              2 * ReceiptTable::max_searched);
  }
}

TEST_F(TableReceipts, BytesComeBackWhenTheyAreSettled) {
  limit_to(*Limit::fixed_window({10, Duration(1h)}));
  std::ignore = reserve("anna", 1, 1, opened_at);
  const std::size_t with_one = table_->bytes_used();
  EXPECT_EQ(reserve("bert", 1, 1, opened_at).result, core::ReceiptResult::done);
  EXPECT_GT(table_->bytes_used(), with_one);
  EXPECT_EQ(release("bert", 1, opened_at), core::ReceiptResult::done);
  EXPECT_EQ(table_->bytes_used(), with_one);
}

// Threads take and release holds of a few keys; never more than the limit are held.
TEST_F(TableReceipts, NoMoreIsHeldThanTheLimitFromManyThreads) {
  constexpr std::uint64_t limit = 5;
  limit_to(*Limit::concurrency({limit, 1h}));
  std::array<std::atomic<std::uint64_t>, 2> held{};
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < 4'000; ++i) {
        const std::size_t key = i % held.size();
        const KeyHash hash = table_->hash(std::to_string(key));
        core::ReceiptUse use{.id = {thread, i + 1}, .lasts = 1h};
        Decision decision;
        const Check check{table_.get(), &rule_, {hash, Cost{2}}, &decision};
        core::ReceiptUse* const only = &use;
        if (!reserve_together({&check, 1}, {&only, 1}, opened_at)) continue;
        if (held[key].fetch_add(2) + 2 > limit) is_over = true;
        held[key].fetch_sub(2);
        use.actual = Cost{0};
        std::ignore = table_->settle(rule_, hash, use, opened_at);
        if (use.result != core::ReceiptResult::done) is_over = true;
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(is_over);
  EXPECT_TRUE(table_->receipts().empty());
}

}  // namespace
}  // namespace weir::table
