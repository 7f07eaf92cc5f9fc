// Appends the fields of a Protocol Buffers message to a buffer of the caller. As in proto3, what has its default value
// is left to the caller to leave out. Allocates only where the buffer grows.
//
// Where a message is written often, its size is found first (`*_size`), room is made once, and the fields are put there
// (`put_*`, which give where they ended).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::wire::protobuf {

constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1U)) * 9 + 64) / 64;
}

constexpr std::size_t number_size(std::uint32_t field, std::uint64_t value) noexcept {
  return varint_size(std::uint64_t{field} << 3U) + varint_size(value);
}

// Of bytes, and of a message, that are `size` long.
constexpr std::size_t bytes_size(std::uint32_t field, std::size_t size) noexcept {
  return varint_size(std::uint64_t{field} << 3U) + varint_size(size) + size;
}

inline char* put_varint(char* to, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  *to++ = static_cast<char>(value);
  return to;
}

inline char* put_number(char* to, std::uint32_t field, std::uint64_t value) noexcept {
  return put_varint(put_varint(to, std::uint64_t{field} << 3U), value);
}

// What stands in front of bytes, and of a message, that are `size` long.
inline char* put_size(char* to, std::uint32_t field, std::size_t size) noexcept {
  return put_varint(put_varint(to, std::uint64_t{field} << 3U | 2U), size);
}

inline char* put_bytes(char* to, std::uint32_t field, std::string_view bytes) noexcept {
  to = put_size(to, field, bytes.size());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

// Room for `size` bytes at the end of `out`.
inline char* room_in(std::string& out, std::size_t size) {
  const std::size_t at = out.size();
  out.resize(at + size);
  return out.data() + at;
}

inline void append_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_number(room_in(out, number_size(field, value)), field, value);
}

inline void append_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_bytes(room_in(out, bytes_size(field, bytes.size())), field, bytes);
}

// `write` appends the fields of the message inside. Its size is known only then; one byte is kept for it, which is
// enough for most.
template <class Write>
void append_message(std::string& out, std::uint32_t field, const Write& write) {
  put_varint(room_in(out, varint_size(std::uint64_t{field} << 3U)), std::uint64_t{field} << 3U | 2U);
  const std::size_t at = out.size();
  out.push_back('\0');
  write();
  const std::size_t size = out.size() - at - 1;
  if (varint_size(size) > 1) out.insert(at, varint_size(size) - 1, '\0');
  put_varint(out.data() + at, size);
}

}  // namespace weir::wire::protobuf
