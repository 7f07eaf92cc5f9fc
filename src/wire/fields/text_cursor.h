// The steps that the readers of fields share: each takes something off the front of a text.
// Bytes are ASCII or nothing; the locale has no say.
#pragma once

#include <cstddef>
#include <string_view>

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
