// The header fields that came last over one connection, and what was found of each. The requests of a client are much
// alike: most fields are as they were at the same place of the one before, and are not examined again. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "wire/http2/field_finding.h"

namespace weir::wire::http2 {

class FieldMemory {
 public:
  // Of another list of fields.
  void begin() noexcept { next_ = 0; }

  // Of the next field of the list.
  [[nodiscard]] FieldFinding look_at(std::string_view name, std::string_view value) noexcept {
    if (next_ == places_.size()) return examine(name, value);
    Place& place = places_[next_++];
    if (place.holds(name, value)) return place.finding;
    const FieldFinding found = examine(name, value);
    place.remember(name, value, found);
    return found;
  }

 private:
  static constexpr std::size_t remembered = 16;
  static constexpr std::size_t longest = 112;  // name and value

  // By words, the last of which may reach back into the one before: most texts are a few words long.
  template <class Word>
  [[nodiscard]] static bool is_same_by(const char* one, const char* other, std::size_t size) noexcept {
    const auto differ = [&](std::size_t at) {
      std::array<Word, 2> words;
      std::memcpy(&words[0], one + at, sizeof(Word));
      std::memcpy(&words[1], other + at, sizeof(Word));
      return words[0] != words[1];
    };
    const std::size_t last = size - sizeof(Word);
    for (std::size_t at = 0; at < last; at += sizeof(Word)) {
      if (differ(at)) return false;
    }
    return !differ(last);
  }
  [[nodiscard]] static bool is_same(const char* one, const char* other, std::size_t size) noexcept {
    if (size >= sizeof(std::uint64_t)) return is_same_by<std::uint64_t>(one, other, size);
    if (size >= sizeof(std::uint32_t)) return is_same_by<std::uint32_t>(one, other, size);
    return size == 0 || is_same_by<std::uint8_t>(one, other, size);
  }

  struct Place {
    [[nodiscard]] bool holds(std::string_view name, std::string_view value) const noexcept {
      return known && name.size() == name_size && value.size() == value_size &&
             is_same(text.data(), name.data(), name_size) && is_same(text.data() + name_size, value.data(), value_size);
    }
    void remember(std::string_view name, std::string_view value, const FieldFinding& found) noexcept {
      known = name.size() + value.size() <= longest;
      if (!known) return;
      name.copy(text.data(), name.size());
      value.copy(text.data() + name.size(), value.size());
      name_size = name.size();
      value_size = value.size();
      finding = found;
    }

    bool known = false;
    std::size_t name_size;
    std::size_t value_size;
    FieldFinding finding;
    std::array<char, longest> text;
  };

  std::array<Place, remembered> places_;
  std::size_t next_ = 0;
};

}  // namespace weir::wire::http2
