// Overflow-free products and quotients, and branch-free choices.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weir::core {

__extension__ using Wide = unsigned __int128;

// a x b / c. The quotient must fit 64 bits. Uses 64 bits while the product fits, because a wide division is slower.
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

// Branch-free choices are for unpredictable conditions, such as whether a request is admitted. A misprediction would
// cost more than the arithmetic it skips, and would keep the CPU from starting on the next key.

// Selects one of two values that are both available.
[[nodiscard]] [[gnu::always_inline]] constexpr std::int64_t either(bool condition, std::int64_t first,
                                                                   std::int64_t second) noexcept {
  return __builtin_expect_with_probability(condition, true, 0.5) ? first : second;
}

class Choice {
 public:
  constexpr explicit Choice(bool first) noexcept : mask_(-std::int64_t{first}) {
    // Keeps the compiler from turning the mask back into a branch.
    if (!std::is_constant_evaluated()) asm("" : "+r"(mask_));
  }

  [[nodiscard]] constexpr std::int64_t of(std::int64_t first, std::int64_t second) const noexcept {
    return second ^ ((first ^ second) & mask_);
  }
  [[nodiscard]] constexpr std::int64_t or_zero(std::int64_t first) const noexcept { return first & mask_; }

 private:
  std::int64_t mask_;
};

}  // namespace weir::core
