// KeyedLimiter restores what it saves: the same usage for every key and algorithm.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tests/limiter/limits.h"
#include "weir/keyed_limiter.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

class KeyedLimiterSnapshotTest : public testing::TestWithParam<Algorithm> {
 protected:
  KeyedLimiterSnapshotTest() { std::filesystem::remove(path_); }
  ~KeyedLimiterSnapshotTest() override { std::filesystem::remove(path_); }
  KeyedLimiterSnapshotTest(const KeyedLimiterSnapshotTest&) = delete;
  KeyedLimiterSnapshotTest& operator=(const KeyedLimiterSnapshotTest&) = delete;

  static Limit limit(std::uint64_t capacity = 5) {
    const BucketNumbers bucket{.rate = {7, 100s}, .burst = capacity};
    const WindowNumbers window{.limit = capacity, .window = 100s};
    switch (GetParam()) {
      case Algorithm::token_bucket:
        return Limit::token_bucket(bucket).value();
      case Algorithm::gcra:
        return Limit::gcra(bucket).value();
      case Algorithm::leaky_bucket_meter:
        return Limit::leaky_bucket(bucket).value();
      case Algorithm::leaky_bucket_queue:
        return Limit::leaky_bucket(QueueNumbers{.rate = bucket.rate, .queue = capacity - 1}).value();
      case Algorithm::fixed_window:
        return Limit::fixed_window(window).value();
      case Algorithm::sliding_window_log:
        return Limit::sliding_window_log(window).value();
      case Algorithm::sliding_window_counter:
      case Algorithm::concurrency:  // has its own test
        break;
    }
    return Limit::sliding_window_counter(window).value();
  }

  static std::vector<std::string> keys() {
    std::vector<std::string> keys;
    for (int i = 0; i < 500; ++i) keys.push_back("key" + std::to_string(i));
    return keys;
  }

  // A limiter with keys used to different degrees, saved to a file.
  KeyedLimiter save_a_used_one() {
    KeyedLimiter limiter = KeyedLimiter::create(limit(), clock_).value();
    for (const std::string& key : keys()) {
      clock_->advance(1ms);
      std::ignore = limiter.check(key, Cost{std::stoull(key.substr(3)) % 6});
    }
    EXPECT_TRUE(limiter.save(path_).has_value());
    return limiter;
  }

  Result<KeyedLimiter> restore(const Limit& limit) { return KeyedLimiter::restore(path_, limit, clock_, {}); }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      ("weir_snapshot_" + std::string(name_of(GetParam())) + "_" + std::to_string(getpid()));
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(first_instant);
};

std::string name_of_case(const testing::TestParamInfo<Algorithm>& info) {
  return std::string(name_of(info.param));
}

INSTANTIATE_TEST_SUITE_P(OfEvery, KeyedLimiterSnapshotTest,
                         testing::Values(Algorithm::token_bucket, Algorithm::gcra, Algorithm::leaky_bucket_meter,
                                         Algorithm::leaky_bucket_queue, Algorithm::fixed_window,
                                         Algorithm::sliding_window_log, Algorithm::sliding_window_counter),
                         name_of_case);

TEST_P(KeyedLimiterSnapshotTest, RestoredLimiterAnswersAsTheSavedOne) {
  KeyedLimiter saved = save_a_used_one();
  KeyedLimiter restored = restore(limit()).value();
  for (const Duration later : {0us, Duration{1}, Duration{20s}, Duration{99s}, Duration{500s}}) {
    clock_->set(first_instant + 1s + later);
    for (const std::string& key : keys()) {
      for (const std::uint64_t cost : {0U, 1U, 5U}) {
        ASSERT_EQ(restored.peek(key, Cost{cost}), saved.peek(key, Cost{cost})) << key;
      }
    }
  }
}

TEST_P(KeyedLimiterSnapshotTest, RestoredLimiterGoesOnAsTheSavedOne) {
  KeyedLimiter saved = save_a_used_one();
  KeyedLimiter restored = restore(limit()).value();
  for (const std::string& key : keys()) {
    clock_->advance(30ms);
    const Decision decision = restored.check(key, Cost{2});
    ASSERT_EQ(decision, saved.check(key, Cost{2})) << key;
  }
}

TEST_P(KeyedLimiterSnapshotTest, NewNumbersGrantNoNewBurst) {
  KeyedLimiter saved = save_a_used_one();
  KeyedLimiter restored = restore(limit(3)).value();
  for (const std::string& key : keys()) {
    const std::uint64_t before = saved.peek(key, Cost{0}).remaining;
    EXPECT_LE(restored.peek(key, Cost{0}).remaining, before) << key;
  }
}

TEST_P(KeyedLimiterSnapshotTest, RestoreBeforeTheSaveForgivesNothing) {
  const KeyedLimiter saved = save_a_used_one();
  clock_->set(first_instant - 1h);
  const KeyedLimiter restored = restore(limit()).value();
  EXPECT_EQ(restored.peek("key5", Cost{1}).admitted, false);
  EXPECT_LE(restored.peek("key5", Cost{1}).retry_after.value(), 200s);
  EXPECT_EQ(restored.peek("key0", Cost{0}).remaining, 5U);
}

TEST_P(KeyedLimiterSnapshotTest, ReceiptsAreKeptWithTheirStates) {
  KeyedLimiter saved = KeyedLimiter::create(limit(), clock_).value();
  const Receipt released = saved.reserve("anna", Cost{2}, 1h, "invoice 7").receipt;
  const Receipt settled = saved.reserve("bert", Cost{5}, 1h).receipt;
  const Receipt over = saved.reserve("carl", Cost{5}, 1s).receipt;
  const Receipt gone = saved.reserve("dora", Cost{5}, 1h).receipt;
  EXPECT_TRUE(saved.release(gone));
  EXPECT_TRUE(saved.report("emil", Cost{1}, "day 1"));
  ASSERT_TRUE(saved.save(path_).has_value());

  clock_->advance(2s);
  KeyedLimiter restored = restore(limit()).value();
  EXPECT_EQ(restored.reserve("anna", Cost{2}, 1h, "invoice 7").receipt, released);
  EXPECT_TRUE(restored.release(released));
  EXPECT_EQ(restored.peek("anna", Cost{0}).remaining, 5U);
  EXPECT_TRUE(restored.settle(settled, Cost{0}));
  EXPECT_EQ(restored.settle(settled, Cost{0}).result, ReceiptResult::ended);
  EXPECT_EQ(restored.release(over).result, ReceiptResult::ended);
  EXPECT_EQ(restored.release(gone).result, ReceiptResult::ended);
  EXPECT_EQ(restored.report("emil", Cost{1}, "day 1").result, ReceiptResult::repeated);
}

TEST(KeyedLimiterSnapshot, HoldsAreKept) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("weir_snapshot_of_holds_" + std::to_string(getpid()));
  const auto clock = std::make_shared<ManualClock>(first_instant);
  const Limit held = Limit::concurrency({.limit = 3, .lease = 100s}).value();
  KeyedLimiter saved = KeyedLimiter::create(held, clock).value();
  const Receipt first = saved.reserve("anna", Cost{1}).receipt;
  const Receipt second = saved.reserve("anna", Cost{2}, 1s).receipt;
  ASSERT_TRUE(saved.save(path).has_value());
  KeyedLimiter restored = KeyedLimiter::restore(path, held, clock, {}).value();
  std::filesystem::remove(path);
  EXPECT_EQ(restored.peek("anna", Cost{2}), saved.peek("anna", Cost{2}));
  EXPECT_FALSE(restored.reserve("anna"));
  EXPECT_TRUE(restored.release(first));
  clock->advance(1s);
  EXPECT_EQ(restored.release(second).result, ReceiptResult::ended);
  EXPECT_EQ(restored.peek("anna", Cost{0}).remaining, 3U);
}

TEST_P(KeyedLimiterSnapshotTest, TornOrForeignFileIsRejected) {
  save_a_used_one();
  const auto size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size - 1);
  EXPECT_FALSE(restore(limit()));
  std::ofstream(path_, std::ios::trunc) << "not a snapshot";
  EXPECT_FALSE(restore(limit()));
  std::filesystem::remove(path_);
  EXPECT_FALSE(restore(limit()));
}

TEST_P(KeyedLimiterSnapshotTest, SnapshotOfAnotherAlgorithmIsRejected) {
  save_a_used_one();
  const Limit other = GetParam() == Algorithm::fixed_window
                          ? Limit::sliding_window_counter({.limit = 5, .window = 100s}).value()
                          : Limit::fixed_window({.limit = 5, .window = 100s}).value();
  EXPECT_FALSE(restore(other));
}

TEST_P(KeyedLimiterSnapshotTest, FileIsForItsOwnerOnly) {
  save_a_used_one();
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
}

TEST_P(KeyedLimiterSnapshotTest, FolderThatIsNotThereIsAnError) {
  const KeyedLimiter limiter = KeyedLimiter::create(limit(), clock_).value();
  const auto refused = limiter.save(path_ / "nowhere" / "snapshot");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().where.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace weir
