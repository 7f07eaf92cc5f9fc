#include "policy/yaml/encoding.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/core.h>

namespace weir::policy::yaml {
namespace {

constexpr bool continues(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

// How many bytes the character at the front has; 0 if it is not UTF-8 (overlong forms and surrogates are not).
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  std::uint32_t character = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
    character = (character << 6) | (byte(i) & 0x3fU);
  }
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  return surrogate || overlong || character > 0x10ffff ? 0 : length;
}

// The code unit of the escape \uXXXX at the front.
std::optional<std::uint32_t> escaped_unit(std::string_view text) noexcept {
  constexpr std::size_t length = 6;
  if (text.size() < length || !text.starts_with("\\u")) return {};
  std::uint32_t unit = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + length, unit, 16);
  if (error != std::errc{} || end != text.data() + length) return {};
  return unit;
}

// The character that the two escapes at the front write.
std::optional<std::uint32_t> escaped_pair(std::string_view text) noexcept {
  const auto high = escaped_unit(text);
  if (!high || *high < 0xd800 || *high > 0xdbff) return {};
  const auto low = escaped_unit(text.substr(6));
  if (!low || *low < 0xdc00 || *low > 0xdfff) return {};
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

}  // namespace

Places::Places(std::string_view text) : lines_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') lines_.push_back(i + 1);
    if (continues(text[i])) within_ones_.push_back(i);
  }
}

Mark Places::at(std::size_t offset) const noexcept {
  const auto line = std::prev(std::upper_bound(lines_.begin(), lines_.end(), offset));
  const auto from = std::lower_bound(within_ones_.begin(), within_ones_.end(), *line);
  const auto to = std::lower_bound(from, within_ones_.end(), offset);
  const auto bytes = static_cast<std::ptrdiff_t>(offset - *line);
  return {static_cast<int>(line - lines_.begin()) + 1, static_cast<int>(bytes - (to - from)) + 1};
}

std::optional<BadByte> find_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') {
      return BadByte{i, fmt::format("the control character 0x{:02x} does not belong in a text", byte)};
    }
    const std::size_t length = character_length(text.substr(i));
    if (length == 0) return BadByte{i, fmt::format("the byte 0x{:02x} is not UTF-8: save the file as UTF-8", byte)};
    i += length;
  }
  return {};
}

std::string with_yaml_escapes(std::string_view json) {
  std::string yaml;
  yaml.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] != '\\') {
      yaml += json[i++];
    } else if (const auto character = escaped_pair(json.substr(i))) {
      yaml += fmt::format("\\U{:08x}", *character);
      i += 12;
    } else {
      // A backslash and what it escapes, which may be another.
      yaml += json.substr(i, 2);
      i += 2;
    }
  }
  return yaml;
}

}  // namespace weir::policy::yaml
