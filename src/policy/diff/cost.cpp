#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "policy/diff/parts.h"
#include "policy/strictness.h"

namespace weir::policy::diff_parts {
namespace {

// What a route costs: by the entry for it, or by the narrowest that covers it.
Cost cost_at(const CostRule& rule, const RouteTemplate& route) {
  const RouteCost* narrowest = nullptr;
  for (const RouteCost& entry : rule.by_route) {
    if (!covers(entry.route, route)) continue;
    if (narrowest == nullptr || covers(narrowest->route, entry.route)) narrowest = &entry;
  }
  return narrowest == nullptr ? rule.fixed : narrowest->cost;
}

std::vector<RouteTemplate> routes_with_cost(const CostRule& before, const CostRule& after) {
  std::vector<RouteTemplate> routes;
  for (const CostRule* rule : {&before, &after}) {
    for (const RouteCost& entry : rule->by_route) {
      const bool is_known = std::any_of(routes.begin(), routes.end(),
                                        [&](const RouteTemplate& route) { return same_route(route, entry.route); });
      if (!is_known) routes.push_back(entry.route);
    }
  }
  return routes;
}

std::optional<Cost> most_for(const std::string& tier, const Tiers& tiers, const HeaderCost& cost) {
  const std::size_t index = index_of(tier, tiers);
  return index < cost.most_by_tier.size() ? std::optional(cost.most_by_tier[index]) : std::nullopt;
}

// A max_cost that is the burst, as it is unless written otherwise, changes with the burst: that is told there.
bool follows_burst(const std::string& tier, const Side& side) {
  const auto most = most_for(tier, side.ruleset.tiers, *side.limit.cost.header);
  const auto terms = terms_of(side.limit.live, index_of(tier, side.ruleset.tiers));
  return !most || !terms.numbers || most->units() == terms.numbers->capacity();
}

void compare_most(const Side& before, const Side& after, Changes& changes) {
  std::vector<std::pair<Cost, Cost>> told;
  for (const std::string& tier : all_tiers(before.ruleset, after.ruleset)) {
    if (follows_burst(tier, before) && follows_burst(tier, after)) continue;
    const auto was = most_for(tier, before.ruleset.tiers, *before.limit.cost.header);
    const auto is = most_for(tier, after.ruleset.tiers, *after.limit.cost.header);
    if (!was || !is || *was == *is || std::find(told.begin(), told.end(), std::pair(*was, *is)) != told.end()) continue;
    told.emplace_back(*was, *is);
    changes.push_back(
        {after.limit.name, fmt::format("max_cost {} -> {}", was->units(), is->units()), direction_of_more(*was, *is)});
  }
}

void compare_header(const Side& before, const Side& after, Changes& changes) {
  const auto& was = before.limit.cost.header;
  const auto& is = after.limit.cost.header;
  if (was && is && was->header == is->header) {
    compare_most(before, after, changes);
  } else if (was || is) {
    const auto text = [](const std::optional<HeaderCost>& cost) {
      return cost ? "header:" + cost->header : "no header";
    };
    changes.push_back({after.limit.name, fmt::format("cost from {} -> {}", text(was), text(is)), Direction::different});
  }
}

}  // namespace

void compare_cost(const Side& before, const Side& after, Changes& changes) {
  const CostRule& was = before.limit.cost;
  const CostRule& is = after.limit.cost;
  const auto tell = [&](const std::string& what, Cost old_cost, Cost new_cost) {
    if (old_cost == new_cost) return;
    changes.push_back({after.limit.name, fmt::format("{} {} -> {}", what, old_cost.units(), new_cost.units()),
                       direction_of_more(old_cost, new_cost)});
  };
  tell("cost", was.fixed, is.fixed);
  for (const RouteTemplate& route : routes_with_cost(was, is)) {
    tell("cost of " + route.text(), cost_at(was, route), cost_at(is, route));
  }
  compare_header(before, after, changes);
}

}  // namespace weir::policy::diff_parts
