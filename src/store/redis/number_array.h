// An array of whole numbers as MessagePack, the form in which a script of Redis reads it quickest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::store::redis {

namespace number_array_detail {

template <std::size_t bytes>
void append_tagged(std::string& out, unsigned tag, std::uint64_t number) {
  char text[1 + bytes];
  text[0] = static_cast<char>(tag);
  for (std::size_t i = 0; i < bytes; ++i) text[1 + i] = static_cast<char>(number >> (8 * (bytes - 1 - i)));
  out.append(text, sizeof text);
}

}  // namespace number_array_detail

// The head of an array; its numbers follow.
inline void append_array_head(std::string& out, std::size_t numbers) {
  number_array_detail::append_tagged<4>(out, 0xdd, numbers);
}

inline void append_number(std::string& out, std::int64_t number) {
  using number_array_detail::append_tagged;
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= 0 && number < 128) {
    out.push_back(static_cast<char>(number));
  } else if (number >= 0 && number < 65'536) {
    append_tagged<2>(out, 0xcd, bits);
  } else if (number >= 0 && number < 4'294'967'296) {
    append_tagged<4>(out, 0xce, bits);
  } else {
    append_tagged<8>(out, 0xd3, bits);
  }
}

}  // namespace weir::store::redis
