#include "table/snapshot.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "table_fixture.h"

namespace weir::table {
namespace {

// A folder of the test with one snapshot in it.
class SnapshotFolder {
 public:
  SnapshotFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-snapshot-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  SnapshotFolder(const SnapshotFolder&) = delete;
  SnapshotFolder& operator=(const SnapshotFolder&) = delete;
  ~SnapshotFolder() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "states"; }
  [[nodiscard]] auto files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator{});
  }
  [[nodiscard]] std::string bytes() const {
    std::ostringstream bytes;
    bytes << std::ifstream(file(), std::ios::binary).rdbuf();
    return bytes.str();
  }
  void write(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }

 private:
  std::filesystem::path folder_;
};

class Snapshot : public ForEveryLimit {
 protected:
  static std::string name_of(int key) { return "consumer-" + std::to_string(key); }

  void fill(LimitedTable& table, int keys) {
    for (int key = 0; key < keys; ++key) {
      for (int i = 0; i <= key % 3; ++i) ASSERT_TRUE(table.decide(name_of(key), noon + Duration{i}).admitted);
    }
  }
  void fill_any(LimitedTable& table, int keys) {
    for (int key = 0; key < keys; ++key) std::ignore = table.decide(name_of(key), noon);
  }
  void save(LimitedTable& table, Instant now = noon + 1ms) {
    const auto saved = table::save(table.table(), table.rule(), folder_.file(), now);
    ASSERT_TRUE(saved.has_value()) << saved.error().message();
  }
  auto restore(const Limit& limit, Instant now = noon + 1ms, std::size_t budget = 64 * mebibyte) {
    rule_ = core::compile(limit);
    return table::restore(folder_.file(), rule_, budget, now);
  }
  int shared_in_use(Table& table) {
    return table.with(rule_, [&]<class A, class Payload>(const core::RuleOf<A>&, Cells<Payload>& cells) {
      int count = 0;
      for (unsigned i = 0; i < cells.overflow_cells(); ++i) {
        const Slot slot = cells.lock_overflow(i);
        count += Cells<Payload>::payload(slot).dead(core::micros(noon + 1ms)) ? 0 : 1;
        unlock(slot);
      }
      return count;
    });
  }
  Decision decide(Table& table, int key, Instant now) {
    return table.decide(rule_, {.key = table.hash(name_of(key))}, now);
  }

  SnapshotFolder folder_;
  core::Rule rule_ = core::compile(limit());
};

TEST_P(Snapshot, AfterARestartEveryConsumerDecidesAsWithoutIt) {
  LimitedTable table(limit());
  fill(table, 30'000);
  save(table);
  const auto restored = restore(limit());
  ASSERT_TRUE(restored.has_value()) << restored.error().message();
  for (int key = 0; key < 30'000; ++key) {
    ASSERT_EQ(decide(**restored, key, noon + 2ms), table.decide(name_of(key), noon + 2ms)) << key;
  }
}

TEST_P(Snapshot, SharedStatesSurviveToo) {
  LimitedTable table(limit(), mebibyte);
  fill_any(table, 60'000);
  ASSERT_GT(table.table().overflowed(), 0U);
  save(table);
  const auto restored = restore(limit(), noon + 1ms, mebibyte);
  ASSERT_TRUE(restored.has_value()) << restored.error().message();
  EXPECT_GT(shared_in_use(table.table()), 0);
  EXPECT_GE(shared_in_use(**restored), shared_in_use(table.table()));
}

TEST_P(Snapshot, WithMoreStatesThanTheBudgetGivesNoConsumerMoreThanWasLeft) {
  LimitedTable table(limit());
  fill(table, 60'000);
  save(table);
  const auto restored = restore(limit(), noon + 1ms, mebibyte);
  ASSERT_TRUE(restored.has_value()) << restored.error().message();
  EXPECT_GT((*restored)->overflowed(), 0U);
  for (int key = 0; key < 60'000; ++key) {
    const HashedRequest look{.key = (*restored)->hash(name_of(key)), .cost = Cost{0}};
    ASSERT_LE((*restored)->peek(rule_, look, noon + 2ms).remaining, table.left(name_of(key), noon + 2ms)) << key;
  }
}

TEST_P(Snapshot, AStateThatIsForgottenIsNotTakenOver) {
  LimitedTable table(limit());
  fill(table, 1'000);
  save(table);
  const auto restored = restore(limit(), noon + 24h);
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(decide(**restored, 2, noon + 24h).remaining, capacity() - 1);
}

TEST_P(Snapshot, ATimeBeyondWhatTheLimitAllowsIsClamped) {
  LimitedTable table(limit());
  fill(table, 100);
  save(table);
  const Instant earlier = noon - 240h;  // the wall clock was wrong when it was saved
  const auto restored = restore(limit(), earlier);
  ASSERT_TRUE(restored.has_value());
  const Decision decision = (*restored)->peek(rule_, {.key = (*restored)->hash(name_of(2)), .cost = Cost{0}}, earlier);
  EXPECT_LE(decision.reset_after, 24h);
}

TEST_P(Snapshot, ItsModeIsPrivateAndNothingElseIsLeftBehind) {
  LimitedTable table(limit());
  fill(table, 100);
  save(table);
  save(table);
  struct stat status{};
  ASSERT_EQ(stat(folder_.file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(folder_.files(), 1);
}

TEST_P(Snapshot, IsRejectedWhereverItWasCutOff) {
  LimitedTable table(limit());
  fill(table, 300);
  save(table);
  const std::string whole = folder_.bytes();
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    folder_.write(whole.substr(0, size));
    const auto restored = restore(limit());
    ASSERT_FALSE(restored.has_value()) << size << " of " << whole.size();
    EXPECT_NE(restored.error().message().find("is truncated"), std::string::npos) << restored.error().message();
  }
}

TEST_P(Snapshot, IsRejectedWhereverAByteWasDamaged) {
  LimitedTable table(limit());
  fill(table, 300);
  save(table);
  const std::string whole = folder_.bytes();
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    folder_.write(damaged);
    ASSERT_FALSE(restore(limit()).has_value()) << at << " of " << whole.size();
  }
  folder_.write(whole + "x");
  EXPECT_FALSE(restore(limit()).has_value());
}

TEST_P(Snapshot, TakenWhileDecisionsGoOnHoldsEveryConsumerOnceAtLeast) {
  LimitedTable table(limit(), 256 * mebibyte);
  fill(table, 20'000);
  {
    std::jthread growing([&](const std::stop_token& stop) {
      for (int key = 20'000; key < 120'000 && !stop.stop_requested(); ++key) {
        std::ignore = table.decide(name_of(key), noon + 1ms);
      }
    });
    for (int i = 0; i < 3; ++i) save(table);
  }
  const auto restored = restore(limit(), noon + 1ms, 256 * mebibyte);
  ASSERT_TRUE(restored.has_value()) << restored.error().message();
  ASSERT_EQ((*restored)->overflowed(), 0U);
  for (int key = 0; key < 20'000; ++key) {
    ASSERT_EQ(decide(**restored, key, noon + 2ms), table.decide(name_of(key), noon + 2ms)) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Snapshot, testing::ValuesIn(all_limits()), limit_name);

class ForeignSnapshot : public testing::Test {
 protected:
  void save(const Limit& limit) {
    LimitedTable table(limit);
    for (int key = 0; key < 100; ++key) std::ignore = table.decide(std::to_string(key), noon);
    ASSERT_TRUE(table::save(table.table(), table.rule(), folder_.file(), noon).has_value());
  }
  std::string refusal(const Limit& limit) {
    const auto restored = table::restore(folder_.file(), core::compile(limit), mebibyte, noon);
    return restored ? "taken" : restored.error().message();
  }
  [[nodiscard]] std::string about(const std::string& what) const { return folder_.file().string() + ": " + what; }

  SnapshotFolder folder_;
  Limit gcra_ = *Limit::gcra({.rate = {100, 1min}, .burst = 20});
};

TEST_F(ForeignSnapshot, OfAnotherAlgorithmIsRejected) {
  save(*Limit::fixed_window({.limit = 9, .window = 10s}));
  EXPECT_EQ(refusal(gcra_),
            about("has states of another algorithm or window than this limit: delete it to start without its states"));
}

TEST_F(ForeignSnapshot, OfAnotherWindowIsRejected) {
  save(*Limit::fixed_window({.limit = 9, .window = 10s}));
  EXPECT_EQ(refusal(*Limit::fixed_window({.limit = 9, .window = 11s})),
            about("has states of another algorithm or window than this limit: delete it to start without its states"));
}

TEST_F(ForeignSnapshot, OfOtherNumbersIsTakenAndClampedToThem) {
  save(*Limit::gcra({.rate = {1, 1h}, .burst = 20}));
  EXPECT_EQ(refusal(*Limit::gcra({.rate = {10'007, 1h}, .burst = 2})), "taken");
}

TEST_F(ForeignSnapshot, IsTakenOverWithTheHashThatItsKeysWereFoundBy) {
  for (const HashKind hash : hash_kinds()) {
    LimitedTable table(gcra_, 64 * mebibyte, hash);
    for (int key = 0; key < 100; ++key) std::ignore = table.decide(std::to_string(key), noon, 3);
    ASSERT_TRUE(table::save(table.table(), table.rule(), folder_.file(), noon).has_value());
    const auto restored = table::restore(folder_.file(), table.rule(), mebibyte, noon);
    ASSERT_TRUE(restored.has_value()) << restored.error().message();
    for (int key = 0; key < 100; ++key) {
      const KeyHash hashed = (*restored)->hash(std::to_string(key));
      EXPECT_EQ((*restored)->peek(table.rule(), {hashed, Cost{0}}, noon).remaining, 17U) << key;
    }
  }
}

TEST_F(ForeignSnapshot, ThatIsNotASnapshotIsRejected) {
  folder_.write("\x7f\x45LF and so on, not ours at all");
  EXPECT_EQ(refusal(gcra_), about("is damaged or not a Weir snapshot: delete it to start without its states, or "
                                  "restore it from a backup"));
}

TEST_F(ForeignSnapshot, ThatIsMissingIsReported) {
  EXPECT_EQ(refusal(gcra_), about("cannot be opened: No such file or directory"));
}

TEST_F(ForeignSnapshot, CannotBeWrittenWhereThereIsNoFolder) {
  LimitedTable table(gcra_);
  const auto saved = table::save(table.table(), table.rule(), folder_.file() / "deeper" / "states", noon);
  ASSERT_FALSE(saved.has_value());
  EXPECT_NE(saved.error().message().find("cannot create a temporary file next to it"), std::string::npos);
}

}  // namespace
}  // namespace weir::table
