// What commands have in common: words in any letter case, errors in Redis's words, and the versions that clients are
// told.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::frontend {

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

// Clients choose what to send by the version of Redis.
inline constexpr std::string_view redis_version = "7.0.0";
inline constexpr std::string_view weir_version = WEIR_VERSION;

}  // namespace weir::frontend
