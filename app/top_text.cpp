#include "app/top_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "text/utf8.h"

namespace weir::app {
namespace {

// True for characters that every terminal shows in one column: no control (C0, C1), combining or bidirectional
// characters.
bool is_plain(char32_t code, Charset charset) noexcept {
  if (code < 0x80) return code >= 0x20 && code != 0x7F;
  if (charset == Charset::ascii) return false;
  const bool is_latin = code >= 0xA1 && code <= 0x2FF && code != 0xAD;  // the soft hyphen is invisible
  const bool is_greek = code >= 0x391 && code <= 0x3FF && code != 0x3A2;
  const bool is_cyrillic = code >= 0x400 && code <= 0x481;
  return is_latin || is_greek || is_cyrillic;
}

std::string_view cut_mark(Charset charset) noexcept {
  return charset == Charset::unicode ? "…" : "~";
}

// Returns the first `width` characters.
std::string_view prefix(std::string_view text, std::size_t width) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    if (!text::continues_character(text[end]) && width-- == 0) break;
    ++end;
  }
  return text.substr(0, end);
}

// Formats a number with at most three significant digits and no trailing zeros: 9.5, 59.9, 144.
std::string three_digits(double number) {
  std::string text = fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string shortened(std::string_view text, std::size_t width, Charset charset) {
  if (width_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(prefix(text, width - 1)).append(cut_mark(charset));
}

}  // namespace

std::string shown(std::string_view text, Charset charset) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = text::utf8_length(text);
    const std::uint32_t code = bytes == 0 ? 0 : text::first_code_point(text);
    if (bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (is_plain(code, charset)) {
      out += text.substr(0, bytes);
    } else if (code == '\n') {
      out += "\\n";
    } else {
      out += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !text::continues_character(c); }));
}

std::string text_of(const Line& line) {
  std::string text;
  for (const Span& span : line) text += span.text;
  return text;
}

std::string fitted(std::string_view text, std::size_t width, Charset charset) {
  std::string out = shortened(text, width, charset);
  return out.append(width - width_of(out), ' ');
}

std::string fitted_right(std::string_view text, std::size_t width, Charset charset) {
  std::string out = shortened(text, width, charset);
  return out.insert(0, width - width_of(out), ' ');
}

Line cut(Line line, std::size_t width, Charset charset) {
  if (width_of(text_of(line)) <= width) return line;
  Line out;
  std::size_t left = width;
  for (Span& span : line) {
    const std::size_t wide = width_of(span.text);
    const bool is_last = wide >= left;  // the span is too wide, or more spans follow
    if (is_last) {
      span.text = left == 0 ? std::string() : std::string(prefix(span.text, left - 1)).append(cut_mark(charset));
    }
    out.push_back(std::move(span));
    if (is_last) break;
    left -= wide;
  }
  return out;
}

std::string sparkline(const std::vector<std::uint64_t>& values, std::size_t slots, std::size_t width, Charset charset) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> letters{"_", ".", ":", "-", "=", "+", "*", "#"};
  const auto& levels = charset == Charset::unicode ? blocks : letters;
  width = std::min(width, slots);
  if (width == 0) return {};
  // The last value is in the rightmost slot. Each part of the line may cover several slots.
  std::vector<std::optional<std::uint64_t>> parts(width);
  const std::size_t skipped = values.size() > slots ? values.size() - slots : 0;
  for (std::size_t i = skipped; i < values.size(); ++i) {
    auto& part = parts[(slots - values.size() + i) * width / slots];
    part = part.value_or(0) + values[i];
  }
  std::uint64_t highest = 0;
  for (const auto& part : parts) highest = std::max(highest, part.value_or(0));
  std::string line;
  for (const auto& part : parts) {
    if (!part) {
      line += ' ';
    } else if (*part == 0) {
      line += levels.front();
    } else {
      const double height = static_cast<double>(*part) / static_cast<double>(highest);
      line += levels[std::clamp<std::size_t>(static_cast<std::size_t>(height * 7), 1, 7)];
    }
  }
  return line;
}

std::string count_text(double count) {
  constexpr double thousand = 1e3;
  constexpr double million = 1e6;
  const auto scaled = [](double number, std::string_view unit) {
    return fmt::format("{:.{}f}{}", number, number < 99.95 ? 1 : 0, unit);
  };
  if (count >= 10 * million) return scaled(count / million, "M");
  if (count >= 10 * thousand) return scaled(count / thousand, "k");
  const bool is_whole = count == static_cast<double>(static_cast<std::uint64_t>(count));
  return fmt::format("{:.{}f}", count, is_whole || count >= 100 ? 0 : 1);
}

std::string share_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < units.size(); ++unit) number /= 1024;
  return three_digits(number) + fmt::format(" {}", units[unit]);
}

std::string wait_text(double seconds) {
  constexpr std::uint64_t minute = 60;
  constexpr std::uint64_t hour = 60 * minute;
  constexpr std::uint64_t day = 24 * hour;
  const auto rounded_up = [](double number) {
    const double step = number < 10 ? 100 : number < 100 ? 10 : 1;
    return three_digits(std::ceil(number * step - 1e-6) / step);
  };
  if (!(seconds > 0)) return "0 s";
  if (seconds < 1e-3) return fmt::format("{} us", rounded_up(seconds * 1e6));
  if (seconds < 1) return fmt::format("{} ms", rounded_up(seconds * 1e3));
  if (seconds < 2 * minute) return fmt::format("{} s", rounded_up(seconds));
  constexpr double max_seconds = 1e15;
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::min(seconds, max_seconds)));
  // Formats the two largest units that are needed. The smaller one is rounded up.
  const auto in_units = [whole](std::uint64_t large, std::string_view large_name, std::uint64_t small,
                                std::string_view small_name) {
    const std::uint64_t count = (whole + small - 1) / small;
    const std::uint64_t ratio = large / small;
    return fmt::format("{} {}", count / ratio, large_name) +
           (count % ratio == 0 ? "" : fmt::format(" {} {}", count % ratio, small_name));
  };
  if (whole < 2 * hour) return in_units(minute, "min", 1, "s");
  if (whole < 2 * day) return in_units(hour, "h", minute, "min");
  return in_units(day, "d", hour, "h");
}

std::string duration_text(std::optional<double> seconds, Charset charset) {
  if (!seconds) return "-";
  if (*seconds >= 1) return fmt::format("{:.1f} s", *seconds);
  if (*seconds >= 1e-3) return fmt::format("{:.1f} ms", *seconds * 1e3);
  return fmt::format("{:.1f} {}", *seconds * 1e6, charset == Charset::unicode ? "µs" : "us");
}

}  // namespace weir::app
