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

  // One more than are judged together is enough to deny: so much of a limit is kept, whatever a path may be read as.
  std::uint32_t of_limit = 0;  // matches of the limit that came last
  const auto add_matching = [&](std::uint32_t limit, std::uint32_t route) {
    of_limit = !matching_.empty() && matching_.back().limit == limit ? of_limit + 1 : 0;
    if (of_limit > table::most_together) return;
    matching_.push_back({limit, static_cast<std::uint32_t>(matching_.size()), route});
  };
  // The dearest of each limit: its matches come one behind the other.
  const auto add_cost = [&](std::uint32_t limit, Cost cost) {
    if (costs_.empty() || costs_.back().first != limit) costs_.emplace_back(limit, cost);
    costs_.back().second = std::max(costs_.back().second, cost);
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
      add_cost(limit, plan_.limits()[limit].source->cost.by_route[plan_.meaning_of(match.route).route].cost);
    } else {
      for (const auto& by_route : plan_.limits()[limit].source->cost.by_route) add_cost(limit, by_route.cost);
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
  // its own, all of them count, since the server may see any.
  std::ranges::sort(matching_);
  std::uint32_t last = Verdict::no_limit;
  std::size_t live = 0;
  for (const auto& [limit, order, route] : matching_) {
    if (limit == last && !plan_.limits()[limit].keyed_by_route) continue;
    last = limit;
    const std::size_t before = found.covered.size();
    cover(query, limit, route, found);
    const bool is_live = found.covered.size() > before && found.covered.back().live != nullptr &&
                         plan_.limits()[limit].source->mode == policy::Mode::enforce;
    if (is_live && ++live > table::most_together) return;  // which denies it
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
  if (source.live.bans(caller.tier)) {  // it counts nothing, so it needs no key
    found.exempt.push_back({limit, route, Exemption::banned});
    if (source.mode == policy::Mode::enforce) found.deny_outright(limit, Reason::banned);
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
