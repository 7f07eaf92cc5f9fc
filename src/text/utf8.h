// UTF-8: character lengths, code points and hidden characters. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::text {

// True if the byte continues a UTF-8 character.
constexpr bool continues_character(char c) noexcept {
  return (static_cast<std::uint8_t>(c) & 0xC0U) == 0x80;
}

// The number of bytes of the first character of `text`; 0 if it is not UTF-8: truncated, overlong, a surrogate, or
// beyond U+10FFFF.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool is_overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool is_beyond = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  return is_overlong || is_beyond ? 0 : length;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// The first character of `text`, which must be UTF-8 and not empty.
constexpr char32_t first_code_point(std::string_view text) noexcept {
  const std::size_t length = utf8_length(text);
  const auto lead = static_cast<std::uint8_t>(text.front());
  char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (static_cast<std::uint8_t>(text[i]) & 0x3FU);
  return code;
}

// Invisible characters that change how others are displayed: controls, direction marks (U+202E reverses the text that
// follows), joiners, tags. They are escaped in messages and in JSON.
constexpr bool is_hidden(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

}  // namespace weir::text
