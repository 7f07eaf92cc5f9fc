// What commands have in common: errors in Redis's words, and the versions that clients are
// told.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ascii.h"

namespace weir::frontend {

// The name of a command, in lower case. Compared eight bytes at a time: every command of a client is looked up by it.
class CommandName {
 public:
  consteval CommandName(const char* text) : text_(text) {  // NOLINT(google-explicit-constructor): rows of a table
    if (text_.size() > 16) throw "no command has so long a name";
    if (text_.size() < 8) return;
    first_ = packed(text_.substr(0, 8), false);
    last_ = packed(text_.substr(text_.size() - 8), false);
    first_letters_ = packed(text_.substr(0, 8), true);
    last_letters_ = packed(text_.substr(text_.size() - 8), true);
  }

  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

  // In any letter case.
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
  // Eight bytes as a number; with `letters`, only the bit of each letter that is its case.
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

// Clients choose what to send by the version of Redis.
inline constexpr std::string_view redis_version = "7.0.0";
inline constexpr std::string_view weir_version = WEIR_VERSION;

}  // namespace weir::frontend
