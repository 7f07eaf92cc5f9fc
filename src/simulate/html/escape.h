// Text in HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace weir::simulate::html {

// Good between tags and within quoted attributes.
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace weir::simulate::html
