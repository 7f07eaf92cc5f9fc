// Text as a JSON string: the one place that escapes.
#pragma once

#include <string>
#include <string_view>

namespace weir::text {

// With its quotes. Each byte that is not UTF-8 becomes U+FFFD, so that the result always is UTF-8; control characters
// are escaped, and so are U+2028 and U+2029, which end lines in some readers.
void append_json_text(std::string& out, std::string_view text);

[[nodiscard]] std::string json_text(std::string_view text);

// The same without the quotes, to be a part of a longer string.
void append_json_escaped(std::string& out, std::string_view text);

}  // namespace weir::text
