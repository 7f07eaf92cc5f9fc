// The classes of bytes that HTTP/1.1 is made of (RFC 9110, 5.5 and 5.6). The locale has no say.
#pragma once

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

  // How many bytes at the front of `text` are members.
  [[nodiscard]] constexpr std::size_t run(std::string_view text) const noexcept {
    std::size_t length = 0;
    while (length < text.size() && has(text[length])) ++length;
    return length;
  }

 private:
  std::array<bool, 256> has_{};
};

// Letters, digits and what else each may have.
inline constexpr ByteSet token_bytes{"!#$%&'*+-.^_`|~"};
inline constexpr ByteSet host_bytes{"-._~%!$&'()*+,;=:[]"};

// What ends a line, or has no place in one. A tab is whitespace.
constexpr bool is_control(char c) noexcept {
  const auto byte = static_cast<std::uint8_t>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

// The place of the first control character from `from` on, `to` if there is none before it.
inline std::size_t find_control(const char* bytes, std::size_t from, std::size_t to) noexcept {
#ifdef __SSE2__
  const __m128i last_control = _mm_set1_epi8(0x1F);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7F);
  for (; from + 16 <= to; from += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + from));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block);
    const __m128i found = _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(block, tab), low), _mm_cmpeq_epi8(block, del));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(found));
    if (mask != 0) return from + static_cast<std::size_t>(std::countr_zero(mask));
  }
#endif
  while (from < to && !is_control(bytes[from])) ++from;
  return from;
}

// Whether `text` is `lower` in any letter case. `lower` is made of lower case letters, digits and hyphens, and
// `text` has no control characters: then one bit is all they can differ in.
constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  if (text.size() != lower.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    difference |= (static_cast<std::uint8_t>(text[i]) | 0x20U) ^ static_cast<std::uint8_t>(lower[i]);
  }
  return difference == 0;
}

constexpr std::string_view without_outer_whitespace(std::string_view text) noexcept {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace weir::wire::http1
