// The comments of a YAML text, which yaml-cpp drops. A '#' in quotes, a block scalar (`|`, `>`) or within a word starts
// none.
#pragma once

#include <string_view>
#include <vector>

#include "text/yaml/problem.h"

namespace weir::text {

struct Comment {
  std::string_view text;  // without the '#' and surrounding blanks; a view of the YAML text
  Mark at;                // position of the text
  int line = 0;  // the line it belongs to: its own or, for a comment on its own line, the next one with content
};

// The text must be valid for parse_yaml(). A comment after all content belongs to line 0.
[[nodiscard]] std::vector<Comment> comments_of(std::string_view text);

}  // namespace weir::text
