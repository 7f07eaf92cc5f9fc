// Protocol Buffers, the wire format: a message field by field. Accepts and refuses what Google's library does; a test
// compares them. Views only, allocates nothing.
//
//   Reader reader(message);
//   while (reader.next()) {
//     if (reader.is(1, WireType::bytes)) name = reader.bytes();   // what is not asked for is skipped
//   }
//   if (!reader.ok()) refuse();
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::wire::protobuf {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, end_group = 4, fixed32 = 5 };

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

class Reader {
 public:
  // How deeply messages and groups lie in each other, at most.
  static constexpr unsigned most_depth = 100;

  explicit Reader(std::string_view message, unsigned depth = most_depth) noexcept : rest_(message), depth_(depth) {}

  // False at the end of the message, and where it is malformed.
  [[nodiscard]] bool next() noexcept { return next_short() || next_any(); }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  void refuse() noexcept { ok_ = false; }

  // The field that next() found.
  [[nodiscard]] bool is(std::uint32_t number, WireType type) const noexcept {
    return number_ == number && type_ == type;
  }
  [[nodiscard]] std::uint64_t varint() const noexcept { return varint_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  // Refuses the message if they are not UTF-8.
  [[nodiscard]] std::string_view text() noexcept {
    if (!is_utf8(bytes_)) ok_ = false;
    return bytes_;
  }
  // A message inside this one. Whoever reads it refuses this one with it.
  [[nodiscard]] Reader message() noexcept {
    if (depth_ == 0) ok_ = false;
    return Reader(ok_ ? bytes_ : std::string_view(), depth_ == 0 ? 0 : depth_ - 1);
  }

 private:
  // Most fields are bytes, with a tag and a size of one byte each. False if this is another one.
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

}  // namespace weir::wire::protobuf
