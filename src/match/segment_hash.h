// The hash by which a segment's text is looked up among a policy's literals. Not keyed: strangers choose
// what is looked up but never what is stored, so they cannot make a look-up longer than the policy does.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir::match {

namespace segment_hash_detail {

template <class Word>
[[nodiscard]] inline std::uint64_t word_at(const char* from) noexcept {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Up to eight bytes as one word, in which bytes may be there twice.
[[nodiscard]] inline std::uint64_t short_word(std::string_view text) noexcept {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.size() >= 4) return word_at<std::uint32_t>(begin) << 32 | word_at<std::uint32_t>(end - 4);
  if (text.size() >= 2) return word_at<std::uint16_t>(begin) << 16 | word_at<std::uint16_t>(end - 2);
  return text.empty() ? 0 : word_at<std::uint8_t>(begin);
}

}  // namespace segment_hash_detail

[[nodiscard]] inline std::uint64_t segment_hash(std::string_view text) noexcept {
  using namespace segment_hash_detail;
  constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t hash = text.size() * odd;
  for (; text.size() > 8; text.remove_prefix(8)) {
    hash = (std::rotl(hash, 23) ^ word_at<std::uint64_t>(text.data())) * odd;
  }
  hash = (std::rotl(hash, 23) ^ short_word(text)) * odd;
  return hash ^ hash >> 32;
}

}  // namespace weir::match
