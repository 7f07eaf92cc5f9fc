#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "server/log.h"
#include "server/shared_limits.h"
#include "tests/temporary_folder.h"
#include "weir/clock.h"

namespace weir::server {
namespace {

using store::redis::Severity;

class StoreLogTest : public testing::Test {
 protected:
  // Returns the number of lines that were written.
  std::size_t lines_of(const std::vector<std::string>& said) {
    const std::string path = (folder_.path() / "log").string();
    auto writer = observe::LogWriter::start({.path = path});
    EXPECT_TRUE(writer.has_value());
    const ManualClock clock;
    Log log(**writer, clock, LogLevel::info);
    StoreLog store_log(log);
    for (const std::string& line : said) store_log.write(Severity::info, line);
    (*writer)->flush();
    std::ifstream file(path);
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_F(StoreLogTest, WhatSeveralLoopsSayIsWrittenOnce) {
  EXPECT_EQ(lines_of({"a answers", "a answers", "a answers"}), 1U);
}

TEST_F(StoreLogTest, AlsoWhereTheyTellOfSeveralServersInTurn) {
  EXPECT_EQ(lines_of({"a answers", "b answers", "a answers", "b answers", "c answers", "a answers"}), 3U);
}

TEST_F(StoreLogTest, OnlyTheLastFewLinesAreRemembered) {
  EXPECT_EQ(lines_of({"1", "2", "3", "4", "5", "6", "7", "8", "1"}), 8U);
  EXPECT_EQ(lines_of({"1", "2", "3", "4", "5", "6", "7", "8", "9", "1"}), 8U + 10U) << "appended";
}

}  // namespace
}  // namespace weir::server
