// Reads and writes hexadecimal digits. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::base {

inline constexpr std::string_view lower_hex_digits = "0123456789abcdef";
inline constexpr std::string_view upper_hex_digits = "0123456789ABCDEF";

// The value of a digit in either case, 0 to 15; -1 for any other character.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The byte encoded by two hex digits, 0 to 255; -1 unless both are digits.
constexpr int hex_byte(char high, char low) noexcept {
  const int high_value = hex_value(high);
  const int low_value = hex_value(low);
  return high_value < 0 || low_value < 0 ? -1 : high_value * 16 + low_value;
}

// True for digits with letters in lower case.
constexpr bool is_lower_hex_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Appends the lowest `digits` digits of `number`, the most significant first, in lower case.
inline void append_hex(std::string& out, std::uint64_t number, unsigned digits) {
  for (unsigned left = digits; left > 0; --left) out += lower_hex_digits[number >> 4 * (left - 1) & 0xFU];
}

// Two digits for each byte of a range, in lower case.
template <class Bytes>
[[nodiscard]] std::string hex_text(const Bytes& bytes) {
  std::string text;
  text.reserve(2 * std::size(bytes));
  for (const std::uint8_t byte : bytes) append_hex(text, byte, 2);
  return text;
}

}  // namespace weir::base
