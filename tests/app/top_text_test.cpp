#include "app/top_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::app {
namespace {

TEST(ShownText, StaysWhatItIsWhereItIsPlain) {
  EXPECT_EQ(shown("api-by-user POST /login", Charset::ascii), "api-by-user POST /login");
  EXPECT_EQ(shown("größe λ Я", Charset::unicode), "größe λ Я");
}

TEST(ShownText, HasNothingThatSteersATerminal) {
  struct Row {
    std::string text;
    std::string expected;
  };
  const std::vector<Row> rows = {
      {"\x1b[2J", "\\x1b[2J"},
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
      {"a\rb\nc\td", "a\\x0db\\nc\\x09d"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},  // CSI as one character
      {"\xe2\x80\xae"
       "abc",
       "\\u202eabc"},                       // from right to left
      {"\xe2\x80\x8b", "\\u200b"},          // zero width
      {"\xcc\x81", "\\u0301"},              // a combining character
      {"\xe4\xb8\xad", "\\u4e2d"},          // two columns wide
      {"\xff\xc0\xaf", "\\xff\\xc0\\xaf"},  // invalid UTF-8
      {"\xe0\x81\x81", "\\xe0\\x81\\x81"},  // an overlong encoding of A
      {"\xe2\x80", "\\xe2\\x80"},           // truncated
      {"\xf0\x9f\x98\x80", "\\u1f600"},
  };
  for (const Row& row : rows) EXPECT_EQ(shown(row.text, Charset::unicode), row.expected);
  EXPECT_EQ(shown("größe", Charset::ascii), "gr\\u00f6\\u00dfe");
}

TEST(FittedText, HasTheWidthThatIsAskedFor) {
  EXPECT_EQ(fitted("abc", 5, Charset::ascii), "abc  ");
  EXPECT_EQ(fitted("abcdef", 5, Charset::ascii), "abcd~");
  EXPECT_EQ(fitted("äöüßä", 4, Charset::unicode), "äöü…");
  EXPECT_EQ(fitted("abc", 0, Charset::ascii), "");
  EXPECT_EQ(fitted_right("12", 4, Charset::ascii), "  12");
  EXPECT_EQ(fitted_right("12345", 4, Charset::ascii), "123~");
}

TEST(ALine, IsCutAtTheWidth) {
  const Line line{{"abc"}, {"def", Ink::red}, {"ghi"}};
  const std::vector<std::pair<std::size_t, std::string>> rows = {
      {9, "abcdefghi"}, {20, "abcdefghi"}, {8, "abcdefg~"}, {6, "abcde~"}, {4, "abc~"}, {3, "ab~"}, {1, "~"}, {0, ""}};
  for (const auto& [width, expected] : rows) EXPECT_EQ(text_of(cut(line, width, Charset::ascii)), expected) << width;
}

TEST(ASparkline, ShowsValuesAgainstTheHighest) {
  EXPECT_EQ(sparkline({0, 1, 50, 100}, 4, 4, Charset::ascii), "_.-#");
  EXPECT_EQ(sparkline({0, 1, 50, 100}, 4, 4, Charset::unicode), "▁▂▄█");
}

TEST(ASparkline, EndsNow) {
  EXPECT_EQ(sparkline({5}, 4, 4, Charset::ascii), "   #");
  EXPECT_EQ(sparkline({9, 9, 0, 0}, 2, 2, Charset::ascii), "__");
  EXPECT_EQ(sparkline({}, 3, 3, Charset::ascii), "   ");
}

TEST(ASparkline, AddsWhatHasNoRoom) {
  EXPECT_EQ(sparkline({0, 0, 1, 1, 2, 2}, 6, 3, Charset::ascii), "_-#");
  EXPECT_EQ(sparkline({1, 1}, 2, 0, Charset::ascii), "");
  EXPECT_EQ(width_of(sparkline(std::vector<std::uint64_t>(60, 7), 60, 37, Charset::unicode)), 37U);
}

TEST(ANumber, IsShort) {
  const std::vector<std::pair<double, std::string>> counts = {
      {0, "0"},         {0.25, "0.2"},    {9.5, "9.5"},      {120, "120"},      {9999, "9999"},
      {12345, "12.3k"}, {123456, "123k"}, {9.99e6, "9990k"}, {1.25e7, "12.5M"}, {123.4, "123"}};
  for (const auto& [count, expected] : counts) EXPECT_EQ(count_text(count), expected);
  EXPECT_EQ(bytes_text(147796), "144 KiB");
  EXPECT_EQ(bytes_text(268435456), "256 MiB");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1048576), "1 MiB");
  EXPECT_EQ(bytes_text(1610612736), "1.5 GiB");
  EXPECT_EQ(share_text(0.125), "12.5 %");
  EXPECT_EQ(duration_text({}, Charset::ascii), "-");
  EXPECT_EQ(duration_text(1.2e-6, Charset::unicode), "1.2 µs");
  EXPECT_EQ(duration_text(1.2e-6, Charset::ascii), "1.2 us");
  EXPECT_EQ(duration_text(0.0045, Charset::ascii), "4.5 ms");
  EXPECT_EQ(duration_text(2.0, Charset::ascii), "2.0 s");
}

TEST(AWait, IsRoundedUpToThreeDigitsOrTwoUnits) {
  const std::vector<std::pair<double, std::string>> rows = {
      {0, "0 s"},           {0.000428572, "429 us"}, {0.75, "750 ms"},    {0.0045, "4.5 ms"},
      {1, "1 s"},           {3.75, "3.75 s"},        {3.751, "3.76 s"},   {59.931582, "60 s"},
      {59.85, "59.9 s"},    {119.2, "120 s"},        {150, "2 min 30 s"}, {3599.7, "60 min"},
      {7199.929, "2 h"},    {7201, "2 h 1 min"},     {90000, "25 h"},     {1137600, "13 d 4 h"},
      {1137601, "13 d 5 h"}};
  for (const auto& [seconds, expected] : rows) EXPECT_EQ(wait_text(seconds), expected) << seconds;
}

}  // namespace
}  // namespace weir::app
