// A node's share of a limit while the shared store is unavailable. Pure functions.
#pragma once

#include <cstdint>

#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::core {

// A share is a number of millionths.
inline constexpr std::uint32_t whole_share = 1'000'000;

// The rate and the burst times `share`, rounded down; of a window, its limit. At least one, and at least
// `largest_cost`, so that every request that fits the whole limit also fits the share.
[[nodiscard]] Limit local_share_of(const Limit& limit, std::uint32_t share, Cost largest_cost) noexcept;

// A node that counts only itself may have been joined by another a moment ago.
inline constexpr std::uint64_t min_sharing_nodes = 2;

// The same with a share of exactly 1 / nodes, and at most a half. Where `limit` is at least `nodes` times
// `largest_cost`, the shares of `nodes` nodes add up to at most the limit; the rates of buckets always do.
[[nodiscard]] Limit node_share_of(const Limit& limit, std::uint64_t nodes, Cost largest_cost) noexcept;

}  // namespace weir::core
