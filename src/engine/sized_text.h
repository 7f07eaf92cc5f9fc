// Texts one after the other, each with its length in front, so that none can reach into the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::engine {

// How many bytes that takes.
inline std::size_t sized(std::string_view text) noexcept {
  return sizeof(std::uint32_t) + text.size();
}

// Where there is room for it. Gives where it ended.
inline char* put_sized(char* to, std::string_view text) noexcept {
  const auto length = static_cast<std::uint32_t>(text.size());
  std::memcpy(to, &length, sizeof length);
  if (!text.empty()) std::memcpy(to + sizeof length, text.data(), text.size());
  return to + sized(text);
}

inline void append_sized(std::string& to, std::string_view text) {
  const std::size_t at = to.size();
  to.resize(at + sized(text));
  put_sized(to.data() + at, text);
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
