#include "observe/decision_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/observe/folder.h"

namespace weir::observe {
namespace {

class DecisionLogTest : public testing::Test {
 protected:
  void deny(int count, Instant now) {
    std::string scratch;
    for (int i = 0; i < count; ++i) {
      if (log_.has_room(now)) log_.write({.time = now, .reason = "exceeded", .limit = "a"}, scratch);
    }
  }
  std::string written() {
    writer_.flush();
    return folder_.read("log");
  }
  long lines() {
    const std::string text = written();
    return std::count(text.begin(), text.end(), '\n');
  }

  Folder folder_;
  LogWriter writer_{{}, *LogFile::open(folder_.file("log"))};
  DecisionLog log_{writer_, {.sampling = {}, .lines_per_second = 5}};
};

TEST_F(DecisionLogTest, FloodOfDenialsGivesSoManyLinesInASecond) {
  deny(1000, noon);
  EXPECT_EQ(lines(), 5);
}

TEST_F(DecisionLogTest, NextDenialFirstLogsTheSuppressedCount) {
  deny(12, noon);
  deny(1, noon + 1s);
  EXPECT_EQ(lines(), 7);
  EXPECT_NE(written().find(R"({"time":"2026-01-05T12:00:01.000000Z","event":"suppressed","count":7})"),
            std::string::npos);
}

TEST_F(DecisionLogTest, TickLogsItEvenIfNoDenialFollows) {
  deny(12, noon);
  log_.tick(noon + 500ms);
  EXPECT_EQ(lines(), 5);
  log_.tick(noon + 1s);
  EXPECT_EQ(lines(), 6);
  log_.tick(noon + 2s);
  EXPECT_EQ(lines(), 6);
}

int passing(LineLimit& limit, Instant now, int count) {
  int passed = 0;
  for (int i = 0; i < count; ++i) passed += limit.pass(now) ? 1 : 0;
  return passed;
}

TEST(LineLimit, PassesTheMaximumPerSecond) {
  LineLimit limit(3);
  EXPECT_EQ(passing(limit, noon, 10), 3);
  EXPECT_EQ(passing(limit, noon + 999'999us, 10), 0);
  EXPECT_EQ(passing(limit, noon + 1s, 10), 3);
}

TEST(LineLimit, SuppressedCountIsReturnedOnceWhenTheSecondIsOver) {
  LineLimit limit(3);
  passing(limit, noon, 10);
  EXPECT_EQ(limit.take_suppressed(noon + 999'999us), 0U);
  EXPECT_EQ(limit.take_suppressed(noon + 1s), 7U);
  EXPECT_EQ(limit.take_suppressed(noon + 2s), 0U);
}

TEST(LineLimit, LimitOfZeroPassesNothingAndCountsOncePerSecond) {
  LineLimit limit(0);
  EXPECT_EQ(passing(limit, noon, 5), 0);
  EXPECT_EQ(limit.take_suppressed(noon), 0U);
  EXPECT_EQ(limit.take_suppressed(noon + 1s), 5U);
}

TEST(LineLimit, ThreadThatIsStillInTheSecondBeforeGetsNoRoomOfItsOwn) {
  LineLimit limit(3);
  EXPECT_EQ(passing(limit, noon, 3), 3);
  EXPECT_EQ(passing(limit, noon - 1us, 3), 0);
  EXPECT_EQ(passing(limit, noon, 3), 0);
}

TEST(LineLimit, ClockThatStepsBackDoesNotShutIt) {
  LineLimit limit(3);
  passing(limit, noon, 10);
  EXPECT_EQ(passing(limit, noon - 1h, 10), 3);
}

int taken(Sampler& sampler, int of) {
  int count = 0;
  for (int i = 0; i < of; ++i) count += sampler.takes() ? 1 : 0;
  return count;
}

TEST(Sampler, TakesItsShare) {
  struct Row {
    Sampling sampling;
    int least;
    int most;
  };
  for (const Row& row : {Row{{1, 1}, 10'000, 10'000}, Row{{3, 2}, 10'000, 10'000}, Row{{0, 10}, 0, 0},
                         Row{{1, 10}, 900, 1100}, Row{{3, 4}, 7300, 7700}}) {
    Sampler sampler(row.sampling, 1);
    const int count = taken(sampler, 10'000);
    EXPECT_GE(count, row.least);
    EXPECT_LE(count, row.most);
  }
}

TEST(Sampler, TrafficWithARhythmIsSampledToo) {
  Sampler sampler({1, 10}, 1);
  int every_tenth = 0;
  for (int i = 0; i < 10'000; ++i) {
    const bool takes = sampler.takes();
    if (i % 10 == 0) every_tenth += takes ? 1 : 0;
  }
  EXPECT_GE(every_tenth, 60);
  EXPECT_LE(every_tenth, 140);
}

TEST(Sampler, SameSeedTakesTheSame) {
  Sampler one({1, 3}, 42);
  Sampler other({1, 3}, 42);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.takes(), other.takes());
}

}  // namespace
}  // namespace weir::observe
