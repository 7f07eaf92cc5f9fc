// Products and quotients without overflow on the way, and choices without a branch.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weir::core {

__extension__ using Wide = unsigned __int128;

// a x b / c. The quotient has to fit 64 bits. In 64 bits while the product fits: a wide division costs several narrow
// ones.
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

// A choice without a branch is for conditions that nobody can predict, such as whether a request is admitted. A wrong
// guess would cost more than the arithmetic it skips, and stop the core from looking ahead to the next key.

// One of two words that are both at hand.
[[nodiscard]] [[gnu::always_inline]] constexpr std::int64_t either(bool condition, std::int64_t first,
                                                                   std::int64_t second) noexcept {
  return __builtin_expect_with_probability(condition, true, 0.5) ? first : second;
}

class Choice {
 public:
  constexpr explicit Choice(bool first) noexcept : mask_(-std::int64_t{first}) {
    // The compiler would see through the mask and make it a branch again.
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
