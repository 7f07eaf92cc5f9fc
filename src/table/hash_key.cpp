#include "table/hash_key.h"

#include <sys/random.h>

#include <random>

namespace weir::table {

HashKey HashKey::random() noexcept {
  HashKey key;
  // Up to 256 bytes never come short once the system has booted; random_device covers a kernel that has none.
  if (getrandom(&key, sizeof key, 0) == static_cast<ssize_t>(sizeof key)) return key;
  std::random_device device;
  const auto word = [&] { return (std::uint64_t{device()} << 32) | device(); };
  return {word(), word()};
}

}  // namespace weir::table
