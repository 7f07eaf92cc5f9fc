// Calls of one door that were not judged, in numbers. One thread counts, any reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/counters.h"

namespace weir::door {

// Why a request was denied without having been read. A proxy may let pass what its limiter fails on, so what a client
// can cause is denied, and not an error.
enum class Unread : std::uint8_t { message_too_long, head_too_long, too_many_descriptors, malformed };

inline constexpr std::array<std::string_view, 4> unread_names{"message_too_long", "head_too_long",
                                                              "too_many_descriptors", "malformed"};

struct UnjudgedCounts {
  engine::Count failed;  // answered by an error that a proxy takes for a failure, or given up without an answer
  std::array<engine::Count, unread_names.size()> denied;

  [[nodiscard]] engine::Count& of(Unread why) noexcept { return denied[static_cast<std::size_t>(why)]; }
};

}  // namespace weir::door
