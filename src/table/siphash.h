// SipHash-1-3: a keyed hash that resists targeted collisions, at about ten nanoseconds for a short key.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "table/hash_key.h"

namespace weir::table {

namespace siphash_detail {

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    v0 ^= word;
  }
};

[[nodiscard]] inline std::uint64_t word_at(std::string_view bytes, std::size_t i) noexcept {
  static_assert(std::endian::native == std::endian::little, "words are read in the machine's order");
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + 8 * i, 8);
  return word;
}

// The bytes after the last whole word, with the length on top.
[[nodiscard]] inline std::uint64_t last_word(std::string_view bytes) noexcept {
  const std::size_t left = bytes.size() % 8;
  std::uint64_t last = std::uint64_t{bytes.size()} << 56;
  if (left == 0) return last;
  if (bytes.size() >= 8) {
    std::uint64_t end = 0;
    std::memcpy(&end, bytes.data() + bytes.size() - 8, 8);
    return last | (end >> (8 * (8 - left)));
  }
  for (std::size_t i = 0; i < left; ++i) {
    last |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return last;
}

}  // namespace siphash_detail

[[nodiscard]] [[gnu::always_inline]] inline std::uint64_t siphash13(const HashKey& key,
                                                                    std::string_view bytes) noexcept {
  siphash_detail::State state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
                              key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
  const std::size_t words = bytes.size() / 8;
  for (std::size_t i = 0; i < words; ++i) state.absorb(siphash_detail::word_at(bytes, i));
  state.absorb(siphash_detail::last_word(bytes));
  state.v2 ^= 0xff;
  state.round();
  state.round();
  state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace weir::table
