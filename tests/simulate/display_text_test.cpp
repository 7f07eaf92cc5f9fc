#include "simulate/report_words.h"

#include <gtest/gtest.h>

namespace weir::simulate {
namespace {

TEST(DisplayText, TerminalControlCharactersAreReplaced) {
  struct Row {
    std::string_view text;
    std::string_view shown;
  };
  constexpr std::string_view r = "\xEF\xBF\xBD";
  for (const Row& row : {
           Row{"user=alice", "user=alice"},
           Row{"J\xC3\xBCrgen", "J\xC3\xBCrgen"},
           Row{"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
           Row{"\x1b[31m", "\xEF\xBF\xBD[31m"},
           Row{"\xC2\x9b", r},                           // the 8-bit form of it
           Row{"\xE2\x80\xAE", r},                       // right-to-left override
           Row{"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},  // overlong
           Row{"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
           Row{"a\xE2\x82", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
           Row{"<script>", "<script>"},
       }) {
    EXPECT_EQ(display_text(row.text), row.shown);
  }
}

TEST(DisplayText, LongTextIsTruncatedBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xC3\xBC";
  const std::string shown = display_text(text);
  EXPECT_EQ(shown.size(), max_display_length + 3);
  EXPECT_EQ(display_width(shown), max_display_length / 2 + 1);
}

TEST(Fitted, TruncatesToAWidth) {
  EXPECT_EQ(fitted("abcdef", 6), "abcdef");
  EXPECT_EQ(fitted("abcdef", 4), "abc\xE2\x80\xA6");
  EXPECT_EQ(fitted("\xC3\xBC\xC3\xBC\xC3\xBC", 2), "\xC3\xBC\xE2\x80\xA6");
}

}  // namespace
}  // namespace weir::simulate
