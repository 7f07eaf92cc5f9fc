#include "policy/openapi/limits.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>

#include <fmt/core.h>

#include "policy/coverage.h"
#include "policy/limit_reader.h"
#include "policy/scalar.h"

namespace weir::policy::openapi {
namespace {

// Into header fields, metrics and logs.
bool can_be_name(std::string_view text) noexcept {
  return text.size() <= longest_name &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// `POST /exports` below `/v1`: `POST /v1/exports`.
RouteTemplate below(const std::string& base, const RouteTemplate& route) {
  auto prefix = parse_route(base.empty() ? "/" : route_path(base));
  if (!prefix) return route;  // reported with the routes of the operations
  RouteTemplate longer = route;
  longer.segments.insert(longer.segments.begin(), prefix->segments.begin(), prefix->segments.end());
  return longer;
}

}  // namespace

void Limits::read(const yaml::Node& value, const Written<std::string>& name,
                  const std::vector<const Operation*>& operations) {
  const yaml::Node* node = references_.follow(value);
  if (node == nullptr) return;
  if (!node->is_sequence()) return read_one(*node, name, operations);
  if (node->items.empty()) problems_.error(node->at, "x-rate-limit is an empty list: leave it out");
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const yaml::Node* item = references_.follow(node->items[i]);
    if (item == nullptr) continue;
    read_one(*item, i == 0 ? name : Written<std::string>{fmt::format("{}#{}", name.value, i + 1), name.at}, operations);
  }
}

void Limits::read_one(const yaml::Node& node, const Written<std::string>& name,
                      const std::vector<const Operation*>& operations) {
  const yaml::Node* own = node.find("name");
  auto [known, is_new] = known_.try_emplace({&node, own != nullptr ? own->text : name.value}, std::nullopt);
  if (is_new && own == nullptr && !can_be_name(name.value)) {
    problems_.error(name.at, fmt::format("{} cannot be the name of a limit, which is printable ASCII and at most {} "
                                         "characters: give the limit a name",
                                         quoted(name.value), longest_name));
  } else if (is_new) {
    auto limit = read_limit(node, {.name = name, .routes = std::vector<Written<RouteTemplate>>()}, problems_);
    if (limit) {
      known->second = all_.size();
      all_.push_back({*std::move(limit), {}, {}});
    }
  }
  if (known->second) cover(all_[*known->second], operations);
}

void Limits::cover(Gathered& gathered, const std::vector<const Operation*>& operations) {
  for (const Operation* operation : operations) {
    gathered.operations.push_back(operation);
    for (const RouteTemplate& route : operation->routes) {
      if (routes_ > most_routes || !gathered.matched.insert(match_key(route)).second) continue;
      if (++routes_ > most_routes) {
        problems_.error(gathered.limit.at, fmt::format("the limits have more than {} routes together", most_routes));
        continue;
      }
      gathered.limit.routes.push_back({route, operation->at});
    }
  }
}

// The routes of a cost are written as the document's paths are: they are meant below the base paths of the operations
// that they match. What matches none stays as it is, for compile() to judge.
void Limits::add_base_paths(Gathered& gathered) {
  if (!gathered.limit.cost) return;
  auto* const costs = std::get_if<std::vector<RouteCostSpec>>(&*gathered.limit.cost);
  if (costs == nullptr) return;
  std::vector<RouteCostSpec> longer;
  for (const RouteCostSpec& cost : *costs) {
    std::set<std::string> bases;
    for (const Operation* operation : gathered.operations) {
      if (!overlap(operation->path_route, cost.route.value)) continue;
      bases.insert(operation->base_paths->begin(), operation->base_paths->end());
    }
    if (bases.empty()) longer.push_back(cost);
    for (const std::string& base : bases) {
      longer.push_back({{below(base, cost.route.value), cost.route.at}, cost.cost});
    }
  }
  *costs = std::move(longer);
}

std::vector<LimitSpec> Limits::take() && {
  std::vector<LimitSpec> limits;
  limits.reserve(all_.size());
  for (Gathered& gathered : all_) {
    add_base_paths(gathered);
    limits.push_back(std::move(gathered.limit));
  }
  return limits;
}

}  // namespace weir::policy::openapi
