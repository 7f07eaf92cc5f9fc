#include "table/keyed_hash.h"

namespace weir::table {

#if defined(__x86_64__)

KeyedHash::KeyedHash(const HashKey& key) noexcept : key_(key), aes_keys_(key) {}

[[gnu::target("aes")]] std::uint64_t KeyedHash::by_aes(std::string_view bytes) const noexcept {
  return aes_hash(aes_keys_, bytes);
}

#else

KeyedHash::KeyedHash(const HashKey& key) noexcept : key_(key) {}

std::uint64_t KeyedHash::by_aes(std::string_view bytes) const noexcept {
  return by_siphash(bytes);
}

#endif

}  // namespace weir::table
