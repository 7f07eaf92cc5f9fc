// The texts of requests in test files: `POST /login`, with `{n}` for the number of a repetition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace weir::policy_test {

inline constexpr std::string_view repetition_mark = "{n}";

struct RequestLine {
  std::string method = "GET";
  std::string path;
};

// Parses a request such as `POST /login`. Without a method it is GET. Returns nothing if it has no path.
[[nodiscard]] inline std::optional<RequestLine> parse_request_line(std::string_view text) {
  text = base::trimmed(text);
  RequestLine line;
  const std::size_t space = text.find(' ');
  if (space != std::string_view::npos) line.method = text.substr(0, space);
  line.path = space == std::string_view::npos ? text : base::trimmed(text.substr(space));
  const bool is_absolute = line.path.find("://") != std::string::npos;
  if (!line.path.starts_with('/') && !is_absolute && line.path != "*") return {};
  return line;
}

// Replaces each repetition_mark by `n`.
[[nodiscard]] inline std::string numbered(std::string_view text, std::uint64_t n) {
  std::string result;
  for (std::size_t mark = 0; (mark = text.find(repetition_mark)) != std::string_view::npos;) {
    result.append(text.substr(0, mark)) += std::to_string(n);
    text.remove_prefix(mark + repetition_mark.size());
  }
  return result.append(text);
}

}  // namespace weir::policy_test
