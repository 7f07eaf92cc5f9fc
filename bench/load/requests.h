// Prepared requests: copies of one request in which only the digits of the key change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench::load {

// Uniform random numbers.
class Numbers {
 public:
  explicit Numbers(std::uint32_t below) noexcept : below_(below) {}

  [[nodiscard]] std::uint32_t next() noexcept {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<std::uint32_t>(((state_ >> 32U) * below_) >> 32U);
  }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
  std::uint64_t below_;
};

// The placeholder of the key's number in a request.
inline constexpr std::string_view hole = "######";
inline constexpr std::uint32_t max_keys = 1'000'000;

class Requests {
 public:
  // Without a placeholder in `one`, all requests are the same.
  Requests(std::string_view one, std::size_t copies) : size_(one.size()), hole_(one.find(hole)) {
    bytes_.reserve(size_ * copies);
    for (std::size_t i = 0; i < copies; ++i) bytes_ += one;
    for (std::size_t number = 0; number < 1000; ++number) {
      const std::string text = std::to_string(number + 1000);
      text.copy(digits_[number].data(), 3, 1);
    }
  }

  // The first `count` copies, each with its own key. Valid until the next call.
  [[nodiscard]] std::string_view with_keys(std::size_t count, Numbers& keys) noexcept {
    if (hole_ != std::string_view::npos) {
      char* to = bytes_.data() + hole_;
      for (std::size_t i = 0; i < count; ++i, to += size_) {
        const std::uint32_t key = keys.next();
        std::memcpy(to, digits_[key / 1000].data(), 3);
        std::memcpy(to + 3, digits_[key % 1000].data(), 3);
      }
    }
    return std::string_view(bytes_).substr(0, count * size_);
  }

  // For other parts that change.
  [[nodiscard]] char* copy(std::size_t number) noexcept { return bytes_.data() + number * size_; }

 private:
  std::size_t size_;
  std::size_t hole_;
  std::string bytes_;
  std::array<std::array<char, 3>, 1000> digits_;
};

}  // namespace bench::load
