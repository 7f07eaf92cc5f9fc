// The secret of a table's hash. With a random one nobody can aim keys at one bucket.
#pragma once

#include <compare>
#include <cstdint>

namespace weir::table {

enum class HashKind : std::uint8_t {
  siphash,  // siphash.h: any processor
  aes,      // keyed_hash.h: x86-64 and arm64 processors with AES instructions, quicker there
};

// Whether this processor can hash so.
[[nodiscard]] bool can_hash(HashKind kind) noexcept;

struct HashKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  HashKind kind = HashKind::siphash;

  // From the operating system, for the quickest hash that this processor has.
  [[nodiscard]] static HashKey random() noexcept;

  friend auto operator<=>(const HashKey&, const HashKey&) = default;
};

}  // namespace weir::table
