// Parses UTF-8 text with yaml-cpp; used only by document.cpp and comments.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/yaml/document.h"

namespace weir::text {

// The byte order mark, which some editors write at the start of a text. It is ignored.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Maps byte offsets of a text to lines and columns.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  // Counts characters, not bytes, like editors.
  [[nodiscard]] Mark at(std::size_t offset) const noexcept;

 private:
  std::vector<std::size_t> lines_;        // start offsets
  std::vector<std::size_t> within_ones_;  // offsets of bytes that continue a character
};

// Thrown through yaml-cpp and caught by parse_yaml().
struct Refused {
  Mark at;
  std::string message;
};

// Returns the only document of `text`; throws Refused.
[[nodiscard]] Node parse_tree(const std::string& text);

}  // namespace weir::text
