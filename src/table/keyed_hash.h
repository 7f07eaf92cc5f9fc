// The hash of a table, with its secret: of the kind that the secret is for.
#pragma once

#include <cstdint>
#include <string_view>

#include "table/aes_hash.h"
#include "table/hash_key.h"
#include "table/siphash.h"

namespace weir::table {

class KeyedHash {
 public:
  // For a kind that this processor can hash by.
  explicit KeyedHash(const HashKey& key) noexcept;

  [[nodiscard]] std::uint64_t operator()(std::string_view bytes) const noexcept {
    return key_.kind == HashKind::aes ? by_aes(bytes) : by_siphash(bytes);
  }

  [[nodiscard]] [[gnu::always_inline]] std::uint64_t by_siphash(std::string_view bytes) const noexcept {
    return siphash13(key_, bytes);
  }

  [[nodiscard]] const HashKey& key() const noexcept { return key_; }
#if defined(__x86_64__)
  [[nodiscard]] const AesKeys& aes_keys() const noexcept {
    return aes_keys_;
  }
#endif

 private:
  [[nodiscard]] std::uint64_t by_aes(std::string_view bytes) const noexcept;

  HashKey key_;
#if defined(__x86_64__)
  AesKeys aes_keys_;
#endif
};

}  // namespace weir::table
