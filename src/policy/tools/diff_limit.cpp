#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "core/calendar.h"
#include "policy/tools/diff_parts.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

std::vector<std::string> all_tiers(const LimitComparison& limits) {
  const Tiers& before = limits.before.ruleset.tiers;
  std::vector<std::string> tiers = before.names;
  for (const std::string& name : limits.after.ruleset.tiers.names) {
    if (!before.find(name)) tiers.push_back(name);
  }
  return tiers;
}

// The index in Tiers::names. An unknown tier is the default tier.
std::size_t index_of(const std::string& tier, const Tiers& tiers) noexcept {
  return tiers.find(tier).value_or(0);
}

// The numbers of one tier.
struct TierTerms {
  const TieredLimit* limits = nullptr;
  std::size_t tier = 0;
  Terms terms;

  [[nodiscard]] std::string text() const { return numbers_text(*limits, tier); }
};

// Tiers with the same numbers before and the same numbers after.
struct Group {
  std::vector<std::string> tiers;
  TierTerms before;
  TierTerms after;

  [[nodiscard]] bool differs() const { return before.terms != after.terms; }
  [[nodiscard]] bool both_have_numbers() const { return before.terms.numbers && after.terms.numbers; }
};

// Names the algorithm on both sides if it changes, except for unlimited and banned tiers.
Texts texts_of(const Group& group, PolicyAlgorithm old_algorithm, PolicyAlgorithm new_algorithm) {
  const auto& [tiers, before, after] = group;
  if (!group.both_have_numbers()) return {before.text(), after.text()};
  if (before.terms.numbers->algorithm() == after.terms.numbers->algorithm()) {
    return numbers_texts(spelled(*before.limits, before.tier), spelled(*after.limits, after.tier));
  }
  return {fmt::format("{} {}", name_of(old_algorithm), before.text()),
          fmt::format("{} {}", name_of(new_algorithm), after.text())};
}

bool restarts(const Group& group) {
  if (!group.both_have_numbers()) return false;
  const Limit& was = *group.before.terms.numbers;
  const Limit& is = *group.after.terms.numbers;
  if (was.algorithm() != is.algorithm()) return true;
  if (was.calendar() != nullptr && is.calendar() != nullptr) return was.calendar()->unit() != is.calendar()->unit();
  const bool has_other_windows = was.rate().per != is.rate().per || was.calendar() != is.calendar();
  const bool is_window = was.algorithm() >= Algorithm::fixed_window && was.algorithm() != Algorithm::concurrency;
  return is_window && has_other_windows;
}

PolicyAlgorithm candidate_algorithm(const CompiledLimit& limit) {
  return limit.candidate_algorithm.value_or(limit.algorithm);
}

std::string candidate_text(const CompiledLimit& limit) {
  return fmt::format("{} {}", name_of(candidate_algorithm(limit)), numbers_text(*limit.candidate, 0));
}

bool has_route(const std::vector<RouteTemplate>& routes, const RouteTemplate& route) {
  return std::ranges::any_of(routes, [&](const RouteTemplate& other) { return same_route(route, other); });
}

// Routes of `some` that are not among `others`, split by whether `others` covers them anyway.
struct RouteDifference {
  std::vector<RouteTemplate> covered;
  std::vector<RouteTemplate> uncovered;
};

RouteDifference only_in(const std::vector<RouteTemplate>& some, const std::vector<RouteTemplate>& others) {
  RouteDifference difference;
  for (const RouteTemplate& route : some) {
    if (!has_route(others, route)) {
      (covers_route(others, route) ? difference.covered : difference.uncovered).push_back(route);
    }
  }
  return difference;
}

// The cost of a route: that of its entry, or of the narrowest entry that covers it.
Cost cost_at(const CostRule& rule, const RouteTemplate& route) {
  const RouteCost* narrowest = nullptr;
  for (const RouteCost& entry : rule.by_route) {
    if (!covers(entry.route, route)) continue;
    if (narrowest == nullptr || covers(narrowest->route, entry.route)) narrowest = &entry;
  }
  return narrowest == nullptr ? rule.fixed : narrowest->cost;
}

std::optional<Cost> max_cost_for(const std::string& tier, const Side& side) {
  const std::vector<Cost>& max_costs = side.limit.cost.header->max_by_tier;
  const std::size_t index = index_of(tier, side.ruleset.tiers);
  return index < max_costs.size() ? std::optional(max_costs[index]) : std::nullopt;
}

// True if max_cost is the burst, its default. It then changes with the burst, which is reported already.
bool follows_burst(const std::string& tier, const Side& side) {
  const auto max_cost = max_cost_for(tier, side);
  const auto terms = terms_of(side.limit.live, index_of(tier, side.ruleset.tiers));
  return !max_cost || !terms.numbers || max_cost->units() == terms.numbers->capacity();
}

std::string fixed_text(const CostRule& cost) {
  return cost.is_written ? fmt::format("{}", cost.fixed.units()) : "set by the caller";
}

std::string text_of(const std::optional<HeaderCost>& cost) {
  return cost ? "header:" + cost->header : "no header";
}

Group group_of(const std::string& tier, const LimitComparison& limits, const TieredLimit& was, const TieredLimit& is) {
  const auto terms = [&](const Tiers& tiers, const TieredLimit& numbers) {
    const std::size_t index = index_of(tier, tiers);
    return TierTerms{&numbers, index, terms_of(numbers, index)};
  };
  return {{tier}, terms(limits.before.ruleset.tiers, was), terms(limits.after.ruleset.tiers, is)};
}

std::vector<Group> groups_of(const LimitComparison& limits, const TieredLimit& was, const TieredLimit& is) {
  std::vector<Group> groups;
  for (const std::string& tier : all_tiers(limits)) {
    Group group = group_of(tier, limits, was, is);
    const auto same = std::ranges::find_if(groups, [&](const Group& other) {
      return other.before.terms == group.before.terms && other.after.terms == group.after.terms;
    });
    if (same != groups.end()) {
      same->tiers.push_back(tier);
    } else {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::string group_text(const Group& group, std::size_t count, PolicyAlgorithm was, PolicyAlgorithm is) {
  const Texts texts = texts_of(group, was, is);
  const std::string who = count == 1 ? "" : list_text(group.tiers) + " ";
  return fmt::format("{}{} -> {}", who, texts.before, texts.after);
}

void compare_numbers(const LimitComparison& limits) {
  const CompiledLimit& was = limits.before.limit;
  const CompiledLimit& is = limits.after.limit;
  const auto all = groups_of(limits, was.live, is.live);
  for (const Group& group : all) {
    if (!group.differs()) continue;
    const std::string_view note = restarts(group) ? ", counters restart" : "";
    limits.report(group_text(group, all.size(), was.algorithm, is.algorithm) + std::string(note),
                  direction_between(group.before.terms, group.after.terms));
  }
}

void compare_candidates(const LimitComparison& limits) {
  const CompiledLimit& was = limits.before.limit;
  const CompiledLimit& is = limits.after.limit;
  const auto report = [&](const std::string& what) { limits.report("candidate " + what, Direction::neutral); };
  if (was.candidate && !is.candidate) report(candidate_text(was) + " removed");
  if (!was.candidate && is.candidate) report(candidate_text(is) + " added");
  if (!was.candidate || !is.candidate) return;
  const auto all = groups_of(limits, *was.candidate, *is.candidate);
  for (const Group& group : all) {
    if (group.differs()) report(group_text(group, all.size(), candidate_algorithm(was), candidate_algorithm(is)));
  }
}

void report_cost(const LimitComparison& limits, const std::string& what, Cost was, Cost is) {
  if (was != is) limits.report(fmt::format("{} {} -> {}", what, was.units(), is.units()), direction_of_more(was, is));
}

void compare_max_cost(const LimitComparison& limits) {
  std::vector<std::pair<Cost, Cost>> reported;
  for (const std::string& tier : all_tiers(limits)) {
    if (follows_burst(tier, limits.before) && follows_burst(tier, limits.after)) continue;
    const auto was = max_cost_for(tier, limits.before);
    const auto is = max_cost_for(tier, limits.after);
    if (!was || !is || std::ranges::find(reported, std::pair(*was, *is)) != reported.end()) continue;
    reported.emplace_back(*was, *is);
    report_cost(limits, "max_cost", *was, *is);
  }
}

}  // namespace

void compare_routes(const LimitComparison& limits) {
  const auto& was = limits.before.limit.routes;
  const auto& is = limits.after.limit.routes;
  // If the key contains the route, adding or removing a covered route splits or joins counters.
  const bool is_key = has_part(limits.before.limit.consumer_key, KeyPart::Kind::route) ||
                      has_part(limits.after.limit.consumer_key, KeyPart::Kind::route);
  const auto unless_key = [&](Direction direction) { return is_key ? Direction::different : direction; };
  if (was.empty() != is.empty()) {
    limits.report(fmt::format("{} -> {}", routes_text(was), routes_text(is)),
                  unless_key(direction_of(covers_routes(is, was), covers_routes(was, is))));
    return;
  }
  const RouteDifference removed = only_in(was, is);
  const RouteDifference added = only_in(is, was);
  const auto report = [&](const std::vector<RouteTemplate>& routes, std::string_view what, Direction direction) {
    if (!routes.empty()) limits.report(fmt::format("{} {}", routes_text(routes), what), direction);
  };
  report(removed.uncovered, "no longer covered", Direction::looser);
  report(added.uncovered, "now covered", Direction::tighter);
  report(removed.covered, "no longer listed, still covered", unless_key(Direction::neutral));
  report(added.covered, "now listed, covered before", unless_key(Direction::neutral));
}

void compare_except(const LimitComparison& limits) {
  const auto& was = limits.before.limit.except;
  const auto& is = limits.after.limit.except;
  const auto report_new = [&](const std::vector<RouteTemplate>& some, const std::vector<RouteTemplate>& others,
                              std::string_view what, Direction direction) {
    std::vector<RouteTemplate> excluded_anyway;
    std::vector<RouteTemplate> changed;
    for (const RouteTemplate& route : some) {
      if (has_route(others, route)) continue;
      const bool is_inside = std::ranges::any_of(others, [&](const auto& other) { return covers(other, route); });
      (is_inside ? excluded_anyway : changed).push_back(route);
    }
    if (!changed.empty()) limits.report(fmt::format("except {} {}", routes_text(changed), what), direction);
    if (!excluded_anyway.empty()) {
      limits.report(fmt::format("except {} {}, excluded anyway", routes_text(excluded_anyway), what),
                    Direction::neutral);
    }
  };
  report_new(was, is, "removed", Direction::tighter);
  report_new(is, was, "added", Direction::looser);
}

void compare_missing(const LimitComparison& limits) {
  const CompiledLimit& was = limits.before.limit;
  const CompiledLimit& is = limits.after.limit;
  if (was.missing == is.missing) return;
  // `missing` is irrelevant where every request has the key. Its default depends on the key.
  const bool matters = !is_never_missing(was.consumer_key) && !is_never_missing(is.consumer_key);
  if (was.consumer_key != is.consumer_key && !matters) return;
  limits.report(fmt::format("missing {} -> {}", name_of(was.missing), name_of(is.missing)),
                matters ? direction_of_more(was.missing, is.missing) : Direction::neutral);
}

void compare_cost(const LimitComparison& limits) {
  const CostRule& was = limits.before.limit.cost;
  const CostRule& is = limits.after.limit.cost;
  if (was.is_written == is.is_written || limits.before.limit.algorithm != limits.after.limit.algorithm) {
    report_cost(limits, "cost", was.fixed, is.fixed);
  } else if (!was.header && !is.header) {
    limits.report(fmt::format("cost {} -> {}", fixed_text(was), fixed_text(is)), Direction::different);
  }
  std::vector<RouteTemplate> known;
  for (const CostRule* rule : {&was, &is}) {
    for (const RouteCost& entry : rule->by_route) {
      if (has_route(known, entry.route)) continue;
      known.push_back(entry.route);
      report_cost(limits, "cost of " + entry.route.text(), cost_at(was, entry.route), cost_at(is, entry.route));
    }
  }
  if (was.header && is.header && was.header->header == is.header->header) {
    compare_max_cost(limits);
  } else if (was.header || is.header) {
    limits.report(fmt::format("cost from {} -> {}", text_of(was.header), text_of(is.header)), Direction::different);
  }
}

void compare_limit(const Side& before, const Side& after, LimitFields fields, Changes& changes) {
  const LimitComparison limits{before, after, changes};
  compare_numbers(limits);
  for (const LimitField& field : fields) {
    if (field.use.compare) field.use.compare(limits);
  }
  compare_candidates(limits);
}

}  // namespace weir::policy::diff_parts
