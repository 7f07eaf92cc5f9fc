// Appends the fields of a Protocol Buffers message to a buffer of the caller. As in proto3, what has its default value
// is left to the caller to leave out. Allocates only where the buffer grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire::protobuf {

inline void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80U));
    value >>= 7U;
  }
  out.push_back(static_cast<char>(value));
}

inline void append_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  append_varint(out, std::uint64_t{field} << 3U);
  append_varint(out, value);
}

inline void append_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  append_varint(out, std::uint64_t{field} << 3U | 2U);
  append_varint(out, bytes.size());
  out.append(bytes);
}

// `write` appends the fields of the message inside. Its size is known only then; one byte is kept for it, which is
// enough for most.
template <class Write>
void append_message(std::string& out, std::uint32_t field, const Write& write) {
  append_varint(out, std::uint64_t{field} << 3U | 2U);
  const std::size_t at = out.size();
  out.push_back('\0');
  write();
  std::size_t size = out.size() - at - 1;
  std::size_t place = at;
  if (size >= 0x80) {
    std::size_t more = 0;
    for (std::size_t left = size >> 7U; left > 0; left >>= 7U) ++more;
    out.insert(at, more, '\0');
  }
  for (; size >= 0x80; size >>= 7U) out[place++] = static_cast<char>(size | 0x80U);
  out[place] = static_cast<char>(size);
}

}  // namespace weir::wire::protobuf
