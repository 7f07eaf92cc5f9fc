#include "text/characters.h"

#include <gtest/gtest.h>

namespace weir::text {
namespace {

TEST(Characters, BytesBeyondAsciiAreInNoClass) {
  for (int c = -128; c < 0; ++c) {
    const char byte = static_cast<char>(c);
    EXPECT_FALSE(is_letter_or_digit(byte) || is_control(byte) || is_printable(byte) || is_token_character(byte)) << c;
    EXPECT_EQ(to_lower(byte), byte);
    EXPECT_EQ(to_upper(byte), byte);
    EXPECT_EQ(hex_value(byte), -1);
  }
}

TEST(Characters, EveryOtherByteIsPrintableOrAControlCharacter) {
  for (int c = 0; c < 128; ++c) {
    EXPECT_NE(is_control(static_cast<char>(c)), is_printable(static_cast<char>(c))) << c;
  }
}

TEST(Characters, LettersHaveTwoCases) {
  EXPECT_EQ(lower("GET /Users"), "get /users");
  EXPECT_EQ(upper("get-1"), "GET-1");
  EXPECT_TRUE(equals_ignoring_case("X-User", "x-uSER"));
  EXPECT_FALSE(equals_ignoring_case("x-user", "x-users"));
  EXPECT_FALSE(equals_ignoring_case("a[", "a{"));  // one bit apart
}

TEST(Characters, TokensAreWhatNamesOfFieldsAreMadeOf) {
  EXPECT_TRUE(is_token("X-User_Id.1~"));
  for (const char* text : {"", "a b", "a:b", "a/b", "\xC3\xA9"}) EXPECT_FALSE(is_token(text)) << text;
}

TEST(Characters, BlanksAreTakenOffBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\t"), "a b");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta");
  EXPECT_EQ(trimmed("  "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Characters, Utf8IsReadStrictly) {
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
