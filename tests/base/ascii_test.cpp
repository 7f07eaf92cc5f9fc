#include "base/ascii.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace weir::base {
namespace {

TEST(Ascii, BytesBeyondAsciiAreInNoClass) {
  for (int c = -128; c < 0; ++c) {
    const char byte = static_cast<char>(c);
    EXPECT_FALSE(is_letter_or_digit(byte) || is_control(byte) || is_printable(byte) || is_token_character(byte)) << c;
    EXPECT_EQ(to_lower(byte), byte);
    EXPECT_EQ(to_upper(byte), byte);
  }
}

TEST(Ascii, EveryOtherByteIsPrintableOrAControlCharacter) {
  for (int c = 0; c < 128; ++c) {
    EXPECT_NE(is_control(static_cast<char>(c)), is_printable(static_cast<char>(c))) << c;
  }
}

TEST(Ascii, LettersHaveTwoCases) {
  EXPECT_EQ(lower("GET /Users"), "get /users");
  EXPECT_EQ(upper("get-1"), "GET-1");
  EXPECT_TRUE(equals_ignoring_case("X-User", "x-uSER"));
  EXPECT_FALSE(equals_ignoring_case("x-user", "x-users"));
  EXPECT_FALSE(equals_ignoring_case("a[", "a{"));  // one bit apart
}

TEST(Ascii, PutLowerChangesWhatToLowerChangesAtEveryLengthAndPosition) {
  std::string all;
  for (int c = -128; c < 128; ++c) all += static_cast<char>(c);
  for (std::size_t size = 0; size <= 40; ++size) {
    for (std::size_t from = 0; from + size <= all.size(); ++from) {
      const std::string text = all.substr(from, size);
      std::array<char, 40> written{};
      char* const end = put_lower(written.data(), text);
      ASSERT_EQ(std::string(written.data(), end), lower(text)) << size << " from " << from;
    }
  }
}

TEST(Ascii, ATextEqualsItsLowerCase) {
  for (const auto equals : {equals_lower, equals_name}) {
    EXPECT_TRUE(equals("Host", "host"));
    EXPECT_TRUE(equals("Content-LENGTH", "content-length"));
    EXPECT_TRUE(equals("", ""));
    EXPECT_FALSE(equals("hosts", "host"));
    EXPECT_FALSE(equals("Content-Length", "content-lengt0"));
    EXPECT_FALSE(equals("Xontent-Length", "content-length"));
  }
  EXPECT_TRUE(equals_lower("X_User", "x_user"));
  EXPECT_FALSE(equals_lower("content\rlength", "content-length"));  // one bit apart
}

TEST(Ascii, TokensAreWhatFieldNamesConsistOf) {
  EXPECT_TRUE(is_token("X-User_Id.1~"));
  for (const char* text : {"", "a b", "a:b", "a/b", "\xC3\xA9"}) EXPECT_FALSE(is_token(text)) << text;
}

TEST(Ascii, BlanksAreTrimmedOffBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\t"), "a b");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta");
  EXPECT_EQ(trimmed("\ra\n", "\r\n"), "a");
  EXPECT_EQ(trimmed("  "), "");
  EXPECT_EQ(trimmed(" ", " "), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace weir::base
