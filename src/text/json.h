// JSON string escaping.
#pragma once

#include <string>
#include <string_view>

namespace weir::text {

// Appends `text` as a JSON string, with quotes. Each byte that is not UTF-8 becomes U+FFFD, so that the result is
// always UTF-8. Control characters are escaped, and so are U+2028 and U+2029, which some parsers treat as line ends.
void append_json_text(std::string& out, std::string_view text);

[[nodiscard]] std::string json_text(std::string_view text);

// Appends escaped text without quotes, as a part of a longer string.
void append_json_escaped(std::string& out, std::string_view text);

}  // namespace weir::text
