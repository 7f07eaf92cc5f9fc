// Definitions shared by the commands: command names, Redis's error texts, and the versions sent to clients.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ascii.h"

namespace weir::frontend {

// The lower-case name of a command. Compared eight bytes at a time, because every command is looked up by name.
class CommandName {
 public:
  consteval CommandName(const char* text) : text_(text) {  // NOLINT(google-explicit-constructor): rows of a table
    if (text_.size() > 16) throw "the name is longer than 16 bytes";
    if (text_.size() < 8) return;
    first_ = packed(text_.substr(0, 8), false);
    last_ = packed(text_.substr(text_.size() - 8), false);
    first_letters_ = packed(text_.substr(0, 8), true);
    last_letters_ = packed(text_.substr(text_.size() - 8), true);
  }

  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

  // Ignores case.
  [[nodiscard]] bool is(std::string_view word) const noexcept {
    if (word.size() != text_.size()) return false;
    if (word.size() < 8) return base::equals_lower(word, text_);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::memcpy(&first, word.data(), sizeof first);
    std::memcpy(&last, word.data() + word.size() - sizeof last, sizeof last);
    return (((first | first_letters_) ^ first_) | ((last | last_letters_) ^ last_)) == 0;
  }

 private:
  // Packs eight bytes into a number or, with `letters`, only the case bit of each letter.
  static constexpr std::uint64_t packed(std::string_view eight, bool letters) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = !letters ? eight[i] : eight[i] >= 'a' && eight[i] <= 'z' ? ' ' : '\0';
    }
    return std::bit_cast<std::uint64_t>(bytes);
  }

  std::string_view text_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t first_letters_ = 0;
  std::uint64_t last_letters_ = 0;
};

inline constexpr std::string_view syntax_error = "ERR syntax error";
inline constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";

// Clients choose their commands by the version of Redis.
inline constexpr std::string_view redis_version = "7.0.0";
inline constexpr std::string_view weir_version = WEIR_VERSION;

}  // namespace weir::frontend
