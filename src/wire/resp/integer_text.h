// Integers of the Redis protocol: decimal, with a unique spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "text/decimal.h"

namespace weir::wire::resp {

inline constexpr std::string_view line_end = "\r\n";

// "-9223372036854775808".
inline constexpr std::size_t max_integer_text_length = 20;

// Strict, as Redis is with lengths: no plus sign, no leading zeros, no "-0", no whitespace.
[[nodiscard]] inline std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.size() > 19 || (digits[0] == '0' && text.size() > 1)) return {};
  std::uint64_t number = 0;  // 19 digits fit
  for (const char c : digits) {
    if (!base::is_digit(c)) return {};
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (number > largest + (negative ? 1 : 0)) return {};
  return static_cast<std::int64_t>(negative ? 0 - number : number);
}

// Writes `number` and a line end to `to`, which must have room for max_integer_text_length + 2. Returns the end.
inline char* write_integer_line(char* to, std::int64_t number) noexcept {
  auto magnitude = static_cast<std::uint64_t>(number);
  if (number < 0) {
    *to++ = '-';
    magnitude = 0 - magnitude;
  }
  to = text::put_number(to, magnitude);
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

}  // namespace weir::wire::resp
