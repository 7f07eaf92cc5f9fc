#include "simulate/display_text.h"

#include <cstdint>

namespace weir::simulate {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view ellipsis = "\xE2\x80\xA6";

struct Character {
  std::size_t length = 1;  // in bytes
  char32_t code = 0;
  bool valid = false;
};

// The character that `text`, which is not empty, begins with.
Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {1, byte(0), true};
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return {};
  char32_t code = byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (is_overlong || is_surrogate || code > 0x10FFFF) return {};
  return {length, code, true};
}

// Controls, marks of direction, joiners and the like: characters that are not seen but act.
bool acts(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

bool begins_character(char byte) noexcept {
  return (static_cast<std::uint8_t>(byte) & 0xC0U) != 0x80;
}

}  // namespace

std::string display_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::string_view written = next.valid && !acts(next.code) ? text.substr(0, next.length) : replacement;
    if (shown.size() + written.size() > longest_display_text) return shown.append(ellipsis);
    shown += written;
    text.remove_prefix(next.length);
  }
  return shown;
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  for (const char byte : text) width += begins_character(byte) ? 1U : 0U;
  return width;
}

std::string fitted(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++seen == width) break;
  }
  return std::string(text.substr(0, end)).append(ellipsis);
}

}  // namespace weir::simulate
