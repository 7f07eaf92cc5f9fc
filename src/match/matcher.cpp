#include "match/matcher.h"

#include <algorithm>

#include "base/number.h"
#include "match/condition.h"
#include "match/consumer.h"
#include "policy/tools/strictness.h"

namespace weir::match {
namespace {

// A condition on an unknown address holds, so that hiding the address lifts no limit. Conditions that few policies use
// are evaluated by condition.cpp.
bool applies(const policy::When& when, const policy::Identity& identity, const Caller& caller,
             const Query& query) noexcept {
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
    default:
      return evaluate(when, {identity, caller, query}) != Truth::no;
  }
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
  replacements.clear();
  denied_by = no_limit;
  exempt_by = ExemptBy::nothing;
}

void Matched::exempt_from(const Exempt& part, bool denies) {
  exempt.push_back(part);
  if (!denies || denied_by != no_limit) return;
  denied_by = part.limit;
  denied_for = part.why;
}

void Matched::block_by(const Block& by) {
  block = by;
  denied_by = by_block;
  denied_for = Exemption::blocked;
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
  exempts_ = !ruleset_->exemptions.empty();
  std::vector<RouteEntry> entries;
  std::unordered_map<std::string, std::uint32_t> known_labels;
  for (const policy::CompiledLimit& limit : ruleset_->limits) {
    const bool keyed_by_route = policy::has_part(limit.consumer_key, policy::KeyPart::Kind::route);
    by_name_.emplace(limit.name, static_cast<std::uint32_t>(limits_.size()));
    const bool is_conditional = limit.when.kind != policy::When::Kind::always || !limit.except.empty();
    limits_.push_back({keyed_by_route, is_conditional, {}});
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

void Matcher::match(const Query& query, MatchScratch& scratch, Matched& matched, const ExceptionsAt& exceptions) const {
  matched.clear();
  matched.caller = identify(*ruleset_, query);
  find_candidates(query, scratch, matched);
  if (exceptions.table != nullptr && exceptions.applies_blocks && !exceptions.table->blocks().empty()) {
    const BlockQuery of{query, ruleset_->identity, matched.caller, exceptions.now};
    const Block* const block = exceptions.table->blocks().find(of, scratch.paths_, scratch.buffer_);
    if (block != nullptr) return matched.block_by(*block);
  }
  if (exempts_) {
    matched.exempt_by = exempt_by(*ruleset_, matched.caller, query);
    if (matched.exempt_by != ExemptBy::nothing) return;
  }

  // Sorts the candidates in file order. Among several routes of one limit, the first is the most specific. If each
  // route has its own counter, all of them count, since the server may act on any of them.
  if (!std::ranges::is_sorted(scratch.candidates_)) std::ranges::sort(scratch.candidates_);
  std::uint32_t last = no_limit;
  std::size_t live = 0;
  for (const auto& [limit, order, route] : scratch.candidates_) {
    if (limit == last && !limits_[limit].keyed_by_route) continue;
    last = limit;
    const std::size_t before = matched.limits.size();
    const Exceptions::OfLimit* const tables = exceptions.table == nullptr ? nullptr : exceptions.table->of(limit);
    if (tables == nullptr) [[likely]] {
      cover(query, limit, route, scratch, matched);
    } else {
      cover_with(*tables, exceptions.now, query, limit, route, scratch, matched);
    }
    const policy::CompiledLimit& source = ruleset_->limits[limit];
    const bool is_live =
        matched.limits.size() > before && source.mode == policy::Mode::enforce &&
        (source.live.by_tier[matched.caller.tier].has_value() || matched.limits.back().replaced != nullptr);
    if (is_live && ++live > max_limits) return;  // the request is denied
  }
}

void Matcher::find_candidates(const Query& query, MatchScratch& scratch, Matched& matched) const {
  auto& [paths, matches, candidates, costs, labels, buffer] = scratch;
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

std::optional<Exemption> Matcher::exclusion(const Query& query, const Caller& caller,
                                            std::uint32_t limit) const noexcept {
  const policy::CompiledLimit& source = ruleset_->limits[limit];
  if (surely_matches_any(source.except, query)) return Exemption::excepted;
  if (!applies(source.when, ruleset_->identity, caller, query)) return Exemption::condition;
  return std::nullopt;
}

void Matcher::cover(const Query& query, std::uint32_t limit, std::uint32_t route, const MatchScratch& scratch,
                    Matched& matched) const {
  const policy::CompiledLimit& source = ruleset_->limits[limit];
  const Caller& caller = matched.caller;
  const bool enforced = source.mode == policy::Mode::enforce;
  if (limits_[limit].is_conditional) {
    if (const auto why = exclusion(query, caller, limit)) return matched.exempt_from({limit, route, *why}, false);
  }
  if (source.live.bans(caller.tier)) {  // a ban counts nothing, so it needs no key
    return matched.exempt_from({limit, route, Exemption::banned}, enforced);
  }
  const std::size_t key_begin = matched.keys.size();
  const Presence presence =
      append_consumer(source, ruleset_->identity, caller, query, routes_of(limit)[route], matched.keys);
  if (presence == Presence::absent) {
    const bool denies = source.missing == policy::Missing::deny && enforced;
    return matched.exempt_from({limit, route, Exemption::key_missing}, denies);
  }
  if (!source.live.by_tier[caller.tier] && !(source.candidate && source.candidate->by_tier[caller.tier])) {
    matched.keys.resize(key_begin);
    return matched.exempt_from({limit, route, Exemption::unlimited}, false);
  }
  add_covered(query, limit, route, presence == Presence::shared, scratch, matched);
}

// Appends a limit whose key is the end of matched.keys.
void Matcher::add_covered(const Query& query, std::uint32_t limit, std::uint32_t route, bool is_shared,
                          const MatchScratch& scratch, Matched& matched) const {
  const policy::CompiledLimit& source = ruleset_->limits[limit];
  const Caller& caller = matched.caller;
  if (source.cost.header && !caller.trusted && has_header(query, source.cost.header->header)) {
    matched.caller.ignored_headers = true;
  }
  matched.limits.push_back({.limit = limit,
                            .route = route,
                            .is_shared = is_shared,
                            .cost = cost_of(query, caller, limit, scratch),
                            .takes_cost = !source.cost.is_written,
                            .key_end = matched.keys.size()});
}

// An override precedes the tier, so the key is needed even if the tier is banned or unlimited.
void Matcher::cover_with(const Exceptions::OfLimit& tables, Instant now, const Query& query, std::uint32_t limit,
                         std::uint32_t route, const MatchScratch& scratch, Matched& matched) const {
  const policy::CompiledLimit& source = ruleset_->limits[limit];
  const std::size_t key_begin = matched.keys.size();
  const Presence presence =
      append_consumer(source, ruleset_->identity, matched.caller, query, routes_of(limit)[route], matched.keys);
  AppliedReplacement applied;
  const bool is_excluded = limits_[limit].is_conditional && exclusion(query, matched.caller, limit).has_value();
  if (presence == Presence::present && !is_excluded) {
    applied = Exceptions::find(tables, std::string_view(matched.keys).substr(key_begin), now);
  }
  if (applied.replacement == nullptr) {
    matched.keys.resize(key_begin);
    return cover(query, limit, route, scratch, matched);
  }
  const Replacement::Tier& tier = (*applied.replacement)->tiers[matched.caller.tier];
  if (tier.kind != Replacement::Kind::numbers) {
    matched.keys.resize(key_begin);
    const bool bans = tier.kind == Replacement::Kind::banned;
    return matched.exempt_from({limit, route, bans ? Exemption::banned : Exemption::unlimited, applied.number},
                               bans && source.mode == policy::Mode::enforce);
  }
  add_covered(query, limit, route, false, scratch, matched);
  matched.limits.back().replaced = &tier;
  matched.limits.back().exception = applied.number;
  matched.replacements.push_back(*applied.replacement);
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
