// How commands read their arguments: words in any letter case, numbers in the one way that Redis writes them.
// Pure; callable from anywhere.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::door {

[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// `low` is in lower case.
[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view word, std::string_view low) noexcept {
  if (word.size() != low.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (lower(word[i]) != low[i]) return false;
  }
  return true;
}

inline constexpr std::string_view syntax_error = "ERR syntax error";
inline constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";

}  // namespace weir::door
