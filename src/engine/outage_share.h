// The share of a limit that one node admits while the shared store is unavailable. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "policy/ruleset.h"
#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::engine {

// The highest cost that the limit's configuration allows for a request.
[[nodiscard]] Cost max_cost(const policy::CostRule& cost, std::size_t tier) noexcept;

// `numbers` are those of the tier. The share is `local_share` if set, otherwise 1 / `nodes`.
[[nodiscard]] Limit outage_share(const policy::CompiledLimit& limit, const Limit& numbers, std::size_t tier,
                                 std::uint64_t nodes) noexcept;

// `each of 4 nodes admits 2 of 10, at 1/4 of the rate`; `all requests pass`; `no request passes`.
[[nodiscard]] std::string outage_text(const policy::CompiledLimit& limit, const Limit& numbers, std::size_t tier,
                                      std::uint64_t nodes);

}  // namespace weir::engine
