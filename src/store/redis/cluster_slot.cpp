#include "store/redis/cluster_slot.h"

#include <array>
#include <cstddef>

namespace weir::store::redis {
namespace {

// What each byte at the top of the remainder adds to it.
constexpr auto remainders = [] {
  constexpr unsigned polynomial = 0x1021;
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned remainder = byte << 8;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder << 1) ^ ((remainder & 0x8000) != 0 ? polynomial : 0);
    table[byte] = static_cast<std::uint16_t>(remainder);
  }
  return table;
}();

std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc = ((crc << 8) & 0xffff) ^ remainders[(crc >> 8) ^ static_cast<unsigned char>(byte)];
  }
  return static_cast<std::uint16_t>(crc);
}

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t cluster_slot(std::string_view key) noexcept {
  return crc16(hashed_part(key)) % cluster_slots;
}

}  // namespace weir::store::redis
