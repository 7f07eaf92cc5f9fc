// A bulk string, the one thing that both directions write: its length, its bytes, a line's end.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "wire/resp/integer_text.h"

namespace weir::wire::resp {

inline void append_bulk(std::string& out, std::string_view bytes) {
  // Short ones are put together first: one append instead of three.
  std::array<char, 128> room;
  room[0] = '$';
  char* end = write_integer_line(room.data() + 1, static_cast<std::int64_t>(bytes.size()));
  if (bytes.size() > room.size() - longest_integer_text - 5) {
    out.append(room.data(), end);
    out += bytes;
    out += "\r\n";
    return;
  }
  if (!bytes.empty()) std::memcpy(end, bytes.data(), bytes.size());
  end += bytes.size();
  *end++ = '\r';
  *end++ = '\n';
  out.append(room.data(), end);
}

}  // namespace weir::wire::resp
