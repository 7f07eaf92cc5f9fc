#include "text/utf8.h"

#include <gtest/gtest.h>

namespace weir::text {
namespace {

TEST(Utf8, CharactersAreReadStrictly) {
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("\xC3\xA9x"), 2U);
  EXPECT_EQ(utf8_length("\xE2\x82\xAC"), 3U);
  EXPECT_EQ(utf8_length("\xF0\x9F\x8E\x89"), 4U);
  EXPECT_EQ(utf8_length("\xF4\x8F\xBF\xBF"), 4U);  // U+10FFFF
  for (const char* text : {"", "\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3x"}) {
    EXPECT_EQ(utf8_length(text), 0U) << text;
  }
}

}  // namespace
}  // namespace weir::text
