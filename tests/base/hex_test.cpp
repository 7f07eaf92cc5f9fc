#include "base/hex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace weir::base {
namespace {

TEST(Hex, EveryByteIsADigitOrHasNoValue) {
  for (int c = -128; c < 128; ++c) {
    const char byte = static_cast<char>(c);
    const std::size_t in_lower = lower_hex_digits.find(byte);
    const std::size_t in_upper = upper_hex_digits.find(byte);
    const std::size_t value = std::min(in_lower, in_upper);
    EXPECT_EQ(hex_value(byte), value == std::string_view::npos ? -1 : static_cast<int>(value)) << c;
    EXPECT_EQ(is_lower_hex_digit(byte), in_lower != std::string_view::npos) << c;
  }
}

TEST(Hex, TwoDigitsAreAByte) {
  EXPECT_EQ(hex_byte('0', '0'), 0);
  EXPECT_EQ(hex_byte('7', 'f'), 127);
  EXPECT_EQ(hex_byte('F', 'F'), 255);
  EXPECT_EQ(hex_byte('g', '0'), -1);
  EXPECT_EQ(hex_byte('0', ' '), -1);
}

TEST(Hex, NumbersAreWrittenWithTheirLeadingZeros) {
  std::string text;
  append_hex(text, 0xAB, 4);
  append_hex(text, 0x1234'5678'9ABC'DEF0, 16);
  append_hex(text, 0xFFF, 1);
  append_hex(text, 1, 0);
  EXPECT_EQ(text, "00ab123456789abcdef0f");
}

TEST(Hex, BytesAreTwoDigitsEach) {
  EXPECT_EQ(hex_text(std::array<unsigned char, 3>{0x00, 0x7F, 0xFF}), "007fff");
  EXPECT_EQ(hex_text(std::array<unsigned char, 0>{}), "");
}

}  // namespace
}  // namespace weir::base
