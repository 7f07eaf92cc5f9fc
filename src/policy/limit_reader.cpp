#include "policy/limit_reader.h"

#include <array>
#include <utility>

#include <fmt/core.h>

#include "policy/consumer_reader.h"
#include "policy/map_reader.h"
#include "policy/numbers_reader.h"

namespace weir::policy {
namespace {

constexpr std::string_view header_prefix = "header:";
constexpr std::size_t most_routes = 10'000;
constexpr std::size_t most_route_costs = 1'000;
constexpr std::array<std::string_view, 5> root_fields{"version", "identity", "tiers", "methods", "limits"};
// A log remembers each denial that counts.
constexpr Bounds logged{.least = 1, .most = Limit::largest_log_limit};

std::vector<Written<RouteTemplate>> read_routes(const yaml::Node& node, MoreMethods methods, Problems& problems) {
  std::vector<Written<RouteTemplate>> routes;
  if (node.is_scalar()) {
    problems.error(node.at, fmt::format("routes has to be a list, not text: write [{}]", quoted(node.text)));
    return routes;
  }
  const auto* items = items_of(node, "routes", problems);
  if (items == nullptr) return routes;
  if (items->size() > most_routes) {
    problems.error(node.at, fmt::format("{} routes in one limit: at most {}", items->size(), most_routes));
    return routes;
  }
  for (const yaml::Node& item : *items) {
    const std::string* text = single_value(item, "routes", Form::text, problems);
    if (text == nullptr) continue;
    if (auto route = read_route(*text, item.at, methods, problems)) routes.push_back(*std::move(route));
  }
  return routes;
}

std::vector<RouteCostSpec> read_route_costs(const yaml::Node& node, MoreMethods methods, Problems& problems) {
  std::vector<RouteCostSpec> costs;
  if (node.members.empty()) problems.error(node.at, "cost is an empty map: write a number, or { ROUTE: number }");
  if (node.members.size() > most_route_costs) {
    problems.error(node.at, fmt::format("cost has {} routes: at most {}", node.members.size(), most_route_costs));
    return costs;
  }
  for (const yaml::Member& member : node.members) {
    if (member.key.value == "header" || member.key.value == "max_cost") {
      problems.error(member.key.at, "cost by header: write cost: header:NAME, and max_cost beside it");
      continue;
    }
    auto route = read_route(member.key.value, member.key.at, methods, problems);
    const auto parse = [](std::string_view text) { return parse_whole(text); };
    const auto cost = read_value(member.value, "cost", Form::number, parse, problems);
    if (route && cost) costs.push_back({*std::move(route), *cost});
  }
  return costs;
}

std::optional<CostSpec> read_cost(const yaml::Node& node, MoreMethods methods, Problems& problems) {
  if (node.is_map()) return read_route_costs(node, methods, problems);
  if (node.is_scalar() && node.text.starts_with(header_prefix)) {
    const auto header = parse_header_name(std::string_view(node.text).substr(header_prefix.size()));
    if (header) return HeaderCostSpec{{*header, node.at}, {}};
    problems.error(node.at, fmt::format("cost {}: header: has to be followed by the name of a header, like X-Cost",
                                        quoted(node.text)));
    return {};
  }
  const auto parse = [](std::string_view text) -> Result<std::uint64_t> {
    auto whole = parse_whole(text);
    const bool word = !text.empty() && text.front() >= 'A';
    if (!whole && word) return failure(quoted(text), "write a number, { ROUTE: number } or header:NAME");
    return whole;
  };
  const auto cost = read_value(node, "cost", Form::number, parse, problems);
  if (!cost) return {};
  return *cost;
}

std::optional<WarnFirstSpec> read_warn_first(const yaml::Node& node, Problems& problems) {
  MapReader map(node, "warn_first", problems);
  (void)map.require("count");
  (void)map.require("per");
  const auto count = map.whole("count", logged);
  const auto per = map.duration("per");
  map.finish();
  if (!count || !per) return {};
  return WarnFirstSpec{node.at, *count, *per};
}

std::optional<PenaltySpec> read_penalty(const yaml::Node& node, Problems& problems) {
  MapReader map(node, "penalty", problems);
  for (const std::string_view field : {"after", "within", "block"}) (void)map.require(field);
  const auto after = map.whole("after", logged);
  const auto within = map.duration("within");
  const auto block = map.duration("block");
  map.finish();
  if (!after || !within || !block) return {};
  return PenaltySpec{node.at, *after, *within, *block};
}

void read_name(MapReader& map, const LimitPlace& place, LimitSpec& limit) {
  const auto* node = place.name ? map.find("name") : map.require("name");
  if (place.name) limit.name = *place.name;
  if (node == nullptr) return;
  if (auto name = read_value(*node, "name", Form::text, parse_name, map.problems())) limit.name = *std::move(name);
}

void read_who_and_where(MapReader& map, const LimitPlace& place, LimitSpec& limit) {
  Problems& problems = map.problems();
  if (place.routes) {
    map.refuse("routes", "a limit in OpenAPI covers the operations that it stands beside");
    limit.routes = *place.routes;
  } else if (const auto* routes = map.find("routes")) {
    limit.routes = read_routes(*routes, place.methods, problems);
  }
  if (const auto* when = map.find("when")) limit.when = read_when(*when, problems).value_or(limit.when);
  if (const auto* key = map.require("consumer_key", "user, api_key, ip, global, route or header:NAME"))
    limit.consumer_key = read_consumer_key(*key, problems);
  limit.missing = map.choice("missing", Missing::deny);
}

void read_what(MapReader& map, const LimitPlace& place, LimitSpec& limit) {
  Problems& problems = map.problems();
  limit.algorithm = read_algorithm(map);
  limit.numbers = read_numbers(map);
  if (const auto* cost = map.find("cost")) limit.cost = read_cost(*cost, place.methods, problems);
  if (const auto most = map.whole("max_cost", {.least = 1})) {
    auto* header = limit.cost ? std::get_if<HeaderCostSpec>(&*limit.cost) : nullptr;
    if (header != nullptr) {
      header->max_cost = most;
    } else {
      problems.error(most->at, "max_cost bounds a cost from a header: write cost: header:NAME beside it");
    }
  }
  if (const auto* tiers = map.find("tier_overrides")) limit.tier_overrides = read_tier_overrides(*tiers, problems);
  if (const auto* candidate = map.find("candidate")) limit.candidate = read_candidate(*candidate, problems);
  if (limit.needs_no_algorithm()) return;
  (void)map.require("algorithm",
                    "token_bucket, gcra, leaky_bucket, fixed_window, sliding_window_log or sliding_window");
}

void read_how(MapReader& map, LimitSpec& limit) {
  Problems& problems = map.problems();
  limit.mode = map.choice("mode", Mode::shadow).value_or(limit.mode);
  if (const auto* node = map.find("warn_first")) limit.warn_first = read_warn_first(*node, problems);
  if (const auto* node = map.find("penalty")) limit.penalty = read_penalty(*node, problems);
  limit.on_store_failure = map.choice("on_store_failure", OnStoreFailure::closed).value_or(limit.on_store_failure);
  limit.local_share = map.value("local_share", Form::number, parse_share);
  limit.consistency = map.choice("consistency", Consistency::approximate).value_or(limit.consistency);
}

}  // namespace

std::optional<LimitSpec> read_limit(const yaml::Node& node, const LimitPlace& place, Problems& problems) {
  const std::size_t errors = problems.errors();
  LimitSpec limit;
  limit.at = node.at;
  MapReader map(node, "a limit", problems);
  if (!map.is_map()) return {};
  read_name(map, place, limit);
  read_who_and_where(map, place, limit);
  read_what(map, place, limit);
  read_how(map, limit);
  if (place.routes) {
    map.belongs(std::array<std::string_view, 1>{"identity"}, "at the root of the document, as x-rate-limit-identity");
    map.belongs(std::array<std::string_view, 1>{"tiers"}, "at the root of the document, as x-rate-limit-tiers");
  } else {
    map.belongs(root_fields, "at the root: is its line indented too far?");
  }
  map.finish();
  if (problems.errors() > errors) return {};
  return limit;
}

}  // namespace weir::policy
