// Parser steps: each removes what it accepts from the front of `rest`.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::wire {

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
