#include "observe/decision_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/observe/folder.h"

namespace weir::observe {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};

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

TEST_F(DecisionLogTest, NextDenialSaysFirstWhatWasLeftOut) {
  deny(12, noon);
  deny(1, noon + 1s);
  EXPECT_EQ(lines(), 7);
  EXPECT_NE(written().find(R"({"time":"2026-01-05T12:00:01.000000Z","event":"suppressed","count":7})"),
            std::string::npos);
}

TEST_F(DecisionLogTest, TickSaysItEvenIfNoDenialFollows) {
  deny(12, noon);
  log_.tick(noon + 500ms);
  EXPECT_EQ(lines(), 5);
  log_.tick(noon + 1s);
  EXPECT_EQ(lines(), 6);
  log_.tick(noon + 2s);
  EXPECT_EQ(lines(), 6);
}

}  // namespace
}  // namespace weir::observe
