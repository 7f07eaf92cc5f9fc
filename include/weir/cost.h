// SPDX-License-Identifier: Apache-2.0
// The number of units that a request takes from a limit: 1 for an ordinary request, more for a heavy one, 0 to look
// without charging.
#pragma once

#include <compare>
#include <cstdint>

namespace weir {

class Cost {
 public:
  constexpr Cost() noexcept = default;
  constexpr explicit Cost(std::uint64_t units) noexcept : units_(units) {}

  [[nodiscard]] constexpr std::uint64_t units() const noexcept { return units_; }

  friend constexpr auto operator<=>(Cost, Cost) noexcept = default;

 private:
  std::uint64_t units_ = 1;
};

}  // namespace weir
