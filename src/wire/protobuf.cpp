#include "wire/protobuf.h"

#include <array>

namespace weir::wire::protobuf {
namespace {

constexpr std::size_t max_varint_length = 10;
constexpr std::size_t max_tag_length = 5;
constexpr std::uint64_t max_field_size = 0x7FFF'FFEF;  // the limit of Google's library

constexpr std::uint8_t byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<std::uint8_t>(text[i]);
}

}  // namespace

bool Reader::next_any() noexcept {
  if (!ok_ || rest_.empty()) return false;
  ok_ = read_tag() && type_ != WireType::end_group && read_value();
  return ok_;
}

// A tag that exceeds 32 bits is truncated, but may have no more than five bytes.
bool Reader::read_tag() noexcept {
  std::uint32_t tag = 0;
  for (std::size_t i = 0; i < max_tag_length && i < rest_.size(); ++i) {
    const std::uint32_t byte = byte_at(rest_, i);
    tag |= (byte & 0x7FU) << (7 * i);
    if (byte >= 0x80) continue;
    rest_.remove_prefix(i + 1);
    number_ = tag >> 3U;
    type_ = static_cast<WireType>(tag & 7U);
    return number_ != 0;
  }
  return false;
}

bool Reader::read_varint(std::uint64_t& value) noexcept {
  value = 0;
  for (std::size_t i = 0; i < max_varint_length && i < rest_.size(); ++i) {
    const std::uint64_t byte = byte_at(rest_, i);
    value |= (byte & 0x7FU) << (7 * i);
    if (byte >= 0x80) continue;
    rest_.remove_prefix(i + 1);
    return true;
  }
  return false;
}

bool Reader::read_size(std::size_t& size) noexcept {
  const std::size_t before = rest_.size();
  std::uint64_t value = 0;
  if (!read_varint(value) || before - rest_.size() > max_tag_length || value > max_field_size) return false;
  size = static_cast<std::size_t>(value);
  return true;
}

bool Reader::take(std::size_t size) noexcept {
  if (size > rest_.size()) return false;
  bytes_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool Reader::read_value() noexcept {
  std::size_t size = 0;
  switch (type_) {
    case WireType::varint:
      return read_varint(varint_);
    case WireType::fixed64:
      return take(8);
    case WireType::bytes:
      return read_size(size) && take(size);
    case WireType::group:
      return skip_group(number_);
    case WireType::fixed32:
      return take(4);
    case WireType::end_group:
      break;
  }
  return false;
}

// Groups are deprecated, and no message here has one.
bool Reader::skip_group(std::uint32_t number) noexcept {
  std::array<std::uint32_t, max_depth> open;
  std::size_t depth = 0;
  if (depth_ == 0) return false;
  open[depth++] = number;
  while (depth > 0) {
    if (!read_tag()) return false;
    if (type_ == WireType::group) {
      if (depth == depth_) return false;
      open[depth++] = number_;
    } else if (type_ == WireType::end_group) {
      if (open[--depth] != number_) return false;
    } else if (!read_value()) {
      return false;
    }
  }
  number_ = number;
  type_ = WireType::group;
  return true;
}

}  // namespace weir::wire::protobuf
