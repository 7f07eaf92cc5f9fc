// Patterns as CONFIG GET takes them: `*` any bytes, `?` one byte, letters in any case. Pure; takes no longer than the
// lengths of both multiplied.
#pragma once

#include <cstddef>
#include <string_view>

#include "door/resp/argument.h"

namespace weir::door {

[[nodiscard]] constexpr bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;     // of the pattern
  std::size_t taken = 0;  // of the text
  std::size_t star = std::string_view::npos;
  std::size_t taken_at_star = 0;
  while (taken < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_at_star = taken;
    } else if (at < pattern.size() && (pattern[at] == '?' || lower(pattern[at]) == lower(text[taken]))) {
      ++at;
      ++taken;
    } else if (star != std::string_view::npos) {  // the last star takes one more
      at = star + 1;
      taken = ++taken_at_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace weir::door
