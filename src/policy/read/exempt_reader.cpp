// Reads the requests that limits do not apply to: `exempt` at the root, and the routes of `except`.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/read/policy_reader.h"
#include "text/yaml/map_reader.h"

namespace weir::policy {
namespace {

constexpr std::size_t max_excluded_routes = 100;  // each is compared with every request that the limit covers

void check_exempt_ranges(const text::Node& node, const std::vector<AddressRange>& ranges, Problems& problems) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].prefix > 0) continue;
    problems.error(node.items[i].at, "addresses {}: exempts every caller; remove the limits instead",
                   in_quotes(ranges[i].text()));
  }
}

std::vector<IdentityValues> read_identities(const text::Node& node, const Identity& identity, Problems& problems) {
  std::vector<IdentityValues> identities;
  if (!node.is_map() || node.members.empty()) {
    problems.error(node.at, "identities must be a map of names to lists of values: write { organization: [acme] }");
    return identities;
  }
  for (const text::Member& member : node.members) {
    if (!can_depend_on(member.key, "identities", identity, problems)) continue;
    if (auto values = read_identity_values(member.value, member.key.value, problems)) {
      identities.push_back({member.key.value, *std::move(values)});
    }
  }
  return identities;
}

}  // namespace

std::vector<Written<RouteTemplate>> read_excluded_routes(const text::Node& node, std::string_view field,
                                                         MoreMethods more, Problems& problems) {
  std::vector<Written<RouteTemplate>> routes;
  const auto* items = text::items_of(node, field, problems);
  if (items == nullptr) return routes;
  if (items->size() > max_excluded_routes) {
    problems.error(node.at, "too many routes in {}: {}, at most {}", field, items->size(), max_excluded_routes);
    return routes;
  }
  for (const text::Node& item : *items) {
    const std::string* text = text::single_value(item, field, text::Form::text, problems);
    if (text == nullptr) continue;
    auto route = read_route(*text, item.at, more, problems);
    if (!route) continue;
    const auto same = [&](const Written<RouteTemplate>& other) { return same_route(other.value, route->value); };
    if (std::ranges::any_of(routes, same)) {
      problems.error(item.at, "{} {}: duplicate route", field, in_quotes(*text));
    } else if (!can_surely_match(route->value)) {
      problems.error(item.at,
                     "{} {}: only letters, digits and -._~!$&'()*+,=:@ can be excluded, since servers rewrite other "
                     "characters",
                     field, in_quotes(*text));
    }
    routes.push_back(*std::move(route));
  }
  return routes;
}

Exemptions read_exempt(const text::Node& node, std::string_view called, const Identity& identity, MoreMethods more,
                       Problems& problems) {
  Exemptions exempt;
  text::MapReader map(node, called, problems);
  if (const auto* addresses = map.find("addresses")) {
    if (text::items_of(*addresses, "addresses", problems) != nullptr) {
      if (auto ranges = read_ranges(*addresses, "addresses", problems)) exempt.addresses = *std::move(ranges);
      check_exempt_ranges(*addresses, exempt.addresses, problems);
    }
  }
  if (const auto* identities = map.find("identities")) {
    exempt.identities = read_identities(*identities, identity, problems);
  }
  if (const auto* routes = map.find("routes")) {
    for (auto& route : read_excluded_routes(*routes, "routes", more, problems)) {
      if (route.value.segments.empty() && route.value.trailing_wildcard) {
        problems.error(route.at, "routes {}: exempts every request; remove the limits instead",
                       in_quotes(route.value.text()));
      }
      exempt.routes.push_back(std::move(route.value));
    }
  }
  map.finish();
  if (map.is_map() && node.members.empty()) {
    problems.error(node.at, "{} is empty: write addresses, identities or routes, or remove it", called);
  }
  return exempt;
}

}  // namespace weir::policy
