// Appends to a string what is written byte by byte.
#pragma once

#include <cstddef>
#include <string>

namespace weir::text {

// Appends `size` bytes, which put(to) writes. A few are written elsewhere first: room in a string would be zeroed.
template <class Put>
void append_written(std::string& out, std::size_t size, const Put& put) {
  char bytes[256];
  const bool is_short = size <= sizeof bytes;
  const std::size_t at = out.size();
  if (!is_short) out.resize(at + size);
  put(is_short ? bytes : out.data() + at);
  if (is_short) out.append(bytes, size);
}

}  // namespace weir::text
