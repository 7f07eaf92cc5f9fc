// Texts one after the other, each with its length in front, so that none can reach into the next.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::engine {

inline void append_sized(std::string& to, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  char bytes[sizeof length];
  std::memcpy(bytes, &length, sizeof length);
  to.append(bytes, sizeof length);
  to.append(text);
}

// Takes the first text off `from`, which append_sized wrote.
inline std::string_view take_sized(std::string_view& from) noexcept {
  std::uint32_t length = 0;
  std::memcpy(&length, from.data(), sizeof length);
  const std::string_view text = from.substr(sizeof length, length);
  from.remove_prefix(sizeof length + length);
  return text;
}

}  // namespace weir::engine
