// The comments of a YAML text, which yaml-cpp drops.
//
// A '#' in quotes, in a block scalar (`|`, `>`) or within a word begins none.
#pragma once

#include <string_view>
#include <vector>

#include "text/yaml/problem.h"

namespace weir::text {

struct Comment {
  std::string_view text;  // without the '#' and the blanks around; a view of the YAML text
  Mark at;                // of the text
  int line = 0;           // that it is about: its own, or if it stands alone the next that is more than a comment
};

// Of a text that parse_yaml() can read. A comment that stands alone after everything else is about no line: 0.
[[nodiscard]] std::vector<Comment> comments_of(std::string_view text);

}  // namespace weir::text
