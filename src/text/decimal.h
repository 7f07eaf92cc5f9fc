// Whole numbers of a small unit as decimals of a large one: exact, without floating point.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::text {

inline void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// `number` / 10^`places`, without zeros at the end: (2'500'000, 6) is 2.5, (3, 0) is 3.
inline void append_decimal(std::string& out, std::uint64_t number, unsigned places) {
  std::uint64_t one = 1;
  for (unsigned i = 0; i < places; ++i) one *= 10;
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
