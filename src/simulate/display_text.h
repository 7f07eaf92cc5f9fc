// Text from a log, made fit to be shown. Logs hold whatever strangers sent: escape sequences for the terminal,
// marks that turn the direction of writing, broken UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::simulate {

inline constexpr std::size_t longest_display_text = 120;  // bytes

// Valid UTF-8 without control and formatting characters, each of which, and each broken byte, becomes U+FFFD.
// What is too long is cut, and ends with an ellipsis. Markup is not touched: that is for who writes markup.
[[nodiscard]] std::string display_text(std::string_view text);

// How many characters a text has that is valid UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// At most `width` characters, the last an ellipsis if it was cut.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

}  // namespace weir::simulate
