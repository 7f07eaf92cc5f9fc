// The value of a field, built from left to right in place. What does not fit is left off: its writers keep
// within the room, and a test holds them to it.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir::wire {

// The largest Integer of a Structured Field: 15 digits.
inline constexpr std::uint64_t largest_field_integer = 999'999'999'999'999;

class FieldText {
 public:
  static constexpr std::size_t capacity = 320;

  // Not zeroed, as a defaulted one would be where it is made with braces: this is written on every answer.
  FieldText() noexcept {}  // NOLINT(modernize-use-equals-default)

  // Holds as long as this does: of a temporary, to the end of the expression.
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

  void append(std::string_view text) noexcept {
    const std::size_t length = std::min(text.size(), capacity - size_);
    if (length > 0) std::memcpy(text_.data() + size_, text.data(), length);
    size_ += length;
  }

  void append(char c) noexcept {
    if (size_ < capacity) text_[size_++] = c;
  }

  void append_integer(std::uint64_t number) noexcept {
    const auto written =
        std::to_chars(text_.data() + size_, text_.data() + capacity, std::min(number, largest_field_integer));
    if (written.ec == std::errc{}) size_ = static_cast<std::size_t>(written.ptr - text_.data());
  }

 private:
  std::array<char, capacity> text_;
  std::size_t size_ = 0;
};

}  // namespace weir::wire
