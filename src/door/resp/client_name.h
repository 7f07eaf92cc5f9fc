// What a connection may be called: a word that can stand in a list, as in Redis, and not too long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weir::door {

inline constexpr std::size_t longest_client_name = 256;

inline constexpr std::string_view bad_client_name =
    "ERR Client names cannot contain spaces, newlines or special characters.";

// An empty one takes the name away.
[[nodiscard]] constexpr bool is_client_name(std::string_view name) noexcept {
  return name.size() <= longest_client_name && std::ranges::all_of(name, [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace weir::door
