#pragma once

#include <cstddef>
#include <string>

namespace weir::text {

// Appends the `size` bytes that put(to) writes. A few bytes go through a buffer, because resizing a string would zero
// them first.
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
