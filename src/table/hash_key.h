// The secret of a table's hash. A random secret keeps clients from aiming keys at one bucket.
#pragma once

#include <compare>
#include <cstdint>

namespace weir::table {

enum class HashKind : std::uint8_t {
  siphash,  // siphash.h: any processor
  aes,      // keyed_hash.h: x86-64 and arm64 processors with AES instructions; faster there
};

// True if this processor supports the hash.
[[nodiscard]] bool can_hash(HashKind kind) noexcept;

struct HashKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  HashKind kind = HashKind::siphash;

  // A random key for the fastest hash that this processor supports.
  [[nodiscard]] static HashKey random() noexcept;

  friend auto operator<=>(const HashKey&, const HashKey&) = default;
};

}  // namespace weir::table
