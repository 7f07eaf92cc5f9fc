#include "match/matcher.h"

#include <algorithm>

#include "base/number.h"
#include "match/consumer.h"
#include "policy/tools/strictness.h"

namespace weir::match {
namespace {

// A condition on an unknown address holds, so that hiding the address lifts no limit.
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

// An absent cost is 1. An invalid or excessive cost is the maximum, so that malformed values are never cheaper.
Cost header_cost(std::string_view text, Cost most) noexcept {
  if (text.empty()) return Cost{1};
  const auto units = base::parse_number<std::uint64_t>(text);
  return units ? std::min(Cost{*units}, most) : most;
}

// Returns a path that this route matches, and that no route matches unless it overlaps this one.
std::string sample_of(const policy::RouteTemplate& route) {
  std::string target;
  for (const policy::Segment& segment : route.segments) target += "/" + (segment.is_literal() ? segment.text : "~");
  return target.empty() ? "/" : target;
}

}  // namespace

void Matched::clear() noexcept {
  limits.clear();
  keys.clear();
  exempt.clear();
  denied_by = no_limit;
}

void Matched::exempt_from(std::uint32_t limit, std::uint32_t route, Exemption why, bool denies) {
  exempt.push_back({limit, route, why});
  if (!denies || denied_by != no_limit) return;
  denied_by = limit;
  denied_for = why;
}

MatchScratch::MatchScratch(const Matcher& matcher) : matches_(*matcher.routes_) {}

// --- construction

Result<std::shared_ptr<const Matcher>> Matcher::create(std::shared_ptr<const policy::Ruleset> ruleset) {
  auto matcher = std::make_shared<Matcher>();
  matcher->ruleset_ = std::move(ruleset);
  matcher->build_routes();
  if (auto bounded = matcher->check_bound(); !bounded) return tl::unexpected(bounded.error());
  return matcher;
}

void Matcher::build_routes() {
  std::vector<RouteEntry> entries;
  std::unordered_map<std::string, std::uint32_t> known_labels;
  for (const policy::CompiledLimit& limit : ruleset_->limits) {
    const bool keyed_by_route = policy::has_part(limit.consumer_key, policy::KeyPart::Kind::route);
    by_name_.emplace(limit.name, static_cast<std::uint32_t>(limits_.size()));
    limits_.push_back({keyed_by_route, {}});
    if (keyed_by_route && limit.routes.empty() && !limit.by_descriptor()) counts_by_label_ = true;
  }
  const auto enter = [&](const policy::RouteTemplate& route, std::uint32_t group, std::uint32_t number) {
    const auto [label, is_new] = known_labels.try_emplace(route.text(), static_cast<std::uint32_t>(labels_.size()));
    if (is_new) labels_.push_back(label->first);
    const bool counts_apart = group == label_group() ? counts_by_label_ : limits_[group / 2].keyed_by_route;
    entries.push_back({route, group, group % 2 == 0 && counts_apart});
    meanings_.push_back({number, label->second});
    if (!is_new || !counts_by_label_ || group == label_group()) return;
    entries.push_back({route, label_group(), true});
    meanings_.push_back({0, label->second});
  };
  for (std::uint32_t i = 0; i < limits_.size(); ++i) {
    const policy::CompiledLimit& limit = ruleset_->limits[i];
    if (limit.by_descriptor()) continue;
    if (limit.routes.empty()) everywhere_.push_back(i);
    for (std::uint32_t r = 0; r < limit.routes.size(); ++r) {
      enter(limit.routes[r], coverage_group(i), r);
      limits_[i].route_names.push_back(limit.routes[r].text());
    }
    limits_[i].route_names.emplace_back(other);
    for (std::uint32_t r = 0; r < limit.cost.by_route.size(); ++r) {
      enter(limit.cost.by_route[r].route, cost_group(i), r);
    }
  }
  for (const policy::RouteTemplate& label : ruleset_->labels) {
    if (!counts_by_label_ || !known_labels.contains(label.text())) enter(label, label_group(), 0);
  }
  labels_.emplace_back(other);
  routes_ = RouteTree::build(entries);
}

// Counts the limits that cover each route. A request that matches overlapping routes may still exceed the maximum, and
// is then denied.
Result<void> Matcher::check_bound() const {
  const auto is_live = [&](std::uint32_t limit) {
    return limit < limits_.size() && ruleset_->limits[limit].mode == policy::Mode::enforce;
  };
  const auto everywhere = static_cast<std::size_t>(std::ranges::count_if(everywhere_, is_live));
  PathReader paths;
  Matches matches(*routes_);
  const auto check = [&](const policy::RouteTemplate& route) -> Result<void> {
    routes_->match(route.method.value_or("GET"), paths.read(sample_of(route)), matches);
    const auto covering = static_cast<std::size_t>(std::ranges::count_if(
        matches.all(), [&](const RouteMatch& match) { return match.limit % 2 == 0 && is_live(match.limit / 2); }));
    if (everywhere + covering <= max_limits) return {};
    return failure("limits", "'" + route.text() + "' is covered by " + std::to_string(everywhere + covering) +
                                 " limits, and at most " + std::to_string(max_limits) +
                                 " are evaluated together: let fewer limits cover it");
  };
  if (auto bounded = check({}); !bounded) return bounded;
  for (const policy::CompiledLimit& limit : ruleset_->limits) {
    for (const policy::RouteTemplate& route : limit.routes) {
      if (auto bounded = check(route); !bounded) return bounded;
    }
  }
  return {};
}

std::optional<std::uint32_t> Matcher::find_limit(std::string_view name) const noexcept {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

// --- matching

void Matcher::match(const Query& query, MatchScratch& scratch, Matched& matched) const {
  matched.clear();
  matched.caller = identify(*ruleset_, query);
  find_candidates(query, scratch, matched);

  // Sorts the candidates in file order. Among several routes of one limit, the first is the most specific. If each
  // route has its own counter, all of them count, since the server may act on any of them.
  if (!std::ranges::is_sorted(scratch.candidates_)) std::ranges::sort(scratch.candidates_);
  std::uint32_t last = no_limit;
  std::size_t live = 0;
  for (const auto& [limit, order, route] : scratch.candidates_) {
    if (limit == last && !limits_[limit].keyed_by_route) continue;
    last = limit;
    const std::size_t before = matched.limits.size();
    cover(query, limit, route, scratch, matched);
    const policy::CompiledLimit& source = ruleset_->limits[limit];
    const bool is_live = matched.limits.size() > before && source.mode == policy::Mode::enforce &&
                         source.live.by_tier[matched.caller.tier].has_value();
    if (is_live && ++live > max_limits) return;  // the request is denied
  }
}

void Matcher::find_candidates(const Query& query, MatchScratch& scratch, Matched& matched) const {
  auto& [paths, matches, candidates, costs, labels] = scratch;
  candidates.clear();
  costs.clear();
  labels.clear();

  // A request with more than max_limits matches is denied, so further matches of the same limit are dropped.
  std::uint32_t of_limit = 0;  // matches of the last limit
  const auto add_candidate = [&](std::uint32_t limit, std::uint32_t route) {
    of_limit = !candidates.empty() && candidates.back().limit == limit ? of_limit + 1 : 0;
    if (of_limit > max_limits) return;
    candidates.push_back({limit, static_cast<std::uint32_t>(candidates.size()), route});
  };
  // The highest cost of each limit, whose matches are adjacent.
  const auto add_cost = [&](std::uint32_t limit, Cost cost) {
    if (costs.empty() || costs.back().first != limit) costs.emplace_back(limit, cost);
    costs.back().second = std::max(costs.back().second, cost);
  };
  if (routes_->routes() > 0) routes_->match(query.method, paths.read(query.path), matches);
  matched.label = matches.label() == no_route ? other_label() : meanings_[matches.label()].label;
  for (const RouteMatch& match : matches.all()) {
    const std::uint32_t limit = match.limit / 2;
    const bool is_known = match.route != no_route;
    if (limit >= limits_.size()) {
      if (is_known) labels.push_back(meanings_[match.route].label);
      continue;
    }
    const policy::CompiledLimit& source = ruleset_->limits[limit];
    if (match.limit == coverage_group(limit)) {
      add_candidate(limit, is_known ? meanings_[match.route].route : static_cast<std::uint32_t>(source.routes.size()));
    } else if (is_known) {
      add_cost(limit, source.cost.by_route[meanings_[match.route].route].cost);
    } else {
      for (const auto& by_route : source.cost.by_route) add_cost(limit, by_route.cost);
    }
  }
  if (counts_by_label_ && !matches.in_every_reading(label_group())) labels.push_back(other_label());
  for (const std::uint32_t limit : everywhere_) {
    if (!limits_[limit].keyed_by_route) {
      add_candidate(limit, matched.label);
    } else {
      for (const std::uint32_t label : labels) add_candidate(limit, label);
    }
  }
}

void Matcher::cover(const Query& query, std::uint32_t limit, std::uint32_t route, const MatchScratch& scratch,
                    Matched& matched) const {
  const policy::CompiledLimit& source = ruleset_->limits[limit];
  const Caller& caller = matched.caller;
  const bool enforced = source.mode == policy::Mode::enforce;
  if (!applies(source.when, caller)) return matched.exempt_from(limit, route, Exemption::condition, false);
  if (source.live.bans(caller.tier)) {  // a ban counts nothing, so it needs no key
    return matched.exempt_from(limit, route, Exemption::banned, enforced);
  }
  const std::size_t key_begin = matched.keys.size();
  const Presence presence =
      append_consumer(source, ruleset_->identity, caller, query, routes_of(limit)[route], matched.keys);
  if (presence == Presence::absent) {
    const bool denies = source.missing == policy::Missing::deny && enforced;
    return matched.exempt_from(limit, route, Exemption::key_missing, denies);
  }
  if (!source.live.by_tier[caller.tier] && !(source.candidate && source.candidate->by_tier[caller.tier])) {
    matched.keys.resize(key_begin);
    return matched.exempt_from(limit, route, Exemption::unlimited, false);
  }
  if (source.cost.header && !caller.trusted && has_header(query, source.cost.header->header)) {
    matched.caller.ignored_headers = true;
  }
  matched.limits.push_back({.limit = limit,
                            .route = route,
                            .is_shared = presence == Presence::shared,
                            .cost = cost_of(query, caller, limit, scratch),
                            .takes_cost = !source.cost.is_written,
                            .key_end = matched.keys.size()});
}

Cost Matcher::cost_of(const Query& query, const Caller& caller, std::uint32_t limit,
                      const MatchScratch& scratch) const noexcept {
  const policy::CostRule& rule = ruleset_->limits[limit].cost;
  if (!rule.is_written) return query.cost.value_or(Cost{1});
  if (rule.header) {
    if (!caller.trusted || !has_header(query, rule.header->header)) return Cost{1};
    const std::string_view text = sole_header(query, rule.header->header);
    const Cost most = rule.header->max_by_tier[caller.tier];
    return text.empty() ? most : header_cost(text, most);
  }
  if (rule.by_route.empty()) return rule.fixed;
  // The highest cost over all readings of the path applies, including readings without their own cost.
  std::optional<Cost> highest;
  if (!scratch.matches_.in_every_reading(cost_group(limit))) highest = rule.fixed;
  for (const auto& [of, cost] : scratch.costs_) {
    if (of == limit && (!highest || cost > *highest)) highest = cost;
  }
  return highest.value_or(rule.fixed);
}

bool Matcher::write_key(const Query& query, const Caller& caller, std::uint32_t limit, std::uint32_t route,
                        std::string& key) const {
  key.clear();
  const policy::CompiledLimit& source = ruleset_->limits[limit];
  return append_consumer(source, ruleset_->identity, caller, query, routes_of(limit)[route], key) != Presence::absent;
}

}  // namespace weir::match
