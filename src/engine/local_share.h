// What is left of a limit for one process while the shared store is away.
#pragma once

#include <cstdint>

#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::engine {

// The rate and the burst times `share`, in millionths, rounded down; at least one, and at least `largest_cost`, so
// that nothing that could pass before can never pass now. Of a window, its limit.
[[nodiscard]] Limit local_share_of(const Limit& limit, std::uint32_t share, Cost largest_cost) noexcept;

}  // namespace weir::engine
