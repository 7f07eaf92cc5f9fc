// The bytes and lines of HTTP/1.1 (RFC 9110, 5.5 and 5.6; RFC 9112, 2.2).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weir::wire::http1 {

class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view members) noexcept {
    for (const char c : members) has_[static_cast<std::uint8_t>(c)] = true;
    for (unsigned c = '0'; c <= '9'; ++c) has_[c] = true;
    for (unsigned c = 'a'; c <= 'z'; ++c) has_[c] = has_[c - 'a' + 'A'] = true;
  }
  [[nodiscard]] constexpr bool has(char c) const noexcept { return has_[static_cast<std::uint8_t>(c)]; }

  [[nodiscard]] constexpr bool has_all(std::string_view text) const noexcept {
    bool all = true;
    for (const char c : text) all &= has(c);
    return all;
  }

  // Returns the number of leading bytes of `text` that are in the set.
  [[nodiscard]] constexpr std::size_t run(std::string_view text) const noexcept {
    std::size_t length = 0;
    while (length < text.size() && has(text[length])) ++length;
    return length;
  }

 private:
  std::array<bool, 256> has_{};
};

// Each set also has all letters and digits.
inline constexpr ByteSet token_bytes{"!#$%&'*+-.^_`|~"};
inline constexpr ByteSet host_bytes{"-._~%!$&'()*+,;=:[]"};

// True for bytes that end a line or are not allowed in one. A tab is allowed.
constexpr bool is_control(char c) noexcept {
  const auto byte = static_cast<std::uint8_t>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

#ifdef __SSE2__
// A bit mask of the control characters among sixteen bytes.
inline unsigned control_bits(const char* bytes) noexcept {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block);
  const __m128i tab = _mm_cmpeq_epi8(block, _mm_set1_epi8('\t'));
  const __m128i del = _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del)));
}
#endif

// The index of the first control character in [from, to), or `to` if there is none.
inline std::size_t find_control(const char* bytes, std::size_t from, std::size_t to) noexcept {
#ifdef __SSE2__
  const std::size_t begin = from;
  for (; from + 16 <= to; from += 16) {
    const unsigned bits = control_bits(bytes + from);
    if (bits != 0) return from + static_cast<std::size_t>(std::countr_zero(bits));
  }
  if (from < to && begin + 16 <= to) {  // the last block overlaps the one before
    const unsigned bits = control_bits(bytes + to - 16);
    return bits == 0 ? to : to - 16 + static_cast<std::size_t>(std::countr_zero(bits));
  }
#endif
  while (from < to && !is_control(bytes[from])) ++from;
  return from;
}

// Reads lines from a growing buffer. A line ends in CRLF and contains no other control characters except tabs.
//
// The result depends only on the bytes, not on how they were split, and no byte is scanned twice. The state is offsets
// only, so the buffer may move between calls.
class Lines {
 public:
  enum class Found : std::uint8_t { line, need_more, too_long, malformed };

  Lines() = default;
  explicit Lines(std::size_t at) noexcept : at_(at), scanned_(at) {}

  // The offset of the next line.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

  // The next line, with its CRLF, must end before `limit`, which must not change until the line is found.
  Found next(std::string_view bytes, std::size_t limit) noexcept {
    const std::size_t last = limit > 1 ? limit - 1 : 0;  // the CR must be before this
    const std::size_t stop = std::min(bytes.size(), last);
    const std::size_t end = scanned_ < stop ? find_control(bytes.data(), scanned_, stop) : stop;
    scanned_ = end;
    if (end == stop) return bytes.size() >= last ? Found::too_long : Found::need_more;
    if (bytes[end] != '\r') return Found::malformed;
    if (end + 1 == bytes.size()) return Found::need_more;
    if (bytes[end + 1] != '\n') return Found::malformed;
    line_ = bytes.substr(at_, end - at_);
    at_ = scanned_ = end + 2;
    return Found::line;
  }

  // The last line without its CRLF. Invalid once the buffer moves.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }

 private:
  std::size_t at_ = 0;
  std::size_t scanned_ = 0;  // no control character in [at_, scanned_)
  std::string_view line_;
};

}  // namespace weir::wire::http1
