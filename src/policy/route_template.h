// A route as a policy writes it: `POST /users/{id}/posts`, `/api/**`, the method optional (then: any).
//
// - `{name}` fills a whole segment and matches any one; `*` does the same without a name.
// - `**` is the last segment or none, and matches any number of segments, also none: `/api/**` matches `/api`.
// - Any other segment is a literal, written plain_text or percent-encoded. Literals are compared by
//   segment_text() below, so without regard to the case of ASCII letters.
// - A slash at the end means nothing, as in requests.
// - A template `GET` matches HEAD as well; a template `HEAD` matches HEAD only.
//
// Immutable once parsed; what is equal by same_route() matches the same requests.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir::policy {

inline constexpr std::size_t max_route_length = 2048;
inline constexpr std::size_t max_route_segments = 32;
inline constexpr std::size_t max_method_length = 32;

struct Segment {
  enum class Kind { literal, parameter };

  Kind kind = Kind::literal;
  std::string text;  // a literal decoded, as it was written; a parameter's name, empty for `*`
  std::string key;   // a literal as it is compared; never empty. A parameter has none

  [[nodiscard]] bool is_literal() const noexcept { return kind == Kind::literal; }
  bool operator==(const Segment&) const = default;
};

struct RouteTemplate {
  std::optional<std::string> method;  // in upper case
  std::vector<Segment> segments;      // without the `**`
  bool trailing_wildcard = false;

  // One spelling for all ways of writing it; parse_route() reads it back. This is what keys, metrics and
  // logs hold.
  [[nodiscard]] std::string text() const;

  bool operator==(const RouteTemplate&) const = default;
};

// An error's `where` is the route as it was written.
Result<RouteTemplate> parse_route(std::string_view text);

// Equal but for the names of parameters.
[[nodiscard]] bool same_route(const RouteTemplate& a, const RouteTemplate& b) noexcept;

// Whether `a` matches every request that `b` matches.
[[nodiscard]] bool covers(const RouteTemplate& a, const RouteTemplate& b) noexcept;

// Whether some request matches both.
[[nodiscard]] bool overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept;

// Equal for routes that are the same_route(), and for no others.
[[nodiscard]] std::string match_key(const RouteTemplate& route);

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

}  // namespace weir::policy
