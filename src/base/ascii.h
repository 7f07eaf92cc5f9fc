// ASCII character classes and letter case, independent of the locale: a byte above 0x7F is in no class and has no case.
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace weir::base {

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
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';  // char is unsigned on arm64
}
constexpr bool is_printable(char c) noexcept {
  return c >= ' ' && c <= '~';
}
// A character of a method or a header field name (RFC 9110, 5.6.2).
constexpr bool is_token_character(char c) noexcept {
  return is_letter_or_digit(c) || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

// True if `text` is not empty and accepts(c) is true for all of its characters.
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

// Converts eight characters, packed into one word, to lower case.
constexpr std::uint64_t eight_to_lower(std::uint64_t text) noexcept {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101U;
  const std::uint64_t low_bits = text & (0x7F * each);
  const std::uint64_t from_a = low_bits + (0x80 - 'A') * each;  // the high bit of a byte is set from 'A' on
  const std::uint64_t beyond_z = low_bits + (0x7F - 'Z') * each;
  const std::uint64_t is_upper = (from_a ^ beyond_z) & ~text & (0x80 * each);
  return text | is_upper >> 2U;
}

// Writes `text` in lower case to `to` and returns its end. Processes eight characters at a time.
inline char* put_lower(char* to, std::string_view text) noexcept {
  const std::size_t size = text.size();
  if (size < sizeof(std::uint64_t)) return std::transform(text.begin(), text.end(), to, to_lower);
  const auto put_eight = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    word = eight_to_lower(word);
    std::memcpy(to + at, &word, sizeof word);
  };
  for (std::size_t at = 0; at + sizeof(std::uint64_t) < size; at += sizeof(std::uint64_t)) put_eight(at);
  put_eight(size - sizeof(std::uint64_t));  // overlaps the previous ones
  return to + size;
}

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

// True if `text` in lower case equals `lower`.
constexpr bool equals_lower(std::string_view text, std::string_view lower) noexcept {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (to_lower(text[i]) != lower[i]) return false;
  }
  return true;
}

// A faster equals_lower for header field names and the like. `name` must consist of lower case letters, digits and
// hyphens. If it has digits or hyphens, `text` must not have control characters, which differ from them in only one
// bit.
constexpr bool equals_name(std::string_view text, std::string_view name) noexcept {
  const std::size_t size = name.size();
  if (text.size() != size) return false;
  std::uint64_t difference = 0;
  if (size >= 8 && !std::is_constant_evaluated()) {  // eight at a time; the last eight may overlap the previous ones
    const auto differ = [&](std::size_t i) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, text.data() + i, sizeof a);
      std::memcpy(&b, name.data() + i, sizeof b);
      return (a | 0x2020'2020'2020'2020U) ^ b;
    };
    for (std::size_t i = 0; i + 8 < size; i += 8) difference |= differ(i);
    return (difference | differ(size - 8)) == 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    difference |= (static_cast<std::uint8_t>(text[i]) | 0x20U) ^ static_cast<std::uint8_t>(name[i]);
  }
  return difference == 0;
}

// `text` without spaces and tabs at both ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}
// `text` without any of `blanks` at both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace weir::base
