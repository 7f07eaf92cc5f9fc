#include "policy/segment_text.h"

#include <algorithm>

namespace weir::policy {
namespace {

// -1 for what is not a hexadecimal digit.
constexpr int hex(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The byte that two digits stand for; negative if they are not digits.
constexpr int octet(const char* digits) noexcept {
  const int high = hex(digits[0]);
  const int low = hex(digits[1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

struct Encoded {
  std::size_t length = 0;  // 0: the text does not end in an encoded character
  char character = '\0';
};

Encoded encoded_at_end(std::string_view text) noexcept {
  const std::size_t size = text.size();
  const auto from_end = [&](std::size_t count) { return text.data() + size - count; };
  if (size >= 2) {
    const auto lead = static_cast<unsigned char>(*from_end(2));
    const auto last = static_cast<unsigned char>(*from_end(1));
    if ((lead == 0xC0 || lead == 0xC1) && (last & 0xC0U) == 0x80) {
      return {2, static_cast<char>((lead & 1U) << 6 | (last & 0x3FU))};
    }
  }
  if (size < 3 || hex(*from_end(1)) < 0) return {};
  if (const int value = octet(from_end(2)); *from_end(3) == '%' && value >= 0) return {3, static_cast<char>(value)};
  if (size < 6 || *from_end(6) != '%' || to_lower(*from_end(5)) != 'u') return {};
  const int value = octet(from_end(2));
  return octet(from_end(4)) == 0 && value >= 0 && value < 0x80 ? Encoded{6, static_cast<char>(value)} : Encoded{};
}

constexpr bool cuts(char c) noexcept {
  return c == ';' || c == '?' || c == '#' || is_control(c);
}

}  // namespace

std::size_t decode(std::string_view raw, char* to) noexcept {
  std::size_t size = 0;
  for (const char c : raw) {
    to[size++] = c;
    for (Encoded encoded = encoded_at_end({to, size}); encoded.length > 0; encoded = encoded_at_end({to, size})) {
      size -= encoded.length;
      to[size++] = encoded.character;
    }
  }
  return size;
}

SegmentText segment_text(std::span<char> decoded) noexcept {
  SegmentText result;
  for (char& c : decoded) {
    c = to_lower(c);
    result.has_parameters |= c == ';';
    result.may_end_path |= c != ';' && cuts(c);
  }
  const auto begin = std::find_if(decoded.begin(), decoded.end(), [](char c) { return c != ' ' && !is_control(c); });
  auto end = std::find_if(begin, decoded.end(), cuts);
  result.may_be_empty = std::any_of(decoded.begin(), begin, is_control);
  while (end != begin && *(end - 1) == ' ') --end;
  const std::string_view text(begin, end);
  if (text == "." || text == "..") {
    result.dots = text.size();
    return result;
  }
  result.text = text.substr(0, text.find_last_not_of(" .") + 1);
  result.may_be_empty |= result.text.empty();
  return result;
}

}  // namespace weir::policy
