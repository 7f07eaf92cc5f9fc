#include "wire/json_text.h"

#include <cstddef>
#include <cstdint>

namespace weir::wire {
namespace {

constexpr std::uint8_t byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
}

constexpr bool is_plain(char c) noexcept {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// How long the character at the front is; 0 if it is none: cut off, overlong, a surrogate or beyond U+10FFFF.
std::size_t character_length(std::string_view text) noexcept {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80) return 0;
  }
  const std::uint8_t second = byte_at(text, 1);
  const bool is_overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool is_beyond = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  return is_overlong || is_beyond ? 0 : length;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += hex[static_cast<std::uint8_t>(c) >> 4U];
      out += hex[static_cast<std::uint8_t>(c) & 0xFU];
  }
}

// One character, or one byte that is none. How long it was.
std::size_t append_character(std::string& out, std::string_view text) {
  const std::size_t length = character_length(text);
  if (length == 0) {
    out += "\\ufffd";
    return 1;
  }
  const std::string_view character = text.substr(0, length);
  if (length == 1) {
    append_escaped(out, character.front());
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
    while (plain < text.size() && is_plain(text[plain])) ++plain;
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

}  // namespace weir::wire
