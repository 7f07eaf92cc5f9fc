// A node's share of a limit while the shared store is unavailable. Pure functions.
#pragma once

#include <cstdint>

#include "core/rule.h"
#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::core {

// Shares are in millionths.
inline constexpr std::uint32_t whole_share = 1'000'000;

// Scales the rate and the burst, or the limit of a window, by `share`, rounded down. At least one, and at least
// `max_cost`, so that every request that fits the whole limit also fits the share.
[[nodiscard]] Limit local_share_of(const Limit& limit, std::uint32_t share, Cost max_cost) noexcept;

// The minimum number of nodes to divide by: a node that knows only itself may just have been joined by another.
inline constexpr std::uint64_t min_sharing_nodes = 2;

// Scales by exactly 1 / nodes, and at most by a half. If `limit` is at least `nodes` times `max_cost`, the shares of
// `nodes` nodes add up to at most the limit; the rates of buckets always do.
[[nodiscard]] Limit node_share_of(const Limit& limit, std::uint64_t nodes, Cost max_cost) noexcept;

// Pending charges of a bucket refill this many times slower than the share, so that they expire eventually.
inline constexpr std::int64_t pending_slowdown = 16;

// Returns the rule under which units that a share admitted wait to be charged to the store: the capacity of `share`,
// with hardly any refill. The store refills in the same time; if they refilled too, the limit would refill twice.
// A window's units expire with the window, as in `share`.
[[nodiscard]] Rule pending_rule_of(const Rule& share) noexcept;

}  // namespace weir::core
