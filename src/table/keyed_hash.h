// The keyed hash of a table, of the kind that its secret selects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "table/aes_block.h"
#include "table/hash_key.h"
#include "table/siphash.h"

namespace weir::table {

#if WEIR_AES

// A 64-bit keyed hash built from AES rounds; it takes a quarter of SipHash's instructions. docs/decisions/0008 explains
// why, and how safe it is.
//
//   hash = F(A(x) ^ B(y) ^ length), its lower 64 bits
//
// A, B and F are four rounds of AES each, every round under its own secret key. x and y are the first and the last 16
// bytes, which may overlap; for a longer key, x is chained through A with the 16 bytes that follow, until the rest fits
// y; for a shorter one, y is zero. So x, y and the length distinguish any two keys of up to 32 bytes, and two of them
// collide before F with a probability of at most 2^-111. Snapshots contain these hashes: the function must not change.

// The round keys, derived from a table's secret.
struct AesKeys {
  AesWords begin_a, begin_b;
  AesRounds a{}, b{}, f{};

  AesKeys() = default;
  explicit AesKeys(const HashKey& key) noexcept {
    std::uint64_t number = 0;
    const auto next = [&] { return siphash13(key, bytes_of(++number)); };
    const auto fill = [&](AesWords& words) {
      words.low = next();
      words.high = next();
    };
    fill(begin_a);
    fill(begin_b);
    for (AesRounds* rounds : {&a, &b, &f}) {
      for (AesWords& words : *rounds) fill(words);
    }
  }

 private:
  static std::string_view bytes_of(const std::uint64_t& number) noexcept {
    return {reinterpret_cast<const char*>(&number), sizeof number};
  }
};

namespace aes_detail {

template <class Word>
[[gnu::always_inline]] inline std::uint64_t word_at(const char* at) noexcept {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Maps fewer than 16 bytes to two words that, together with the length, are unique.
[[gnu::always_inline]] inline AesWords short_block(const char* bytes, std::size_t size) noexcept {
  if (size >= 8) return {word_at<std::uint64_t>(bytes), word_at<std::uint64_t>(bytes + size - 8)};
  if (size >= 4) return {word_at<std::uint32_t>(bytes), word_at<std::uint32_t>(bytes + size - 4)};
  if (size == 0) return {0, 0};
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(bytes[i])}; };
  return {byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16, 0};
}

}  // namespace aes_detail

[[WEIR_AES_TARGET, gnu::always_inline]] inline std::uint64_t aes_hash(const AesKeys& keys,
                                                                      std::string_view bytes) noexcept {
  AesBlock x = aes_load(keys.begin_a);
  AesBlock y = aes_load(keys.begin_b);
  const char* const begin = bytes.data();
  const std::size_t size = bytes.size();
  if (size >= 16) [[likely]] {
    x = aes_xor(x, aes_load(begin));
    for (std::size_t at = 16; size - at > 16; at += 16) {
      x = aes_xor(aes_through(keys.a, x), aes_load(begin + at));
    }
    y = aes_xor(y, aes_load(begin + size - 16));
  } else {
    const AesWords block = aes_detail::short_block(begin, size);
    x = aes_xor(x, aes_load(block));
  }
  const AesBlock met = aes_xor(aes_through(keys.a, x), aes_through(keys.b, y));
  return aes_low(aes_through(keys.f, aes_xor(met, aes_from_low(std::uint64_t{size}))));
}

#endif

class KeyedHash {
 public:
  // The kind must be one that this processor supports.
  explicit KeyedHash(const HashKey& key) noexcept;

  [[nodiscard]] std::uint64_t operator()(std::string_view bytes) const noexcept {
    return key_.kind == HashKind::aes ? by_aes(bytes) : by_siphash(bytes);
  }

  [[nodiscard]] [[gnu::always_inline]] std::uint64_t by_siphash(std::string_view bytes) const noexcept {
    return siphash13(key_, bytes);
  }

  [[nodiscard]] const HashKey& key() const noexcept { return key_; }
#if WEIR_AES
  [[nodiscard]] const AesKeys& aes_keys() const noexcept { return aes_keys_; }
#endif

 private:
  [[nodiscard]] std::uint64_t by_aes(std::string_view bytes) const noexcept;

  HashKey key_;
#if WEIR_AES
  AesKeys aes_keys_;
#endif
};

}  // namespace weir::table
