// Keys of 24 bytes, generated from a number just before use.
//
// Ten million stored keys would not count towards any contender's memory but would pollute
// every cache. The timed loop therefore walks a sequence of key numbers and writes the keys of one block
// into 32 fixed slots: the same few nanoseconds for every contender, Rust's and Go's included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace bench::table {

inline constexpr std::size_t block_length = 32;
inline constexpr std::size_t key_length = 24;
inline constexpr std::string_view key_prefix = "account:";

// Eight letters 'a' to 'p', one per half byte.
constexpr std::uint64_t letters_of(std::uint32_t half) noexcept {
  std::uint64_t spread = half;
  spread = (spread | spread << 16) & 0x0000'ffff'0000'ffff;
  spread = (spread | spread << 8) & 0x00ff'00ff'00ff'00ff;
  spread = (spread | spread << 4) & 0x0f0f'0f0f'0f0f'0f0f;
  return spread + 0x6161'6161'6161'6161;
}

// Different numbers give different keys, because multiplication by an odd factor is invertible.
inline void write_key(std::uint32_t number, char* slot) noexcept {
  const std::uint64_t scattered = number * 0x9e37'79b9'7f4a'7c15;
  const std::uint64_t high = letters_of(static_cast<std::uint32_t>(scattered >> 32));
  const std::uint64_t low = letters_of(static_cast<std::uint32_t>(scattered));
  std::memcpy(slot, key_prefix.data(), 8);
  std::memcpy(slot + 8, &high, 8);
  std::memcpy(slot + 16, &low, 8);
}

class KeyBlock {
 public:
  void load(std::span<const std::uint32_t, block_length> numbers) noexcept {
    for (std::size_t i = 0; i < block_length; ++i) write_key(numbers[i], slots_.data() + i * key_length);
  }

  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {slots_.data() + i * key_length, key_length};
  }

 private:
  alignas(64) std::array<char, block_length * key_length> slots_{};
};

}  // namespace bench::table
