#include "text/json.h"

#include <cstddef>
#include <cstdint>

#include "base/ascii.h"
#include "base/hex.h"
#include "text/utf8.h"

namespace weir::text {
namespace {

constexpr bool is_plain_in_json(char c) noexcept {
  return base::is_printable(c) && c != '"' && c != '\\';
}

void append_unit(std::string& out, unsigned unit) {
  out += "\\u";
  base::append_hex(out, unit, 4);
}

void append_escaped(std::string& out, char32_t code) {
  constexpr std::string_view escaped = "\"\\\n\r\t";
  constexpr std::string_view letters = "\"\\nrt";
  const std::size_t found = code < 0x80 ? escaped.find(static_cast<char>(code)) : std::string_view::npos;
  if (found != std::string_view::npos) {
    out += '\\';
    out += letters[found];
  } else if (code < 0x10000) {
    append_unit(out, static_cast<unsigned>(code));
  } else {
    append_unit(out, 0xD800U + static_cast<unsigned>((code - 0x10000) >> 10U));
    append_unit(out, 0xDC00U + static_cast<unsigned>((code - 0x10000) & 0x3FFU));
  }
}

// Appends one character, or one invalid byte, and returns its length.
std::size_t append_character(std::string& out, std::string_view text) {
  const std::size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, length);
  if (length == 0) {
    out += "\\ufffd";
    return 1;
  }
  const char32_t code = first_code_point(text);
  if (length == 1 || is_hidden(code)) {
    append_escaped(out, code);
  } else {
    out += character;
  }
  return length;
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain_in_json(text[plain])) ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_character(out, text));
  }
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  append_json_escaped(out, text);
  out += '"';
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

}  // namespace weir::text
