// A route of a policy: `POST /users/{id}/posts`, `/api/**`. Without a method it matches any method.
//
// - `{name}` fills a whole segment and matches any one; `*` does the same without a name.
// - `**` can only be the last segment, and matches any number of segments, including none: `/api/**` matches `/api`.
// - Any other segment is a literal, plain or percent-encoded. Literals are compared by segment_text() below,
//   ignoring ASCII case.
// - A slash at the end is ignored, as in requests.
// - A template `GET` matches HEAD as well; a template `HEAD` matches HEAD only.
//
// Immutable once parsed. Routes that are equal by same_route() match the same requests.
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
  std::string text;  // a decoded literal as written; a parameter's name, empty for `*`
  std::string key;   // a literal as compared, never empty; empty for a parameter

  [[nodiscard]] bool is_literal() const noexcept { return kind == Kind::literal; }
  bool operator==(const Segment&) const = default;
};

struct RouteTemplate {
  std::optional<std::string> method;  // in upper case
  std::vector<Segment> segments;      // without the `**`
  bool trailing_wildcard = false;

  // Returns the normalised spelling, which keys, metrics and logs contain. parse_route() can parse it.
  [[nodiscard]] std::string text() const;

  bool operator==(const RouteTemplate&) const = default;
};

// The `where` of an error is the route as written.
Result<RouteTemplate> parse_route(std::string_view text);

// True if the routes are equal apart from the names of their parameters.
[[nodiscard]] bool same_route(const RouteTemplate& a, const RouteTemplate& b) noexcept;

// True if `a` matches every request that `b` matches.
[[nodiscard]] bool covers(const RouteTemplate& a, const RouteTemplate& b) noexcept;

// True if some request matches both.
[[nodiscard]] bool overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept;

// True if a request with this method and target matches the route in every server's reading: the opposite of matching
// for limits, where one possible reading is enough (match/path.h). Exemptions use it, so in doubt it is false. The
// method and the literals must be written as in the route, in the same case; the path must begin with a slash, and have
// no empty segment, no `.` or `..`, and no characters that a server might decode, strip or cut at.
[[nodiscard]] bool surely_matches(const RouteTemplate& route, std::string_view method,
                                  std::string_view target) noexcept;

// True if a request can surely match: all literals consist of characters that no server rewrites.
[[nodiscard]] bool can_surely_match(const RouteTemplate& route) noexcept;

// Returns a key that is equal for two routes if and only if same_route() is true for them.
[[nodiscard]] std::string match_key(const RouteTemplate& route);

// Path segments are compared in two steps, the same for templates and request paths, so that every spelling that a
// server accepts for a literal compares equal to it.
//
// decode() repeats percent-decoding until nothing changes: `%6c`, `%256c`, `%u006c` (IIS) and the two-byte overlong
// UTF-8 `%C1%AC` are all `l`. An invalid encoding (`%zz`) stays as it is. Each step shortens the text and no two steps
// overlap, so the result does not depend on their order.
//
// segment_text() reduces the decoded text to what servers compare: without leading spaces and control characters, up to
// `;` (matrix parameters), `?`, `#` or a control character, without trailing spaces and dots (Windows), ASCII letters
// in lower case. Letters beyond ASCII are compared as they are.

// Writes at most raw.size() bytes and returns their number. `to` may be raw.data().
std::size_t decode(std::string_view raw, char* to) noexcept;

struct SegmentText {
  std::string_view text;        // may be empty; never `.` or `..`, see dots
  std::size_t dots = 0;         // 1 for `.`, 2 for `..`; the text is empty then
  bool may_be_empty = false;    // the segment is empty, or becomes empty if a server stops at a control character
  bool has_parameters = false;  // contains a `;`
  bool may_end_path = false;    // contains a `?`, `#` or control character, where some servers stop
};

// Lower-cases `decoded` and returns a view into it.
SegmentText segment_text(std::span<char> decoded) noexcept;

}  // namespace weir::policy
