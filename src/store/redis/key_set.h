// The different keys of a batch, each with a number, in the order in which they came.
//
// Found by a hash under a secret, so that no choice of keys makes it slow. Holds views of the keys. Allocates once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "table/siphash.h"

namespace weir::store::redis {

template <std::size_t most>
class KeySet {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  KeySet() { keys_.reserve(most); }

  void clear() noexcept {
    keys_.clear();
    places_.fill(0);
  }

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t number) const noexcept { return keys_[number]; }

  [[nodiscard]] std::uint32_t find(std::string_view key) const noexcept { return places_[place_of(key)] - 1U; }

  // Its number, old or new. There is room: size() < most.
  std::uint32_t insert(std::string_view key) {
    std::uint16_t& place = places_[place_of(key)];
    if (place == 0) {
      keys_.push_back(key);
      place = static_cast<std::uint16_t>(keys_.size());
    }
    return place - 1U;
  }

 private:
  static constexpr std::size_t places = 4 * most;
  static_assert((places & (places - 1)) == 0 && most < UINT16_MAX);

  // Where the key is, or would be. There is always an empty one.
  [[nodiscard]] std::size_t place_of(std::string_view key) const noexcept {
    std::size_t place = table::siphash13(secret_, key) & (places - 1);
    while (places_[place] != 0 && keys_[places_[place] - 1U] != key) place = (place + 1) & (places - 1);
    return place;
  }

  table::HashKey secret_ = table::HashKey::random();
  std::vector<std::string_view> keys_;
  std::array<std::uint16_t, places> places_{};  // a key's number and one; 0 is empty
};

}  // namespace weir::store::redis
