// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace weir::policy {

// With its quotes. What is not UTF-8 becomes U+FFFD, byte by byte, so that the result always is.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace weir::policy
