// The structure of a text that is UTF-8, by yaml-cpp: only document.cpp and comments.cpp use it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/yaml/document.h"

namespace weir::text {

// What some editors write at the front of a text; no part of it.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Where the lines and the characters of a text lie among its bytes.
class Places {
 public:
  explicit Places(std::string_view text);

  // Editors count characters, not bytes.
  [[nodiscard]] Mark at(std::size_t offset) const noexcept;

 private:
  std::vector<std::size_t> lines_;        // where each begins
  std::vector<std::size_t> within_ones_;  // bytes that continue a character
};

// Thrown through yaml-cpp, and caught by parse_yaml().
struct Refused {
  Mark at;
  std::string message;
};

// The one document of `text`; throws Refused.
[[nodiscard]] Node parse_tree(const std::string& text);

}  // namespace weir::text
