// SipHash-1-3 of several keys side by side: the same hashes as siphash13, a few times faster for a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "table/hash_key.h"

namespace weir::table {

inline constexpr std::size_t siphash_lanes = 8;

// Hashes `siphash_lanes` keys, with the widest vectors that the processor has.
void siphash13_lanes(const HashKey& key, const std::string_view* keys, std::uint64_t* hashes) noexcept;

}  // namespace weir::table
