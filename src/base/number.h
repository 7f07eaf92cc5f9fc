// Parses a number. Pure.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace weir::base {

// Parses all of `text`; empty if it is not a number or does not fit. Uses std::from_chars: no plus sign and no blanks,
// a minus sign only for signed numbers. `format` is the base of an integer, or a std::chars_format.
template <class Number, class... Format>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Format... format) noexcept {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, format...);
  if (error != std::errc{} || stop != end) return {};
  return number;
}

}  // namespace weir::base
