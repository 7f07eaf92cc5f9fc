// A route as a policy writes it: `POST /users/{id}/posts`, `/api/**`, the method optional (then: any).
//
// - `{name}` fills a whole segment and matches any one; `*` does the same without a name.
// - `**` is the last segment or none, and matches any number of segments, also none: `/api/**` matches `/api`.
// - Any other segment is a literal, written plainly or percent-encoded. Literals are compared by
//   policy/segment_text.h, so without regard to the case of ASCII letters.
// - A slash at the end means nothing, as in requests.
// - A template `GET` matches HEAD as well; a template `HEAD` matches HEAD only.
//
// Immutable once parsed; what is equal by same_route() matches the same requests.
#pragma once

#include <cstddef>
#include <optional>
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

}  // namespace weir::policy
