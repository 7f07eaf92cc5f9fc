// Lines of plain and gzip files: none lost, none invented, and errors are reported.
#include "simulate/log_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/simulate/log_file.h"

namespace weir::simulate {
namespace {

constexpr std::size_t longest = LogSource::max_line_length;

struct Reading {
  std::vector<std::string> lines;
  std::vector<std::uint64_t> numbers;
  std::uint64_t overlong = 0;
  std::string error;
  Progress progress;
};

Reading read(LogSource& source) {
  Reading reading;
  while (const auto line = source.next()) {
    reading.lines.emplace_back(*line);
    reading.numbers.push_back(source.line_number());
  }
  EXPECT_FALSE(source.next().has_value()) << "the end is final";
  reading.overlong = source.overlong_lines();
  if (source.error()) reading.error = source.error()->message();
  reading.progress = source.progress();
  return reading;
}

Reading read(const std::string& path) {
  auto source = LogSource::open(path);
  EXPECT_TRUE(source.has_value()) << (source ? "" : source.error().message());
  return source ? read(*source) : Reading{};
}

// Lines of many lengths, over several blocks.
std::string many_lines(std::size_t count, std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    lines.push_back(std::to_string(i) + std::string(i * 37 % 301, 'x'));
    text += lines.back() + '\n';
  }
  return text;
}

TEST(LogSource, LinesAndTheirNumbersAreThoseOfTheFile) {
  struct Row {
    std::string content;
    std::vector<std::string> lines;
    std::vector<std::uint64_t> numbers;
  };
  const std::vector<Row> rows{
      {"", {}, {}},
      {"\n\n\n", {}, {}},
      {"a\nb\n", {"a", "b"}, {1, 2}},
      {"a\nb", {"a", "b"}, {1, 2}},
      {"a\r\nb\r\n", {"a", "b"}, {1, 2}},
      {"a\r\n\r\nb\r", {"a", "b"}, {1, 3}},
      {"\n\na\n\nb", {"a", "b"}, {3, 5}},
      {"\xef\xbb\xbf{}\n", {"{}"}, {1}},
      {"a\n\xef\xbb\xbf"
       "b",
       {"a",
        "\xef\xbb\xbf"
        "b"},
       {1, 2}},
      {std::string("a\0b\n", 4), {std::string("a\0b", 3)}, {1}},
  };
  for (const Row& row : rows) {
    for (const bool zipped : {false, true}) {
      const LogFile file(zipped ? gzipped(row.content) : row.content);
      const Reading reading = read(file.path());
      EXPECT_EQ(reading.lines, row.lines) << row.content;
      EXPECT_EQ(reading.numbers, row.numbers) << row.content;
      EXPECT_EQ(reading.error, "");
    }
  }
}

TEST(LogSource, EveryLineOfALongFileIsReadAndTheProgressEndsAtItsSize) {
  std::vector<std::string> lines;
  const std::string text = many_lines(40'000, lines);
  const std::string zipped = gzipped(text);
  for (const std::string& content : {text, zipped}) {
    const LogFile file(content);
    const Reading reading = read(file.path());
    EXPECT_TRUE(reading.lines == lines);
    EXPECT_EQ(reading.progress.consumed, content.size());
    EXPECT_EQ(reading.progress.total, content.size());
  }
}

TEST(LogSource, GzipIsDetectedByItsBytesNotItsName) {
  const LogFile named_plain(gzipped("a\n"), "access.log");
  EXPECT_EQ(read(named_plain.path()).lines, std::vector<std::string>{"a"});
  const LogFile named_gzip("a\n", "access.log.gz");
  EXPECT_EQ(read(named_gzip.path()).lines, std::vector<std::string>{"a"});
}

TEST(LogSource, MembersOfAGzipFileAreReadOneAfterTheOther) {
  const LogFile file(gzipped("a\nb") + gzipped("c\n") + gzipped("") + gzipped("d\n") + std::string(700, '\0'));
  const Reading reading = read(file.path());
  EXPECT_EQ(reading.lines, (std::vector<std::string>{"a", "bc", "d"}));
  EXPECT_EQ(reading.error, "");
}

TEST(LogSource, StandardInputIsReadThroughAPipe) {
  std::vector<std::string> lines;
  const std::string text = many_lines(200, lines);
  for (const std::string& content : {text, gzipped(text)}) {
    ASSERT_LT(content.size(), 60'000U) << "fits into a pipe";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], content.data(), content.size()), static_cast<ssize_t>(content.size()));
    close(ends[1]);
    const int before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    const Reading reading = read("-");
    dup2(before, STDIN_FILENO);
    close(before);
    EXPECT_EQ(reading.lines, lines);
    EXPECT_EQ(reading.progress.total, std::nullopt);
  }
}

TEST(LogSource, OverlongLinesAreSkippedAndCounted) {
  const std::string fits(longest, 'a');
  struct Row {
    std::string content;
    std::vector<std::string> lines;
    std::uint64_t overlong;
  };
  const std::vector<Row> rows{
      {fits + "\nb\n", {fits, "b"}, 0},
      {fits + "\r\nb\n", {fits, "b"}, 0},
      {fits, {fits}, 0},
      {fits + "a\nb\n", {"b"}, 1},
      {fits + "a", {}, 1},
      {"x\n" + std::string(5'000'000, 'y') + "\nb\n", {"x", "b"}, 1},
      {"x\n" + std::string(5'000'000, 'y'), {"x"}, 1},
      {std::string(900'000, 'y') + "\n" + std::string(900'000, 'z') + "\nb", {"b"}, 2},
  };
  for (const Row& row : rows) {
    for (const bool zipped : {false, true}) {
      const LogFile file(zipped ? gzipped(row.content) : row.content);
      const Reading reading = read(file.path());
      EXPECT_TRUE(reading.lines == row.lines) << row.content.size();
      EXPECT_EQ(reading.overlong, row.overlong) << row.content.size();
    }
  }
}

TEST(LogSource, NumberOfALineCountsTheOverlongOnesBeforeIt) {
  const LogFile file("x\n" + std::string(5'000'000, 'y') + "\nb\n");
  EXPECT_EQ(read(file.path()).numbers, (std::vector<std::uint64_t>{1, 3}));
}

TEST(LogSource, TruncatedGzipKeepsTheCompleteLines) {
  std::vector<std::string> lines;
  const std::string whole = gzipped(many_lines(40'000, lines));
  for (const std::size_t length : {whole.size() - 1, whole.size() - 8, whole.size() / 2, std::size_t{12}}) {
    const LogFile file(whole.substr(0, length));
    const Reading reading = read(file.path());
    ASSERT_LE(reading.lines.size(), lines.size());
    EXPECT_TRUE(std::equal(reading.lines.begin(), reading.lines.end(), lines.begin())) << length;
    EXPECT_TRUE(length < whole.size() / 2 || reading.lines.size() > 1'000U) << length;
    EXPECT_EQ(reading.error, file.path() + ": gzip data is truncated after " + std::to_string(length) +
                                 " bytes; the complete lines before that are used; get a complete copy");
  }
}

TEST(LogSource, CorruptGzipKeepsTheLinesBeforeIt) {
  std::vector<std::string> lines;
  std::string data = gzipped(many_lines(40'000, lines));
  data[data.size() - 6] = static_cast<char>(data[data.size() - 6] ^ 1);  // in the checksum
  const LogFile wrong_sum(data);
  const Reading reading = read(wrong_sum.path());
  EXPECT_TRUE(reading.lines == lines);
  EXPECT_NE(reading.error.find("gzip data is corrupt before byte"), std::string::npos) << reading.error;
  EXPECT_NE(reading.error.find("(incorrect data check)"), std::string::npos) << reading.error;

  const LogFile garbage_behind(gzipped("a\n") + "not gzip");
  const Reading first = read(garbage_behind.path());
  EXPECT_EQ(first.lines, std::vector<std::string>{"a"});
  EXPECT_NE(first.error.find("(incorrect header check)"), std::string::npos) << first.error;
}

TEST(LogSource, UnreadableFileIsAnErrorWithAHint) {
  const LogFile zstd("\x28\xb5\x2f\xfd....");
  const LogFile xz(
      "\xfd"
      "7zXZ....");
  struct Row {
    std::string path;
    std::string message;
  };
  const std::vector<Row> rows{
      {"/nowhere/access.log",
       "/nowhere/access.log: cannot open: No such file or directory; use an access log, or - for standard input"},
      {zstd.folder(), zstd.folder() + ": is a directory; use one of its files, or - to pipe several"},
      {zstd.path(), zstd.path() +
                        ": is compressed with zstd, but only gzip is supported; use zstd -dc FILE | weir simulate "
                        "POLICY --log -"},
      {xz.path(),
       xz.path() +
           ": is compressed with xz, but only gzip is supported; use xz -dc FILE | weir simulate POLICY --log -"},
  };
  for (const Row& row : rows) {
    const auto source = LogSource::open(row.path);
    ASSERT_FALSE(source.has_value()) << row.path;
    EXPECT_EQ(source.error().message(), row.message);
  }
}

}  // namespace
}  // namespace weir::simulate
