// Reading a log: format, faults, order.
#include "simulate/log_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/simulate/log_file.h"

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;

std::string combined(std::string_view time, std::string_view target) {
  return "1.2.3.4 - - [10/Oct/2023:" + std::string(time) + " +0000] \"GET " + std::string(target) +
         " HTTP/1.1\" 200 1 \"-\" \"curl\"\n";
}

std::vector<std::string> targets_of(LogReader& reader) {
  std::vector<std::string> targets;
  while (const LogEntry* entry = reader.next()) targets.emplace_back(entry->target);
  return targets;
}

TEST(LogReader, FormatIsDetectedFromTheFirstNonEmptyLine) {
  struct Row {
    std::string content;
    LogFormat format;
  };
  for (const Row& row : {Row{"\n\n" + combined("13:55:36", "/x"), LogFormat::combined},
                         Row{"\r\n{\"ts\":1,\"uri\":\"/x\"}\n", LogFormat::json}}) {
    const LogFile file(gzipped(row.content));
    auto reader = LogReader::open(file.path());
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ(reader->format(), std::nullopt);
    EXPECT_EQ(targets_of(*reader), std::vector<std::string>{"/x"});
    EXPECT_EQ(reader->format(), row.format);
    EXPECT_EQ(reader->entries(), 1U);
  }
}

TEST(LogReader, RequestedFormatIsNotDetected) {
  const LogFile file("a broken line\n{\"ts\":1,\"uri\":\"/x\"}\n");
  auto reader = LogReader::open(file.path(), {.format = LogFormat::json, .fields = {}});
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(targets_of(*reader), std::vector<std::string>{"/x"});
  EXPECT_EQ(reader->faults().count(Fault::not_json), 1U);
}

TEST(LogReader, InvalidLinesAreCountedWithTheirLineNumbers) {
  const LogFile file(combined("13:55:36", "/a") + "\nnonsense\n" + combined("13:55:99", "/b") +
                     combined("13:55:37", "/c"));
  auto reader = LogReader::open(file.path());
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(targets_of(*reader), (std::vector<std::string>{"/a", "/c"}));
  ASSERT_EQ(reader->faults().examples().size(), 2U);
  EXPECT_EQ(reader->faults().examples()[0].line_number, 3U);
  EXPECT_EQ(reader->faults().examples()[0].excerpt, "nonsense");
  EXPECT_EQ(reader->faults().examples()[1].fault, Fault::bad_time);
}

TEST(LogReader, TruncatedLogReportsAnErrorAfterItsEntries) {
  const std::string whole = gzipped(combined("13:55:36", "/a") + combined("13:55:37", "/b"));
  const LogFile file(whole.substr(0, whole.size() - 4));
  auto reader = LogReader::open(file.path());
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(targets_of(*reader), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_TRUE(reader->source().error().has_value());
}

TEST(LogReader, SeveralLogsGoThroughOneOrder) {
  const LogFile first(combined("13:55:36", "/a") + combined("13:55:38", "/c") + combined("13:55:40", "/e"));
  const LogFile second(
      "{\"ts\":\"2023-10-10T13:55:39Z\",\"uri\":\"/d\"}\n{\"ts\":\"2023-10-10T13:55:37Z\",\"uri\":\"/b\"}\n");
  LineOrder order;
  std::vector<std::string> targets;
  const auto replay = [&targets](const LogEntry& entry) { targets.emplace_back(entry.target); };
  for (const LogFile* file : {&first, &second}) {
    auto reader = LogReader::open(file->path());
    ASSERT_TRUE(reader.has_value());
    replay_in_order(*reader, order, replay);
  }
  EXPECT_TRUE(targets.empty());
  order.finish();
  drain(order, replay);
  EXPECT_EQ(targets, (std::vector<std::string>{"/a", "/b", "/c", "/d", "/e"}));
}

}  // namespace
}  // namespace weir::simulate
