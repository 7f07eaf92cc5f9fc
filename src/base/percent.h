// Percent-encoding (RFC 3986, 2.1): `%` and two hexadecimal digits in place of a byte. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/hex.h"

namespace weir::base {

// A character that never needs encoding (RFC 3986, 2.3).
constexpr bool is_unreserved(char c) noexcept {
  return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

constexpr std::array<char, 3> percent_encoded(char c, std::string_view digits = upper_hex_digits) noexcept {
  const auto byte = static_cast<std::uint8_t>(c);
  return {'%', digits[byte >> 4U], digits[byte & 0xFU]};
}

// Encodes every character for which is_plain(c) is false.
template <class IsPlain>
[[nodiscard]] std::string percent_encoded(std::string_view text, const IsPlain& is_plain,
                                          std::string_view digits = upper_hex_digits) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      const std::array<char, 3> code = percent_encoded(c, digits);
      encoded.append(code.data(), code.size());
    }
  }
  return encoded;
}

// Decodes once. Empty if a `%` is not followed by two hexadecimal digits.
[[nodiscard]] inline std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int byte = text.size() - i < 3 ? -1 : hex_byte(text[i + 1], text[i + 2]);
    if (byte < 0) return {};
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

}  // namespace weir::base
