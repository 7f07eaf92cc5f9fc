// Whole numbers of a small unit as decimals of a large one: exact, without floating point.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace weir::text {

inline constexpr std::size_t max_digits = 20;

namespace decimal_detail {

inline constexpr auto powers = [] {
  std::array<std::uint64_t, max_digits> all{1};
  for (std::size_t i = 1; i < all.size(); ++i) all[i] = all[i - 1] * 10;
  return all;
}();

inline constexpr auto pairs = [] {  // 00 to 99
  std::array<char, 200> all{};
  for (std::size_t i = 0; i < 100; ++i) {
    all[2 * i] = static_cast<char>('0' + i / 10);
    all[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return all;
}();

}  // namespace decimal_detail

constexpr std::size_t digits_of(std::uint64_t number) noexcept {
  const auto most = static_cast<std::size_t>(std::bit_width(number | 1)) * 1233 >> 12;  // log10(2) = 1233/4096
  return most + ((number | 1) >= decimal_detail::powers[most] ? 1 : 0);
}

// Writes the digits_of(number) at `to`, two at a time, and returns the end. Most numbers have one or two digits.
inline char* put_number(char* to, std::uint64_t number) noexcept {
  if (number < 10) {
    *to = static_cast<char>('0' + number);
    return to + 1;
  }
  if (number < 100) {
    std::memcpy(to, &decimal_detail::pairs[2 * number], 2);
    return to + 2;
  }
  char* const end = to + digits_of(number);
  char* at = end;
  for (; number >= 100; number /= 100) std::memcpy(at -= 2, &decimal_detail::pairs[2 * (number % 100)], 2);
  if (number >= 10) {
    std::memcpy(at - 2, &decimal_detail::pairs[2 * number], 2);
  } else {
    at[-1] = static_cast<char>('0' + number);
  }
  return end;
}

inline void append_number(std::string& out, std::uint64_t number) {
  char digits[max_digits];
  out.append(digits, static_cast<std::size_t>(put_number(digits, number) - digits));
}

// `number` / 10^`places`, without trailing zeros: (2'500'000, 6) is 2.5, (3, 0) is 3.
inline void append_decimal(std::string& out, std::uint64_t number, unsigned places) {
  std::uint64_t one = decimal_detail::powers[places];
  append_number(out, number / one);
  std::uint64_t rest = number % one;
  if (rest == 0) return;
  out.push_back('.');
  while (rest != 0) {
    one /= 10;
    out.push_back(static_cast<char>('0' + rest / one));
    rest %= one;
  }
}

}  // namespace weir::text
