// Which of the formats a log is in.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::simulate {

enum class LogFormat : std::uint8_t { combined, json };

// By its first line that is not empty: JSON lines begin with a brace, and no address does.
[[nodiscard]] constexpr LogFormat detect_format(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '{' ? LogFormat::json : LogFormat::combined;
}

}  // namespace weir::simulate
