// The text of one path segment, as it is compared. Templates and request paths go through the same two
// steps, so that whatever spelling a server would take for a literal compares equal to it.
//
// decode() undoes percent-encoding until nothing is left to undo: `%6c`, `%256c`, `%u006c` (IIS) and the
// two-byte overlong UTF-8 `%C1%AC` are all `l`. An encoding that is not one (`%zz`) stays as it is. Each step
// shortens the text and no two overlap, so the result does not depend on the order or the number of rounds.
//
// segment_text() takes of the decoded text what servers compare: without spaces and control characters in
// front, up to `;` (matrix parameters), `?`, `#` or a control character, without spaces and dots at the end
// (Windows), ASCII letters in lower case. Letters beyond ASCII are compared as they are.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace weir::policy {

// Writes at most raw.size() bytes, and gives their number. `to` may be where `raw` is.
std::size_t decode(std::string_view raw, char* to) noexcept;

struct SegmentText {
  std::string_view text;        // may be empty, and is never `.` or `..`: see dots
  std::size_t dots = 0;         // 1 for `.`, 2 for `..`; the text is empty then
  bool may_be_empty = false;    // there is no text, or only after a control character
  bool has_parameters = false;  // there is a `;`
  bool may_end_path = false;    // there is a `?`, a `#` or a control character: some servers stop here
};

// Lower-cases `decoded`, and gives a view into it.
SegmentText segment_text(std::span<char> decoded) noexcept;

constexpr bool is_control(char c) noexcept {
  return (c >= '\0' && c < ' ') || c == '\x7f';
}

constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

}  // namespace weir::policy
