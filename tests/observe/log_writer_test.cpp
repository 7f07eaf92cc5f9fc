#include "observe/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "tests/observe/folder.h"

namespace weir::observe {
namespace {

using namespace std::chrono_literals;

class LogWriterTest : public testing::Test {
 protected:
  std::unique_ptr<LogWriter> start() {
    auto writer = LogWriter::start({.path = folder_.file("log")});
    EXPECT_TRUE(writer) << writer.error().message();
    return std::move(*writer);
  }

  Folder folder_;
};

TEST_F(LogWriterTest, LinesAreWrittenInOrderAndAppended) {
  folder_.write("log", "before\n");
  start()->write("one\n");
  const auto writer = start();
  writer->write("two\n");
  writer->write("three\n");
  writer->flush();
  EXPECT_EQ(folder_.read("log"), "before\none\ntwo\nthree\n");
  EXPECT_EQ(writer->dropped(), 0U);
}

TEST_F(LogWriterTest, FileIsForOwnerAndGroup) {
  start();
  struct stat status{};
  ASSERT_EQ(stat(folder_.file("log").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0137U, 0U);
}

TEST_F(LogWriterTest, ReopenedWritesToTheNewFile) {
  const auto writer = start();
  writer->write("old\n");
  writer->flush();
  std::filesystem::rename(folder_.file("log"), folder_.file("log.1"));
  ASSERT_TRUE(writer->reopen());
  writer->flush();
  writer->write("new\n");
  writer->flush();
  EXPECT_EQ(folder_.read("log.1"), "old\n");
  EXPECT_EQ(folder_.read("log"), "new\n");
}

TEST_F(LogWriterTest, ReopenThatFailsKeepsTheOldFile) {
  const auto writer = start();
  std::filesystem::rename(folder_.file("log"), folder_.file("log.1"));
  std::filesystem::create_directory(folder_.file("log"));
  const auto reopened = writer->reopen();
  ASSERT_FALSE(reopened);
  EXPECT_EQ(reopened.error().message(), folder_.file("log") +
                                            ": cannot open the log: Is a directory; its directory must exist and the "
                                            "file must be writable");
  writer->write("still\n");
  writer->flush();
  EXPECT_EQ(folder_.read("log.1"), "still\n");
}

TEST_F(LogWriterTest, MissingFolderIsAnError) {
  const auto writer = LogWriter::start({.path = folder_.file("no/log")});
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message().find("No such file or directory"), std::string::npos);
}

TEST_F(LogWriterTest, ReaderThatDoesNotReadCostsLinesAndNothingElse) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const std::string line = std::string(999, 'x') + "\n";
  constexpr std::uint64_t lines = 1000;
  std::uint64_t dropped = 0;
  {
    LogWriter writer({.path = {}, .max_pending_bytes = 100'000, .grace = 0ms}, LogFile(ends[1]));
    for (std::uint64_t i = 0; i < lines; ++i) writer.write(line);
    dropped = writer.dropped();
  }
  // A pipe holds 64 KiB; one buffer is pending, and the writer has another.
  EXPECT_GE(dropped, lines - 66 - 100 - 100);
  std::string read(2'000'000, '\0');
  const ssize_t size = ::read(ends[0], read.data(), read.size());
  EXPECT_GT(size, 0);
  EXPECT_EQ(size % 1000, 0) << "only whole lines";
  close(ends[0]);
}

TEST_F(LogWriterTest, LinesWithoutAReaderAreCountedAsDropped) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  close(ends[0]);
  LogWriter writer({}, LogFile(ends[1]));
  writer.write("one\n");
  writer.write("two\n");
  writer.flush();
  EXPECT_EQ(writer.dropped(), 2U);
}

TEST_F(LogWriterTest, LineLongerThanTheRoomIsDropped) {
  LogWriter writer({.path = {}, .max_pending_bytes = 10}, *LogFile::open(folder_.file("log")));
  writer.write("0123456789\n");
  writer.write("short\n");
  writer.flush();
  EXPECT_EQ(writer.dropped(), 1U);
  EXPECT_EQ(folder_.read("log"), "short\n");
}

TEST_F(LogWriterTest, MoreThanAPipeTakesAtOnceArrivesWhole) {
  std::string all;
  {
    const auto writer = start();
    for (int i = 0; i < 500; ++i) {
      const std::string line = std::to_string(i) + std::string(static_cast<std::size_t>(i % 7) * 1000, '.') + "\n";
      writer->write(line);
      all += line;
      if (i % 100 == 0) writer->flush();
    }
    EXPECT_EQ(writer->dropped(), 0U);
  }
  EXPECT_EQ(folder_.read("log"), all);
}

}  // namespace
}  // namespace weir::observe
