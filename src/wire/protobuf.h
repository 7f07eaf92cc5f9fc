// The wire format of Protocol Buffers.
//
// A Reader reads a message field by field. It accepts and rejects the same messages as Google's library; a test
// compares them. It returns views and allocates nothing.
//
//   Reader reader(message);
//   while (reader.next()) {
//     if (reader.is(1, WireType::bytes)) name = reader.bytes();   // other fields are skipped
//   }
//   if (!reader.ok()) refuse();
//
// The append_* functions append fields to the caller's buffer and allocate only to grow it. As in proto3, the caller
// should omit default values. A message that is written often is written in one step: compute its size (`*_size`), then
// write the fields (`put_*`, which return their end).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "text/append_written.h"
#include "text/utf8.h"

namespace weir::wire::protobuf {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, end_group = 4, fixed32 = 5 };

class Reader {
 public:
  // The maximum nesting of messages and groups.
  static constexpr unsigned max_depth = 100;

  explicit Reader(std::string_view message, unsigned depth = max_depth) noexcept : rest_(message), depth_(depth) {}

  // Returns false at the end of the message and at an error.
  [[nodiscard]] bool next() noexcept { return next_short() || next_any(); }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  void refuse() noexcept { ok_ = false; }

  // These describe the field that next() found.
  [[nodiscard]] bool is(std::uint32_t number, WireType type) const noexcept {
    return number_ == number && type_ == type;
  }
  [[nodiscard]] std::uint64_t varint() const noexcept { return varint_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  // Rejects the message if the bytes are not UTF-8.
  [[nodiscard]] std::string_view text() noexcept {
    if (!text::is_utf8(bytes_)) ok_ = false;
    return bytes_;
  }
  // Returns a nested message. If it is malformed, the caller must refuse() the outer one.
  [[nodiscard]] Reader message() noexcept {
    if (depth_ == 0) ok_ = false;
    return Reader(ok_ ? bytes_ : std::string_view(), depth_ == 0 ? 0 : depth_ - 1);
  }

 private:
  // The fast path for bytes with a tag and a size of one byte each. Returns false for other fields.
  [[nodiscard]] bool next_short() noexcept {
    if (!ok_ || rest_.size() < 2) return false;
    const auto tag = static_cast<std::uint8_t>(rest_[0]);
    const auto size = static_cast<std::uint8_t>(rest_[1]);
    const bool is_short = tag >= 8 && tag < 0x80 && (tag & 7U) == 2 && size < 0x80 && rest_.size() - 2 >= size;
    if (!is_short) return false;
    number_ = tag >> 3U;
    type_ = WireType::bytes;
    bytes_ = {rest_.data() + 2, size};
    rest_ = {rest_.data() + 2 + size, rest_.size() - 2 - size};
    return true;
  }
  [[nodiscard]] bool next_any() noexcept;
  [[nodiscard]] bool read_tag() noexcept;
  [[nodiscard]] bool read_varint(std::uint64_t& value) noexcept;
  [[nodiscard]] bool read_size(std::size_t& size) noexcept;
  [[nodiscard]] bool take(std::size_t size) noexcept;
  [[nodiscard]] bool read_value() noexcept;
  [[nodiscard]] bool skip_group(std::uint32_t number) noexcept;

  std::string_view rest_;
  unsigned depth_;
  bool ok_ = true;
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  std::uint64_t varint_ = 0;
  std::string_view bytes_;
};

constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  if (value < 0x80) return 1;  // nearly always
  return (static_cast<std::size_t>(std::bit_width(value | 1U)) * 9 + 64) / 64;
}

constexpr std::size_t number_size(std::uint32_t field, std::uint64_t value) noexcept {
  return varint_size(std::uint64_t{field} << 3U) + varint_size(value);
}

// The size of a field of bytes, or a message, of `size` bytes.
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

// Writes the tag and size of a field of bytes, or a message, of `size` bytes.
inline char* put_size(char* to, std::uint32_t field, std::size_t size) noexcept {
  return put_varint(put_varint(to, std::uint64_t{field} << 3U | 2U), size);
}

inline char* put_bytes(char* to, std::uint32_t field, std::string_view bytes) noexcept {
  to = put_size(to, field, bytes.size());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

inline void append_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  text::append_written(out, number_size(field, value), [&](char* to) { put_number(to, field, value); });
}

inline void append_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  text::append_written(out, bytes_size(field, bytes.size()), [&](char* to) { put_bytes(to, field, bytes); });
}

// `write` appends the fields of the nested message. One byte is reserved for its size, which is enough for most
// messages.
template <class Write>
void append_message(std::string& out, std::uint32_t field, const Write& write) {
  text::append_written(out, varint_size(std::uint64_t{field} << 3U),
                       [&](char* to) { put_varint(to, std::uint64_t{field} << 3U | 2U); });
  const std::size_t at = out.size();
  out.push_back('\0');
  write();
  const std::size_t size = out.size() - at - 1;
  if (varint_size(size) > 1) out.insert(at, varint_size(size) - 1, '\0');
  put_varint(out.data() + at, size);
}

}  // namespace weir::wire::protobuf
