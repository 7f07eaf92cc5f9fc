// ASCII: classes of bytes, and steps that take something off the front of a text. The locale has no say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace weir::wire {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_alpha(char c) noexcept {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}
constexpr bool is_space(char c) noexcept {
  return c == ' ';
}
constexpr bool is_space_or_tab(char c) noexcept {
  return c == ' ' || c == '\t';
}
constexpr bool is_printable(char c) noexcept {
  return c >= ' ' && c <= '~';
}

constexpr std::optional<unsigned> hex_digit(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a') + 10;
  return {};
}

// `%` and two digits, in upper case.
constexpr std::array<char, 3> percent_encoded(char c) noexcept {
  constexpr std::string_view hex = "0123456789ABCDEF";
  const auto byte = static_cast<std::uint8_t>(c);
  return {'%', hex[byte >> 4U], hex[byte & 0xFU]};
}

// Whether `text` is `lower` in any letter case. `lower` is made of lower case letters, digits and hyphens, and where it
// has more than letters, `text` has no control characters: then one bit is all they can differ in.
constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  const std::size_t size = lower.size();
  if (text.size() != size) return false;
  std::uint64_t difference = 0;
  if (size >= 8 && !std::is_constant_evaluated()) {  // eight at a time; the last may reach back into those before
    const auto differ = [&](std::size_t i) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, text.data() + i, sizeof a);
      std::memcpy(&b, lower.data() + i, sizeof b);
      return (a | 0x2020'2020'2020'2020U) ^ b;
    };
    for (std::size_t i = 0; i + 8 < size; i += 8) difference |= differ(i);
    return (difference | differ(size - 8)) == 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    difference |= (static_cast<std::uint8_t>(text[i]) | 0x20U) ^ static_cast<std::uint8_t>(lower[i]);
  }
  return difference == 0;
}

constexpr std::string_view without_outer_whitespace(std::string_view text) noexcept {
  while (!text.empty() && is_space_or_tab(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space_or_tab(text.back())) text.remove_suffix(1);
  return text;
}

// Each takes what it accepts off the front of `rest`.

constexpr bool take(std::string_view& rest, char expected) noexcept {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(1);
  return true;
}

constexpr bool take(std::string_view& rest, std::string_view expected) noexcept {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(expected.size());
  return true;
}

template <class Accepts>
constexpr std::string_view take_while(std::string_view& rest, Accepts accepts) noexcept {
  std::size_t length = 0;
  while (length < rest.size() && accepts(rest[length])) ++length;
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

}  // namespace weir::wire
