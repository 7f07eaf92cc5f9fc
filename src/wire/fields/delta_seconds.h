// Seconds as fields state them. A number too large to keep is read as 2^31 seconds (68 years), as
// RFC 9111 has it for delta-seconds, so that no arithmetic on a wait can overflow.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weir/time.h"

namespace weir::wire {

inline constexpr std::uint64_t most_delta_seconds = std::uint64_t{1} << 31;
inline constexpr Duration longest_wait = std::chrono::seconds{most_delta_seconds};

constexpr Duration delta_seconds(std::uint64_t seconds) noexcept {
  return std::chrono::seconds{std::min(seconds, most_delta_seconds)};
}

}  // namespace weir::wire
