#include "table/keyed_hash.h"

#include <sys/random.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <array>
#include <random>

namespace weir::table {

bool can_hash(HashKind kind) noexcept {
#if defined(__x86_64__)
  if (kind == HashKind::aes) return __builtin_cpu_supports("aes") != 0;
#elif WEIR_AES
  if (kind == HashKind::aes) return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#endif
  return kind == HashKind::siphash;
}

HashKey HashKey::random() noexcept {
  const HashKind kind = can_hash(HashKind::aes) ? HashKind::aes : HashKind::siphash;
  std::array<std::uint64_t, 2> words{};
  // getrandom() always returns up to 256 bytes once booted; random_device covers a kernel without it.
  if (getrandom(words.data(), sizeof words, 0) != static_cast<ssize_t>(sizeof words)) {
    std::random_device device;
    for (std::uint64_t& word : words) word = (std::uint64_t{device()} << 32) | device();
  }
  return {words[0], words[1], kind};
}

#if WEIR_AES

KeyedHash::KeyedHash(const HashKey& key) noexcept : key_(key), aes_keys_(key) {}

[[WEIR_AES_TARGET]] std::uint64_t KeyedHash::by_aes(std::string_view bytes) const noexcept {
  return aes_hash(aes_keys_, bytes);
}

#else

KeyedHash::KeyedHash(const HashKey& key) noexcept : key_(key) {}

std::uint64_t KeyedHash::by_aes(std::string_view bytes) const noexcept {
  return by_siphash(bytes);
}

#endif

}  // namespace weir::table
