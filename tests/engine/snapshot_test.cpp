// Snapshots of an engine: what a restart restores and what it rejects.
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "store/local/throttle_table.h"
#include "tests/engine/engine_fixture.h"
#include "tests/temporary_folder.h"

namespace weir::engine {
namespace {

namespace fs = std::filesystem;

constexpr auto policy_text = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: bucket
    routes: [GET /bucket]
    consumer_key: ip
    algorithm: token_bucket
    rate: 1/min
    burst: 5
    tier_overrides: { pro: { burst: 50 } }
    candidate: { algorithm: gcra, rate: 1/min, burst: 3 }
  - { name: Upload.v2, routes: [GET /window], consumer_key: user, algorithm: fixed_window, rate: 5/day }
  - { name: log, routes: [GET /log], consumer_key: global, algorithm: sliding_window_log, rate: 5/h }
  - name: strict
    routes: [GET /strict]
    consumer_key: ip
    algorithm: sliding_window_counter
    rate: 1/h
    penalty: { after: 2, within: 1min, block: 10min }
)";

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

class EngineSnapshotTest : public EngineTest {
 protected:
  void SetUp() override {
    load(policy_text);
    EXPECT_EQ(passing(Request::to("GET /bucket"), 2), 2);
    EXPECT_EQ(passing(Request::to("GET /bucket").from("192.0.2.50").in_tier("pro"), 40), 40);
    EXPECT_EQ(passing(Request::to("GET /window").by("alice"), 2), 2);
    EXPECT_EQ(passing(Request::to("GET /log"), 2), 2);
    EXPECT_EQ(passing(Request::to("GET /strict"), 3), 1);
  }

  void save() {
    const auto saved = engine_->save(folder(), now_);
    ASSERT_TRUE(saved) << saved.error().message();
  }

  // Starts a new process with another hash key in the same directory. Returns the problems.
  std::vector<std::string> restart(std::string_view text = policy_text) {
    auto made =
        Engine::restore(ruleset_of(text), {.memory_budget = std::size_t{64} << 20, .hash_key = {7, 7}}, folder(), now_);
    EXPECT_TRUE(made);
    evaluator_.reset();
    engine_ = std::move(made->engine);
    evaluator_ = engine_->new_evaluator();
    restored_ = made->names.size();
    std::vector<std::string> problems;
    for (const Error& error : made->problems) problems.push_back(error.message());
    return problems;
  }

  [[nodiscard]] fs::path folder() const { return temporary_.path() / "state" / "snapshots"; }
  [[nodiscard]] fs::path bucket_file() const { return folder() / "limit-bucket.live.token_bucket.states"; }

  std::uint64_t left(Request request) { return send(request.costing(0)).decision.remaining; }

  TemporaryFolder temporary_;
  std::size_t restored_ = 0;
};

TEST_F(EngineSnapshotTest, AfterARestartEveryConsumerIsWhereItWas) {
  save();
  EXPECT_EQ(restart(), std::vector<std::string>{});
  EXPECT_EQ(restored_, 7U);
  EXPECT_EQ(left(Request::to("GET /bucket")), 3U);
  EXPECT_EQ(left(Request::to("GET /bucket").from("192.0.2.50").in_tier("pro")), 10U)
      << "its own tier's numbers, not the default's";
  EXPECT_EQ(left(Request::to("GET /window").by("alice")), 3U);
  EXPECT_EQ(left(Request::to("GET /log")), 3U);
  EXPECT_EQ(send(Request::to("GET /strict")).reason, Reason::blocked);
  EXPECT_EQ(send(Request::to("GET /bucket").costing(0)).outcomes[0].candidate->remaining, 1U);
  EXPECT_EQ(engine_->hash_key(), (table::HashKey{1, 2})) << "that of the files";
}

TEST_F(EngineSnapshotTest, FilesAreReadableByTheirOwnerAloneAndHaveReadableNames) {
  save();
  const std::vector<std::string> expected = {"limit-%55pload%2ev2.live.fixed_window.86400000000us.states",
                                             "limit-bucket.candidate.gcra.states",
                                             "limit-bucket.live.token_bucket.states",
                                             "limit-log.live.sliding_window_log.3600000000us.states",
                                             "limit-strict.block.gcra.states",
                                             "limit-strict.denials.sliding_window_log.60000000us.states",
                                             "limit-strict.live.sliding_window_counter.3600000000us.states"};
  EXPECT_EQ(names_in(folder()), expected);
  struct stat status{};
  ASSERT_EQ(stat(bucket_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(EngineSnapshotTest, MissingFolderIsAFreshStart) {
  EXPECT_EQ(restart(), std::vector<std::string>{});
  EXPECT_EQ(restored_, 0U);
  EXPECT_EQ(left(Request::to("GET /bucket")), 5U);
  EXPECT_EQ(engine_->hash_key(), (table::HashKey{7, 7}));
}

TEST_F(EngineSnapshotTest, DamagedFileIsRejectedAndTheOthersAreRestored) {
  save();
  const std::string good = bytes_of(bucket_file());
  std::vector<std::string> damages = {"", "nonsense", good.substr(0, good.size() / 2), good.substr(0, good.size() - 1),
                                      good + "x"};
  for (std::size_t at = 0; at < good.size(); at += 7) {
    damages.push_back(good);
    damages.back()[at] = static_cast<char>(damages.back()[at] ^ 0x10);
  }
  for (std::size_t i = 0; i < damages.size(); ++i) {
    write(bucket_file(), damages[i]);
    const auto problems = restart();
    ASSERT_EQ(problems.size(), 1U) << i;
    EXPECT_TRUE(problems[0].starts_with(bucket_file().string() + ": ")) << problems[0];
    EXPECT_NE(problems[0].find("delete it"), std::string::npos) << problems[0];
    EXPECT_EQ(left(Request::to("GET /bucket")), 5U) << i;
    EXPECT_EQ(left(Request::to("GET /log")), 3U) << i;
  }
  save();
  EXPECT_EQ(restart(), std::vector<std::string>{}) << "the next save replaces it";
}

TEST_F(EngineSnapshotTest, FileOfAnotherLimitIsRejected) {
  save();
  fs::copy_file(folder() / "limit-log.live.sliding_window_log.3600000000us.states", bucket_file(),
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(restart(), std::vector<std::string>{bucket_file().string() +
                                                ": has states of another algorithm or window than this limit: "
                                                "delete it to start without its states"});
  EXPECT_EQ(left(Request::to("GET /bucket")), 5U);
}

TEST_F(EngineSnapshotTest, FileOfAnotherHashKeyIsRejected) {
  save();
  const std::string others = bytes_of(bucket_file());
  fs::remove_all(folder());
  EXPECT_EQ(restart(), std::vector<std::string>{});
  EXPECT_EQ(passing(Request::to("GET /log"), 2), 2);
  save();
  write(bucket_file(), others);
  EXPECT_EQ(restart(),
            std::vector<std::string>{bucket_file().string() +
                                     ": was saved with a different hash key from the other snapshots: delete "
                                     "it to start without its states"});
  EXPECT_EQ(left(Request::to("GET /bucket")), 5U);
  EXPECT_EQ(left(Request::to("GET /log")), 3U);
}

TEST_F(EngineSnapshotTest, ChangedNumbersApplyToTheUsageAsItStands) {
  save();
  std::string changed(policy_text);
  changed.replace(changed.find("burst: 5\n"), 9, "burst: 9\n");
  changed.replace(changed.find("rate: 5/day"), 11, "rate: 8/day");
  EXPECT_EQ(restart(changed), std::vector<std::string>{});
  EXPECT_EQ(left(Request::to("GET /bucket")), 7U);
  EXPECT_EQ(left(Request::to("GET /window").by("alice")), 6U);
}

TEST_F(EngineSnapshotTest, LimitWithANewAlgorithmStartsEmptyAndItsOldFileIsRemoved) {
  save();
  std::string changed(policy_text);
  changed.replace(changed.find("algorithm: token_bucket"), 23, "algorithm: leaky_bucket");
  EXPECT_EQ(restart(changed), std::vector<std::string>{});
  EXPECT_EQ(left(Request::to("GET /bucket")), 5U);
  EXPECT_EQ(left(Request::to("GET /log")), 3U);
  EXPECT_TRUE(fs::exists(bucket_file())) << "until the next save";
  save();
  EXPECT_FALSE(fs::exists(bucket_file()));
  EXPECT_EQ(names_in(folder()).size(), 7U);
}

TEST_F(EngineSnapshotTest, WhatASaveThatWasCutShortLeftIsRemoved) {
  save();
  const fs::path leftover = bucket_file().string() + ".Ab3xYz";
  const fs::path foreign = folder() / "notes.txt";
  write(foreign, "keep me");
  for (const bool by_start : {true, false}) {
    write(leftover, "half a fi");
    if (by_start) {
      EXPECT_EQ(restart(), std::vector<std::string>{});
    } else {
      save();
    }
    EXPECT_FALSE(fs::exists(leftover));
    EXPECT_TRUE(fs::exists(foreign));
  }
}

TEST_F(EngineSnapshotTest, OtherTablesMayLieInTheSameFolder) {
  auto throttle = *store::ThrottleTable::create(std::size_t{4} << 20, engine_->hash_key());
  const core::Gcra::Limit five(*Limit::gcra({{1, 1s}, 5}));
  EXPECT_TRUE(throttle->decide(five, throttle->seek("k"), Cost{2}, now_));
  const fs::path file = store::SnapshotFolder(folder()).file("throttle");
  save();
  ASSERT_TRUE(throttle->save(file, now_));
  save();
  EXPECT_EQ(restart(), std::vector<std::string>{});
  throttle = *store::ThrottleTable::restore(file, std::size_t{4} << 20, now_);
  EXPECT_EQ(throttle->decide(five, throttle->seek("k"), Cost{0}, now_).remaining, 3U);
}

TEST_F(EngineSnapshotTest, FolderThatCannotBeCreatedIsAnErrorWithARemedy) {
  write(temporary_.path() / "state", "a file in the way");
  const auto saved = engine_->save(folder(), now_);
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message().find("create it and make it writable for this user"), std::string::npos);
}

TEST(StateName, IsDifferentForDifferentStates) {
  const std::string long_name(500, 'x');
  std::set<std::string> names;
  for (const std::string& limit :
       {std::string("a"), std::string("A"), std::string("%41"), long_name, long_name + "y"}) {
    for (const store::Purpose purpose : {store::Purpose::live, store::Purpose::candidate}) {
      for (const Duration window : {Duration{1s}, Duration{1min}}) {
        const std::string name = store::state_name({limit, purpose, Algorithm::fixed_window, window});
        EXPECT_LT(name.size(), 240U);
        EXPECT_TRUE(names.insert(name).second) << name;
      }
    }
  }
}

}  // namespace
}  // namespace weir::engine
