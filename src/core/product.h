// a x b / c without overflow on the way. The quotient has to fit 64 bits.
#pragma once

#include <cstdint>

namespace weir::core {

__extension__ using Wide = unsigned __int128;

// In 64 bits while the product fits: a wide division costs several narrow ones.
constexpr std::uint64_t multiply_divide_floor(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) [[likely]]
    return product / c;
  return static_cast<std::uint64_t>(Wide{a} * b / c);
}

constexpr std::uint64_t multiply_divide_ceil(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) [[likely]]
    return product / c + (product % c != 0 ? 1 : 0);
  return static_cast<std::uint64_t>((Wide{a} * b + (c - 1)) / c);
}

}  // namespace weir::core
