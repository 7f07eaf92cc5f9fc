#include "policy/lint/route_index.h"

#include <utility>

#include "policy/coverage.h"

namespace weir::policy::lint_rules {

RouteIndex::RouteIndex(const Ruleset& ruleset) {
  for (const CompiledLimit& limit : ruleset.limits) {
    if (limit.by_descriptor()) continue;
    if (limit.routes.empty()) add(every_request(), &limit);
    for (const RouteTemplate& route : limit.routes) add(route, &limit);
    for (const RouteCost& cost : limit.cost.by_route) add(cost.route, nullptr);
  }
  for (const RouteTemplate& route : ruleset.labels) add(route, nullptr);
}

RouteTemplate RouteIndex::every_request() {
  return {.method = {}, .segments = {}, .trailing_wildcard = true};
}

std::size_t RouteIndex::child(std::size_t node, const Segment& segment) {
  std::size_t& found = segment.is_literal() ? nodes_[node].literals[segment.key] : nodes_[node].parameter;
  if (found != 0) return found;
  const std::size_t made = nodes_.size();
  found = made;  // before nodes_ moves
  nodes_.emplace_back();
  return made;
}

void RouteIndex::add(const RouteTemplate& route, const CompiledLimit* limit) {
  std::size_t node = 0;
  for (const Segment& segment : route.segments) node = child(node, segment);
  nodes_[node].entries.push_back({route, limit});
}

// Where to go on for one segment of the route; none is its `**`.
std::vector<std::size_t> RouteIndex::next(const Node& node, const Segment* segment, bool covering) const {
  std::vector<std::size_t> all;
  if (node.parameter != 0) all.push_back(node.parameter);
  if (segment != nullptr && segment->is_literal()) {
    if (const auto found = node.literals.find(segment->key); found != node.literals.end()) all.push_back(found->second);
  } else if (!covering) {
    for (const auto& [text, literal] : node.literals) all.push_back(literal);
  }
  return all;
}

const RouteIndex::Entry* RouteIndex::find(const RouteTemplate& route, bool covering, const Predicate& predicate) const {
  std::vector<std::pair<std::size_t, std::size_t>> ahead{{0, 0}};  // node, depth
  while (!ahead.empty()) {
    const auto [at, depth] = ahead.back();
    ahead.pop_back();
    for (const Entry& entry : nodes_[at].entries) {
      const bool matches = covering ? covers(entry.route, route) : overlap(entry.route, route);
      if (matches && predicate(entry)) return &entry;
    }
    const bool inside = depth < route.segments.size();
    if (!inside && (covering || !route.trailing_wildcard)) continue;
    const Segment* segment = inside ? &route.segments[depth] : nullptr;
    for (const std::size_t node : next(nodes_[at], segment, covering)) ahead.emplace_back(node, depth + 1);
  }
  return nullptr;
}

const RouteIndex::Entry* RouteIndex::find_covering(const RouteTemplate& route, const Predicate& predicate) const {
  return find(route, true, predicate);
}

const RouteIndex::Entry* RouteIndex::find_overlapping(const RouteTemplate& route, const Predicate& predicate) const {
  return find(route, false, predicate);
}

}  // namespace weir::policy::lint_rules
