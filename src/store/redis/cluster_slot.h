// The slot of a key in a Redis cluster: CRC16 (XMODEM) modulo 16384, of what is between the first { and the next }, if
// there is anything between them; otherwise of the whole key. Pure; callable from anywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::store::redis {

inline constexpr std::uint16_t cluster_slots = 16'384;

[[nodiscard]] std::uint16_t cluster_slot(std::string_view key) noexcept;

}  // namespace weir::store::redis
