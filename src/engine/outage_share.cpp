#include "engine/outage_share.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/share.h"

namespace weir::engine {

Cost max_cost(const policy::CostRule& cost, std::size_t tier) noexcept {
  if (cost.header) return tier < cost.header->max_by_tier.size() ? cost.header->max_by_tier[tier] : Cost{1};
  Cost largest = cost.fixed;
  for (const auto& by_route : cost.by_route) largest = std::max(largest, by_route.cost);
  return largest;
}

Limit outage_share(const policy::CompiledLimit& limit, const Limit& numbers, std::size_t tier,
                   std::uint64_t nodes) noexcept {
  const Cost largest = max_cost(limit.cost, tier);
  return limit.local_share ? core::local_share_of(numbers, *limit.local_share, largest)
                           : core::node_share_of(numbers, nodes, largest);
}

std::string outage_text(const policy::CompiledLimit& limit, const Limit& numbers, std::size_t tier,
                        std::uint64_t nodes) {
  if (limit.on_store_failure == policy::OnStoreFailure::open) return "all requests pass";
  if (limit.on_store_failure == policy::OnStoreFailure::closed) return "no request passes";
  const std::uint64_t share = outage_share(limit, numbers, tier, nodes).capacity();
  const std::uint64_t whole = numbers.capacity();
  if (limit.local_share) return fmt::format("each node admits {} of {} (local_share)", share, whole);
  const std::uint64_t parts = std::max(nodes, core::min_sharing_nodes);
  const std::string admits = nodes == 1 ? fmt::format("the node admits {} of {}", share, whole)
                                        : fmt::format("each of {} nodes admits {} of {}", nodes, share, whole);
  const bool is_bucket = numbers.algorithm() < Algorithm::fixed_window;
  const std::string rate = is_bucket ? fmt::format(", at 1/{} of the rate", parts) : "";
  if (share * nodes <= whole) return admits + rate;
  return fmt::format("{}{}; {} in total, because each node admits at least the most expensive request", admits, rate,
                     share * nodes);
}

}  // namespace weir::engine
