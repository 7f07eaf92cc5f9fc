#include "policy/json_text.h"

#include <cstddef>
#include <cstdint>

#include <fmt/core.h>

namespace weir::policy {
namespace {

constexpr std::uint8_t byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
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

void append_ascii(std::string& out, char c) {
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
      break;
  }
  const auto byte = static_cast<std::uint8_t>(c);
  if (byte < 0x20 || byte == 0x7F) {
    out += fmt::format("\\u{:04x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += "\\ufffd";
    } else if (length == 1) {
      append_ascii(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

}  // namespace weir::policy
