#include "engine/coverage.h"

#include <algorithm>
#include <charconv>

#include "engine/consumer.h"
#include "engine/shared_consumer.h"
#include "table/together.h"

namespace weir::engine {
namespace {

// A condition on an address that is not known holds: what a client can hide lifts no limit.
bool applies(const policy::When& when, const Caller& caller) noexcept {
  using Kind = policy::When::Kind;
  const auto in_ranges = [&] {
    return std::ranges::any_of(when.ranges, [&](const auto& range) { return range.contains(*caller.address); });
  };
  switch (when.kind) {
    case Kind::always:
      return true;
    case Kind::authenticated:
      return caller.authenticated;
    case Kind::anonymous:
      return !caller.authenticated;
    case Kind::ip_in:
      return !caller.address_known || in_ranges();
    case Kind::ip_not_in:
      return !caller.address_known || !in_ranges();
  }
  return true;
}

// Absent: one. Unreadable or too large: the most, so that nobody pays less by writing nonsense.
Cost header_cost(std::string_view text, Cost most) noexcept {
  if (text.empty()) return Cost{1};
  std::uint64_t units = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), units);
  if (error != std::errc{} || end != text.data() + text.size()) return most;
  return std::min(Cost{units}, most);
}

}  // namespace

void CoverageFinder::find(const Query& query, Coverage& found) {
  found.covered.clear();
  found.consumers.clear();
  found.exempt.clear();
  found.denied_outright = {};
  found.caller = identify(plan_.ruleset(), query);
  matching_.clear();
  costs_.clear();

  const auto add_matching = [&](std::uint32_t limit, std::uint32_t route) {
    matching_.push_back({limit, static_cast<std::uint32_t>(matching_.size()), route});
  };
  plan_.routes().match(query.method, paths_.read(query.target), matches_);
  found.label = matches_.label() == no_route ? plan_.other_label() : plan_.meaning_of(matches_.label()).label;
  labels_.clear();
  for (const RouteMatch& match : matches_.all()) {
    const std::uint32_t limit = match.limit / 2;
    const bool is_known = match.route != no_route;
    if (limit >= plan_.limits().size()) {
      if (is_known) labels_.push_back(plan_.meaning_of(match.route).label);
    } else if (match.limit == Plan::coverage_group(limit)) {
      const auto unknown = static_cast<std::uint32_t>(plan_.limits()[limit].source->routes.size());
      add_matching(limit, is_known ? plan_.meaning_of(match.route).route : unknown);
    } else if (is_known) {
      costs_.emplace_back(limit, plan_.limits()[limit].source->cost.by_route[plan_.meaning_of(match.route).route].cost);
    } else {
      for (const auto& by_route : plan_.limits()[limit].source->cost.by_route)
        costs_.emplace_back(limit, by_route.cost);
    }
  }
  if (plan_.counts_by_label() && !matches_.in_every_reading(plan_.label_group())) {
    labels_.push_back(plan_.other_label());
  }
  for (const std::uint32_t limit : plan_.everywhere()) {
    if (!plan_.limits()[limit].keyed_by_route) {
      add_matching(limit, found.label);
    } else {
      for (const std::uint32_t label : labels_) add_matching(limit, label);
    }
  }

  // In file order. Of several routes of one limit the first is the most specific; where each route has counters of
  // its own, all of them count, since the server may see any. One more than are judged together is enough to deny.
  std::ranges::sort(matching_);
  std::uint32_t last = Verdict::no_limit;
  std::size_t count = 0;
  for (const auto& [limit, order, route] : matching_) {
    count = limit == last ? count + 1 : 0;
    const bool counts = count == 0 || (plan_.limits()[limit].keyed_by_route && count <= table::most_together);
    if (counts) cover(query, limit, route, found);
    last = limit;
  }
}

void CoverageFinder::cover(const Query& query, std::uint32_t limit, std::uint32_t route, Coverage& found) {
  const PlannedLimit& planned = plan_.limits()[limit];
  const policy::CompiledLimit& source = *planned.source;
  const Caller& caller = found.caller;
  if (!applies(source.when, caller)) {
    found.exempt.push_back({limit, route, Exemption::condition});
    return;
  }
  const std::string_view route_name = plan_.routes_of(planned)[route];
  const Presence presence = write_consumer(source, plan_.ruleset().identity, caller, query, route_name, key_);
  if (presence == Presence::absent) {
    found.exempt.push_back({limit, route, Exemption::key_missing});
    const bool denies = source.missing == policy::Missing::deny && source.mode == policy::Mode::enforce;
    if (denies) found.deny_outright(limit, Reason::key_missing);
    return;
  }
  if (source.live.bans(caller.tier)) {
    found.exempt.push_back({limit, route, Exemption::banned});
    if (source.mode == policy::Mode::enforce) found.deny_outright(limit, Reason::banned);
    return;
  }
  const TableRule* live = rule_of(planned.live, caller.tier);
  const TableRule* candidate = rule_of(planned.candidate, caller.tier);
  if (live == nullptr && candidate == nullptr) {
    found.exempt.push_back({limit, route, Exemption::unlimited});
    return;
  }
  if (source.cost.header && !caller.trusted && has_header(query, source.cost.header->header)) {
    found.caller.ignored_headers = true;
  }
  const TableRule& any = live != nullptr ? *live : *candidate;
  if (plan_.shared_keys() != nullptr) append_shared_consumer(found.consumers, key_);
  found.covered.push_back({
      .limit = limit,
      .route = route,
      .live = live,
      .candidate = candidate,
      .is_shared = presence == Presence::shared,
      .ask = {any.table->hash(key_), cost_of(query, caller, limit), query.max_wait},
      .text_end = found.consumers.size(),
  });
}

Cost CoverageFinder::cost_of(const Query& query, const Caller& caller, std::uint32_t limit) const noexcept {
  if (query.cost) return *query.cost;
  const policy::CostRule& rule = plan_.limits()[limit].source->cost;
  if (rule.header) {
    if (!caller.trusted || !has_header(query, rule.header->header)) return Cost{1};
    const std::string_view text = sole_header(query, rule.header->header);
    const Cost most = rule.header->most_by_tier[caller.tier];
    return text.empty() ? most : header_cost(text, most);
  }
  if (rule.by_route.empty()) return rule.fixed;
  // The dearest that any reading of the path has, one without an entry included.
  std::optional<Cost> dearest;
  if (!matches_.in_every_reading(Plan::cost_group(limit))) dearest = rule.fixed;
  for (const auto& [of, cost] : costs_) {
    if (of == limit && (!dearest || cost > *dearest)) dearest = cost;
  }
  return dearest.value_or(rule.fixed);
}

std::string_view CoverageFinder::consumer_of(const Query& query, const Caller& caller, std::uint32_t limit,
                                             std::uint32_t route) {
  const PlannedLimit& planned = plan_.limits()[limit];
  const Presence presence =
      write_consumer(*planned.source, plan_.ruleset().identity, caller, query, plan_.routes_of(planned)[route], key_);
  return presence == Presence::absent ? std::string_view{} : std::string_view(key_);
}

}  // namespace weir::engine
