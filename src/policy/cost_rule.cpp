#include "policy/cost_rule.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "policy/coverage.h"
#include "policy/routes_once.h"
#include "policy/scalar.h"

namespace weir::policy {
namespace {

struct NamedCost {
  Written<std::uint64_t> cost;
  std::string_view field;
};

std::vector<NamedCost> costs_in(const LimitSpec& spec) {
  if (!spec.cost) return {};  // one, and every limit admits one
  if (const auto* fixed = std::get_if<Written<std::uint64_t>>(&*spec.cost)) return {{*fixed, "cost"}};
  std::vector<NamedCost> costs;
  if (const auto* header = std::get_if<HeaderCostSpec>(&*spec.cost)) {
    if (header->max_cost) costs.push_back({*header->max_cost, "max_cost"});
    return costs;
  }
  for (const RouteCostSpec& by_route : std::get<std::vector<RouteCostSpec>>(*spec.cost)) {
    costs.push_back({by_route.cost, "cost"});
  }
  return costs;
}

std::string_view capacity_name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::token_bucket:
    case Algorithm::gcra:
    case Algorithm::leaky_bucket_meter:
      return "burst";
    case Algorithm::leaky_bucket_queue:
      return "queue and the one that passes";
    case Algorithm::fixed_window:
    case Algorithm::sliding_window_log:
    case Algorithm::sliding_window_counter:
      return "limit";
  }
  return "capacity";
}

HeaderCost compile_header(const HeaderCostSpec& spec, const TieredLimit& live) {
  HeaderCost header{spec.header.value, {}};
  for (const auto& limit : live.by_tier) {
    const std::uint64_t burst = limit ? limit->capacity() : 1;
    header.most_by_tier.emplace_back(spec.max_cost ? spec.max_cost->value : burst);
  }
  return header;
}

std::vector<RouteCost> compile_routes(const std::vector<RouteCostSpec>& specs, const LimitSpec& limit,
                                      Problems& problems) {
  std::vector<RouteCost> costs;
  RoutesOnce once;
  std::size_t uncovered = 0;
  for (const auto& [route, cost] : specs) {
    if (const auto before = once.add(route)) {
      problems.error(route.at, fmt::format("cost of {} is here twice: the first is in line {}",
                                           quoted(route.value.text()), before->line));
    }
    const bool reached = limit.routes.empty() ||
                         std::any_of(limit.routes.begin(), limit.routes.end(),
                                     [&wanted = route.value](const auto& own) { return overlap(own.value, wanted); });
    if (!reached && uncovered++ < Problems::most) {
      problems.error(route.at, fmt::format("cost of {}: no route of the limit matches it", quoted(route.value.text())));
    }
    if (uncovered >= Problems::most) break;
    costs.push_back({route.value, Cost{cost.value}});
  }
  return costs;
}

}  // namespace

CostRule compile_cost(const LimitSpec& spec, const TieredLimit& live, const Tiers& tiers, Problems& problems) {
  CostRule rule;
  check_costs(spec, live, tiers, "", problems);
  if (!spec.cost) return rule;
  if (const auto* fixed = std::get_if<Written<std::uint64_t>>(&*spec.cost)) {
    rule.fixed = Cost{fixed->value};
  } else if (const auto* header = std::get_if<HeaderCostSpec>(&*spec.cost)) {
    rule.header = compile_header(*header, live);
  } else {
    rule.by_route = compile_routes(std::get<std::vector<RouteCostSpec>>(*spec.cost), spec, problems);
  }
  return rule;
}

void check_costs(const LimitSpec& spec, const TieredLimit& limits, const Tiers& tiers, std::string_view whose,
                 Problems& problems) {
  // The tightest tier is the one to name; the default comes first among equals.
  std::size_t tightest = tiers.names.size();
  for (std::size_t tier = 0; tier < limits.by_tier.size(); ++tier) {
    const auto& limit = limits.by_tier[tier];
    if (!limit) continue;
    if (tightest == tiers.names.size() || limit->capacity() < limits.by_tier[tightest]->capacity()) tightest = tier;
  }
  if (tightest == tiers.names.size()) return;
  const Limit& limit = *limits.by_tier[tightest];
  const std::string of_tier = tightest == 0 ? "" : fmt::format(" of tier {}", quoted(tiers.names[tightest]));
  for (const auto& [cost, field] : costs_in(spec)) {
    if (cost.value <= limit.capacity()) continue;
    problems.error(cost.at, fmt::format("{} {} is above the {}{}{}, {}: it could never be admitted", field, cost.value,
                                        whose, capacity_name(limit.algorithm()), of_tier, limit.capacity()));
  }
}

}  // namespace weir::policy
