// Classes of characters and their letter case: ASCII only, the locale has no say. And what is one character of UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::text {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(char c) noexcept {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_letter_or_digit(char c) noexcept {
  return is_letter(c) || is_digit(c);
}
constexpr bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}
constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';  // char has no sign on arm64
}
constexpr bool is_printable(char c) noexcept {
  return c >= ' ' && c <= '~';
}
// What names of header fields and methods are made of (RFC 9110, 5.6.2).
constexpr bool is_token_character(char c) noexcept {
  return is_letter_or_digit(c) || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

// Whether it has characters, and all of them are such.
template <class Accepts>
constexpr bool consists_of(std::string_view text, Accepts accepts) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), accepts);
}
constexpr bool is_token(std::string_view text) noexcept {
  return consists_of(text, is_token_character);
}

constexpr char to_lower(char c) noexcept {
  return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr char to_upper(char c) noexcept {
  return is_lower(c) ? static_cast<char>(c - ('a' - 'A')) : c;
}
[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}
[[nodiscard]] inline std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_upper);
  return result;
}
constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

// What a hexadecimal digit stands for; -1 for any other character.
constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char letter = to_lower(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t") noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// Whether a byte of UTF-8 is within a character that began before.
constexpr bool continues_character(char c) noexcept {
  return (static_cast<std::uint8_t>(c) & 0xC0U) == 0x80;
}

// How many bytes the character at the front of `text` has; 0 if it is not UTF-8: cut off, overlong, a surrogate, or
// beyond U+10FFFF.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool is_overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool is_beyond = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  return is_overlong || is_beyond ? 0 : length;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// The character at the front of `text`, which is UTF-8 and not empty.
constexpr char32_t first_code_point(std::string_view text) noexcept {
  const std::size_t length = utf8_length(text);
  const auto lead = static_cast<std::uint8_t>(text.front());
  char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (static_cast<std::uint8_t>(text[i]) & 0x3FU);
  return code;
}

// Characters that are not seen and change how others are shown: controls, marks of direction (U+202E writes what
// follows from right to left), joiners, tags. Shown to people and in JSON, they are escaped.
constexpr bool is_hidden(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

// Appends `size` bytes, which put(to) writes. A few are written elsewhere first: room in a string would be zeroed.
template <class Put>
void append_written(std::string& out, std::size_t size, const Put& put) {
  char bytes[256];
  const bool is_short = size <= sizeof bytes;
  const std::size_t at = out.size();
  if (!is_short) out.resize(at + size);
  put(is_short ? bytes : out.data() + at);
  if (is_short) out.append(bytes, size);
}

}  // namespace weir::text
