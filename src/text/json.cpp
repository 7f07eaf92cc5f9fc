#include "text/json.h"

#include <cstddef>
#include <cstdint>

#include "text/characters.h"

namespace weir::text {
namespace {

constexpr bool is_plain_in_json(char c) noexcept {
  return is_printable(c) && c != '"' && c != '\\';
}

void append_ascii(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  constexpr std::string_view escaped = "\"\\\n\r\t";
  constexpr std::string_view letters = "\"\\nrt";
  out += '\\';
  if (const std::size_t found = escaped.find(c); found != std::string_view::npos) {
    out += letters[found];
    return;
  }
  out += "u00";
  out += hex[static_cast<std::uint8_t>(c) >> 4U];
  out += hex[static_cast<std::uint8_t>(c) & 0xFU];
}

// One character, or one byte that is none. How long it was.
std::size_t append_character(std::string& out, std::string_view text) {
  const std::size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, length);
  if (length == 0) {
    out += "\\ufffd";
    return 1;
  }
  if (length == 1) {
    append_ascii(out, character.front());
  } else if (character == "\xE2\x80\xA8") {
    out += "\\u2028";
  } else if (character == "\xE2\x80\xA9") {
    out += "\\u2029";
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
