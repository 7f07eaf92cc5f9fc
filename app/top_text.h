// Text for a terminal: fit to be shown, of a known width, in colours. Each character that it lets through takes one
// column.
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

// What a server said, fit to be shown: letters of European scripts stay, whatever else is not plain ASCII is written as
// \x1b or \u202e. So no control sequence reaches the terminal, and nothing that is wider than it looks.
[[nodiscard]] std::string shown(std::string_view text, Charset charset);

// Of text that was made fit to be shown.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
[[nodiscard]] std::string text_of(const Line& line);

// Exactly `width` columns: cut, with a mark at the end, or filled up with spaces.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width, Charset charset);
[[nodiscard]] std::string fitted_right(std::string_view text, std::size_t width, Charset charset);
// At most `width` columns.
[[nodiscard]] Line cut(Line line, std::size_t width, Charset charset);

// One character for each part of `slots` values that end now, the highest the tallest; blank where there are none yet.
[[nodiscard]] std::string sparkline(const std::vector<std::uint64_t>& values, std::size_t slots, std::size_t width,
                                    Charset charset);

[[nodiscard]] std::string count_text(double count);                                       // 9.5, 950, 9.5k, 9.5M
[[nodiscard]] std::string share_text(double share);                                       // 12.5 %
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);                                // 144 KiB
[[nodiscard]] std::string duration_text(std::optional<double> seconds, Charset charset);  // 1.2 µs

}  // namespace weir::app
