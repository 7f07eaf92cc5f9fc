// Text for a terminal: escaped, of known width, with colours. Every character takes one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::app {

enum class Charset { ascii, unicode };

enum class Ink { plain, bold, faint, red, green, yellow, reverse };

struct Span {
  std::string text;
  Ink ink = Ink::plain;
};

using Line = std::vector<Span>;

// Escapes text from a server: letters of European scripts stay, other non-ASCII and control characters become \x1b or
// \u202e. No control sequence and no wide character reaches the terminal.
[[nodiscard]] std::string shown(std::string_view text, Charset charset);

// Returns the width of escaped text.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
[[nodiscard]] std::string text_of(const Line& line);

// Returns exactly `width` columns: text that is truncated with a mark at the end, or padded with spaces.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width, Charset charset);
[[nodiscard]] std::string fitted_right(std::string_view text, std::size_t width, Charset charset);
// Cuts a line to at most `width` columns.
[[nodiscard]] Line cut(Line line, std::size_t width, Charset charset);

// Returns one character for each group of the last `slots` values, scaled to the highest value, and a blank where there
// are no values yet.
[[nodiscard]] std::string sparkline(const std::vector<std::uint64_t>& values, std::size_t slots, std::size_t width,
                                    Charset charset);

[[nodiscard]] std::string count_text(double count);                                       // 9.5, 950, 9.5k, 9.5M
[[nodiscard]] std::string share_text(double share);                                       // 12.5 %
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);                                // 144 KiB, 1.5 MiB
[[nodiscard]] std::string duration_text(std::optional<double> seconds, Charset charset);  // 1.2 µs

// Formats a wait, rounded up: 750 ms, 59.9 s, 2 min 30 s, 13 d 4 h.
[[nodiscard]] std::string wait_text(double seconds);

}  // namespace weir::app
